package nnapi

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
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
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

// TestSplit_randomGraphs splits the random graphs over the devices of the fake driver and the CPU. What they must give
// is what an evaluation in float64 gives, which the CPU alone is held to as well. The second device claims everything
// and fails to compile what it cannot compute: that is another device's then.
func TestSplit_randomGraphs(t *testing.T) {
	f := newFake(t)
	all, err := openFake()
	require.NoError(t, err)
	before := f.live()
	for _, c := range []struct {
		name  string
		own   []device.Device
		id    string
		least int
	}{{"one device", []device.Device{f.Device}, "npu", 1500},
		{"one that lies", []device.Device{all[1]}, "npu2", 500},
		{"both", []device.Device{f.Device, all[1]}, "npu", 1500}} {
		t.Run(c.name, func(t *testing.T) {
			nodes, parts := split(t, append(c.own, newCPU(t))...)
			t.Logf("%v in %d parts", nodes, parts)
			if !testing.Short() {
				assert.Greater(t, nodes[c.id], c.least, "nodes of %s", c.id)
			}
			assert.Positive(t, nodes["cpu"])
			assert.Equal(t, before, f.live())
		})
	}
}

// counted counts how often a device is asked to compile.
type counted struct {
	device.Device
	compiled int
}

func (c *counted) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	c.compiled++
	return c.Device.Compile(ctx, u, o)
}

// TestSplit_liarIsAskedOnce: what a device claims and does not compile is the next one's, and is not tried again.
func TestSplit_liarIsAskedOnce(t *testing.T) {
	f := newFake(t)
	before := f.live()
	all, err := openFake()
	require.NoError(t, err)
	liar := &counted{Device: all[1]}
	b := graph.NewBuilder("floor")
	b.Output(b.Add(&op.Floor{}, b.Input("x", tensor.T(tensor.Float32, 3, 7))))
	g, err := b.Graph()
	require.NoError(t, err)
	for range 3 {
		p, err := compile.Compile(context.Background(), g, []device.Device{liar, newCPU(t)}, compile.Options{})
		require.NoError(t, err)
		n := p.Placement().Nodes[0]
		assert.Equal(t, "cpu", n.Device)
		require.NotEmpty(t, n.Refused)
		assert.Contains(t, n.Refused[0].Reason,
			"it failed: ANeuralNetworksCompilation_finish: the driver refuses it with code 5")
		p.Release()
	}
	assert.Equal(t, 1, liar.compiled)
	assert.Equal(t, before, f.live())
}
