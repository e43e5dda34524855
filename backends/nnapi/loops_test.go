package nnapi

import (
	"context"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// doubling is a loop that doubles p and takes 1 from n while n is above least, one trip at least. It stands inside of
// a conditional node where inside is set.
func doubling(t *testing.T, least float32, inside bool) *graph.Graph {
	one := tensor.T(tensor.Float32, 1)
	body := graph.NewBuilder("body")
	body.Input("trip", tensor.T(tensor.Int64))
	body.Input("condition", tensor.T(tensor.Bool, 1))
	p, n := body.Input("p", one), body.Input("n", one)
	left := body.Add(&op.Sub{}, n, body.Const("", one, tensor.Float32s(1)))
	goesOn := body.Add(&op.Greater{}, left, body.Const("", one, tensor.Float32s(least)))
	body.Output(goesOn, body.Add(&op.Add{}, p, p), left)
	g, err := body.Graph()
	require.NoError(t, err)
	loop := func(b *graph.Builder) []graph.Value {
		in := []graph.Value{graph.None, graph.None, b.Input("p", one), b.Input("n", one)}
		return b.AddTyped(&op.Loop{Body: g, Carried: 2}, "", make([]tensor.Type, 2), in...)
	}
	b := graph.NewBuilder("loop")
	if !inside {
		b.Output(loop(b)...)
	} else {
		branch := graph.NewBuilder("branch")
		branch.Output(loop(branch)...)
		whole, err := branch.Graph()
		require.NoError(t, err)
		in := []graph.Value{b.Input("which", tensor.T(tensor.Bool, 1)), b.Input("p", one), b.Input("n", one)}
		b.Output(b.AddTyped(&op.If{Then: whole, Else: whole}, "", make([]tensor.Type, 2), in...)...)
	}
	out, err := b.Graph()
	require.NoError(t, err)
	return out
}

// loops runs a loop of 3 times p, and returns p and n behind it.
func loops(t *testing.T, d device.Device, g *graph.Graph, r device.RunRequest) ([]float32, error) {
	t.Helper()
	p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	defer e.Release()
	for i, v := range []float32{1.5, 3} {
		b := mem.Borrow(tensor.Float32s(v), nil)
		require.NoError(t, e.BindInput(i, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 1)}))
		b.Release()
	}
	if err := exec.Run(context.Background(), e, r); err != nil {
		return nil, err
	}
	var out []float32
	for i := range 2 {
		data, err := e.OutputData(i)
		require.NoError(t, err)
		v, err := tensor.ReadFloat32s(data, 1)
		require.NoError(t, err)
		out = append(out, v...)
	}
	return out, nil
}

// TestExecution_loopLimit: the driver gets the time limit of loops, and its word at the limit ends the run. Without a
// limit it gets the longest time there is.
func TestExecution_loopLimit(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	for limit, want := range map[time.Duration]uint64{1: 1, 20 * time.Second: 20e9, 0: math.MaxUint64} {
		told := f.Count("loop limit")
		got, err := loops(t, f.Device, doubling(t, 0, false), device.RunRequest{LoopLimit: limit})
		if limit == 1 {
			assert.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
			assert.ErrorContains(t, err, "ANeuralNetworksExecution_compute: the driver's time has run out")
		} else {
			require.NoError(t, err)
			assert.Equal(t, []float32{12, 0}, got)
		}
		assert.Equal(t, told+1, f.Count("loop limit"))
		assert.Equal(t, strconv.FormatUint(want, 10), f.Noted("loop limit"))
	}
	begin := time.Now()
	_, err := loops(t, f.Device, doubling(t, -math.MaxFloat32, false), device.RunRequest{LoopLimit: 30 * time.Millisecond})
	assert.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	assert.GreaterOrEqual(t, time.Since(begin), 30*time.Millisecond)
	assert.Equal(t, before, f.Live())
}

// TestProgram_loops: a loop is found wherever it is, and models without one tell the driver nothing.
func TestProgram_loops(t *testing.T) {
	f := newFake(t)
	m, err := Describe(doubling(t, 0, true), f.level)
	require.NoError(t, err)
	assert.True(t, loopsIn(m))
	told := f.Count("loop limit")
	require.NoError(t, once())
	assert.Equal(t, told, f.Count("loop limit"))
}

// TestExecution_noLoopLimit: a driver without that function computes in the time that it gives loops itself, and one
// that refuses the limit does not compute without.
func TestExecution_noLoopLimit(t *testing.T) {
	f := newFake(t)
	all, err := Open(Bind(fakeDriver.File, lacking(setLoopTimeout)), driver.Config{ID: "npu"})
	require.NoError(t, err)
	told, r := f.Count("loop limit"), device.RunRequest{LoopLimit: time.Second}
	got, err := loops(t, all[0], doubling(t, 0, false), r)
	require.NoError(t, err)
	assert.Equal(t, []float32{12, 0}, got)
	assert.Equal(t, told, f.Count("loop limit"))
	f.Lie("code Execution_setLoopTimeout", 0, []byte{4, 0, 0, 0})
	_, err = loops(t, f.Device, doubling(t, 0, false), r)
	f.Honest()
	assert.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
	assert.ErrorContains(t, err, setLoopTimeout+": the driver's code is 4")
}
