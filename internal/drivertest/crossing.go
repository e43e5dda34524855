package drivertest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	run "github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Crossing checks that a device which adds, and does not compute exponentials, reads what the CPU hands to it where the
// CPU has written it.
func Crossing(t *testing.T, d device.Device) {
	const n = 1000
	b := graph.NewBuilder("crossing")
	x := b.Input("x", tensor.T(tensor.Float32, n))
	e := b.Add(&op.Exp{}, x)
	b.Output(b.Add(&op.Add{}, e, e))
	g, err := b.Graph()
	require.NoError(t, err)
	p := Compile(t, g, d, CPU(t))
	defer p.Release()
	require.Len(t, p.Placement().Parts, 2)
	r, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer r.Release()
	in, err := mem.Host(4*n, mem.Options{})
	require.NoError(t, err)
	defer in.Release()
	require.NoError(t, r.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Float32, n)}))
	for range 2 {
		require.NoError(t, run.Run(context.Background(), r, device.RunRequest{}))
		data, err := r.OutputData(0)
		require.NoError(t, err)
		y, err := tensor.ReadFloat32s(data, n)
		require.NoError(t, err)
		for _, v := range y {
			require.EqualValues(t, 2, v)
		}
	}
	assert.Zero(t, r.Stats().CopiedIn, "bytes that a part copied")
}

// Small checks who computes a sum behind an exponential, which the device does not compute, of so many elements that
// the CPU has it before a driver could begin: the CPU does, and the report says why. A product behind it that takes the
// CPU longer than the way to the driver stays there, and so does a sum that is all there is.
func Small(t *testing.T, d device.Device) {
	const n = 256
	typ := tensor.T(tensor.Float32, n, n)
	for _, c := range []struct {
		op    graph.Op
		whole bool
		want  string
		why   string
	}{
		{&op.Add{}, false, "cpu", "a part of 1 node takes "},
		{&op.MatMul{}, false, d.Info().ID, ""},
		{&op.Add{}, true, d.Info().ID, ""},
	} {
		b := graph.NewBuilder("small")
		x := b.Input("x", typ)
		if !c.whole {
			x = b.Add(&op.Exp{}, x)
		}
		b.Output(b.Add(c.op, x, x))
		g, err := b.Graph()
		require.NoError(t, err)
		p, err := compile.Compile(context.Background(), g, []device.Device{d, CPU(t)}, compile.Options{ByCost: true})
		require.NoError(t, err)
		nodes := p.Placement().Nodes
		last := nodes[len(nodes)-1]
		assert.Equal(t, c.want, last.Device, graph.NameOf(c.op))
		if c.why == "" {
			assert.Empty(t, last.Refused)
		} else if assert.Len(t, last.Refused, 1) {
			assert.Contains(t, last.Refused[0].Reason, c.why)
			assert.Contains(t, last.Refused[0].Reason, " to cross alone, ")
		}
		p.Release()
	}
}
