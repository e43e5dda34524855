package cpu

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	join "github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestOrder_ofPrograms runs graphs whose input is announced as an image that is NHWC: by a plan, by a plan
// for each size, and by reference, which takes rows.
func TestOrder_ofPrograms(t *testing.T) {
	last := tensor.ChannelsLast(4)
	open := tensor.OfDims(tensor.Dim{Sym: 1}, tensor.D(2), tensor.D(3), tensor.D(2))
	relu := func(b *graph.Builder, x graph.Value) graph.Value { return b.Add(&op.Relu{}, x) }
	sum := func(b *graph.Builder, x graph.Value) graph.Value { return b.Add(&op.Hardmax{Axis: 2}, x) }
	for name, c := range map[string]struct {
		shape  tensor.Shape
		build  func(b *graph.Builder, x graph.Value) graph.Value
		byRef  bool
		native []int
	}{
		"planned":                 {tensor.Of(2, 2, 3, 2), relu, false, last},
		"planned for each size":   {open, relu, false, last},
		"no fast kernel":          {tensor.Of(2, 2, 3, 2), sum, false, nil},
		"no fast kernel, any run": {open, sum, false, last},
		"reference device":        {tensor.Of(2, 2, 3, 2), relu, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := graph.NewBuilder("g")
			x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: c.shape})
			b.Output(c.build(b, x))
			g, err := b.Graph()
			require.NoError(t, err)
			p, err := join.Compile(context.Background(), g, []device.Device{newDevice(t, Config{Reference: c.byRef})},
				join.Options{Order: [][]int{last}})
			require.NoError(t, err)
			defer p.Release()
			in, _ := p.Ports()
			assert.Equal(t, c.native, in[0].Native)
			e := newExec(t, p, device.ExecOptions{})
			defer e.Release()
			var want []byte
			for i, order := range [][]int{nil, last, nil, {3, 0, 2, 1}, last} {
				buf, err := mem.Host(96, mem.Options{})
				require.NoError(t, err)
				v := mem.View{Buf: buf, Type: tensor.T(tensor.Float32, 2, 2, 3, 2)}.In(order)
				values := make([]float32, 24)
				for k := range values {
					values[k] = float32(k*7%24) - 9
				}
				require.NoError(t, v.Store(tensor.Float32s(values...)))
				require.NoError(t, e.BindInput(0, v))
				buf.Release()
				require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
				got, err := e.OutputData(0)
				require.NoError(t, err)
				if i == 0 {
					want = slices.Clone(got)
				}
				assert.Equal(t, want, got, "%v", order)
			}
		})
	}
}

// TestOrder_runAllocatesNothing of a NHWC input that is read in place.
func TestOrder_runAllocatesNothing(t *testing.T) {
	b := graph.NewBuilder("g")
	b.Output(b.Add(&op.Relu{}, b.Input("x", tensor.T(tensor.Float32, 1, 3, 8, 8))))
	g, err := b.Graph()
	require.NoError(t, err)
	p, err := newDevice(t, Config{Threads: 1}).Compile(context.Background(),
		device.Unit{Graph: g, Order: [][]int{tensor.ChannelsLast(4)}}, device.Options{})
	require.NoError(t, err)
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	buf, err := mem.Host(4*3*64, mem.Options{})
	require.NoError(t, err)
	require.NoError(t, e.BindInput(0, mem.View{Buf: buf, Type: tensor.T(tensor.Float32, 1, 3, 8,
		8)}.In(tensor.ChannelsLast(4))))
	buf.Release()
	done := make(chan error, 1)
	r := device.RunRequest{Here: true, Done: func(err error) { done <- err }}
	assert.Zero(t, testing.AllocsPerRun(20, func() {
		if e.Start(r) == nil {
			err = <-done
		}
	}))
	require.NoError(t, err)
	assert.Zero(t, e.Stats().CopiedIn)
}
