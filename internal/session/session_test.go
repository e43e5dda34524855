package session

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

func open(t *testing.T) *Session {
	b := graph.NewBuilder("double")
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.AnyOfRank(1)})
	b.Output(b.Add(&op.Add{}, x, x))
	g, err := b.Graph()
	require.NoError(t, err)
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	s, err := Open(context.Background(), g, []device.Device{d}, compile.Options{}, device.ExecOptions{})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func floats(v ...float32) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: []int64{int64(len(v))}, Data: tensor.Float32s(v...)}
}

func TestSession_runsWithOtherSizesEachTime(t *testing.T) {
	s := open(t)
	for _, n := range []int{3, 1, 0, 5} {
		in, want := make([]float32, n), make([]float32, n)
		for i := range in {
			in[i], want[i] = float32(i), float32(2*i)
		}
		out, err := s.Run(context.Background(), []tensor.Tensor{floats(in...)}, time.Time{})
		require.NoError(t, err)
		assert.Equal(t, floats(want...).Dims, out[0].Dims)
		got, err := tensor.ReadFloat32s(out[0].Data, n)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	assert.EqualValues(t, 4, s.Stats().Runs)
}

func TestSession_refusesWrongInputs(t *testing.T) {
	s := open(t)
	_, err := s.Run(context.Background(), nil, time.Time{})
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	_, err = s.Run(context.Background(), []tensor.Tensor{tensor.New(tensor.Int32, 2)}, time.Time{})
	assert.Equal(t, fault.Type, fault.KindOf(err))
	assert.ErrorContains(t, err, `input "x"`)
	_, err = s.Run(context.Background(), []tensor.Tensor{tensor.New(tensor.Float32, 2, 2)}, time.Time{})
	assert.Equal(t, fault.Shape, fault.KindOf(err))
}
