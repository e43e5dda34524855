package ohnn

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

func newCPU(t testing.TB) device.Device {
	d, err := cpu.New(cpu.Config{Threads: 1})
	require.NoError(t, err)
	return d
}

// results computes a case twice, the second time on memory of the first.
func results(t testing.TB, p device.Program, in []tensor.Tensor) (out []tensor.Tensor) {
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	for i, x := range in {
		b := mem.Borrow(x.Data, nil)
		require.NoError(t, e.BindInput(i, mem.View{Buf: b, Type: x.Type()}))
		b.Release()
	}
	for range 2 {
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	}
	_, outs := p.Ports()
	for i := range outs {
		typ, err := e.OutputType(i)
		require.NoError(t, err)
		data, err := e.OutputData(i)
		require.NoError(t, err)
		dims, _ := typ.Shape.Ints()
		out = append(out, tensor.Tensor{DType: typ.DType, Dims: dims, Data: append([]byte{}, data...)})
	}
	return out
}

// split computes the committed random graphs on some devices, and returns how many nodes each of them has.
func split(t *testing.T, devices ...device.Device) (nodes map[string]int, parts int) {
	cases, err := graphs.Cases()
	require.NoError(t, err)
	require.Len(t, cases, 300)
	if testing.Short() {
		cases = cases[:30]
	}
	nodes = map[string]int{}
	for _, c := range cases {
		p, err := compile.Compile(context.Background(), c.Graph, devices, compile.Options{})
		require.NoError(t, err, c.Name)
		for _, n := range p.Placement().Nodes {
			nodes[n.Device]++
		}
		parts += len(p.Placement().Parts)
		assert.NoError(t, c.Compare(results(t, p, c.In)), c.Name)
		p.Release()
	}
	return nodes, parts
}

// TestSplit_randomGraphs splits the random graphs over the CPU and the fake driver. What each of them must give is what
// an evaluation in float64 gives, which the CPU alone is held to as well.
func TestSplit_randomGraphs(t *testing.T) {
	f := newFake(t)
	before := f.live()
	nodes, parts := split(t, f.Device, newCPU(t))
	t.Logf("%v in %d parts", nodes, parts)
	assert.Greater(t, nodes["npu"], nodes["cpu"]/2, "nodes of the driver")
	assert.Positive(t, nodes["cpu"])
	assert.Equal(t, before, f.live())
}
