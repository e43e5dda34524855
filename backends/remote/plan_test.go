package remote

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// coded is twice whose x and y are codes: x = (q - 128) / 2, y = (q - 3) / 2. decoders is how many nodes decode x.
// whole: it has z, too.
func coded(t *testing.T, decoders int, whole bool) *graph.Graph {
	b := graph.NewBuilder("twice")
	q := b.Input("x", tensor.T(tensor.Uint8, 4, 3))
	zero := b.Const("", tensor.T(tensor.Uint8), []byte{128})
	var x graph.Value
	for range decoders {
		x = b.Add(&op.Dequantize{}, q, b.Float32(0.5), zero)
	}
	y := b.Add(&op.Add{}, b.Add(&op.Mul{}, x, b.Float32(2)), b.Float32(1))
	codes := b.Add(&op.Quantize{}, y, b.Float32(0.5), b.Const("", tensor.T(tensor.Uint8), []byte{3}))
	b.Name(codes, "y")
	b.Output(codes)
	if whole {
		z := b.Add(&op.Add{}, y, y)
		b.Name(z, "z")
		b.Output(z)
	}
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// TestRun_codesAtTheBorder: a program has codes where the server has real numbers; those are made here.
func TestRun_codesAtTheBorder(t *testing.T) {
	s := start(t, nil)
	d, _ := open(t, manifest(nil, s.GRPC()))
	g := coded(t, 1, true)
	p, err := compile.Compile(context.Background(), g, []device.Device{d, reference(t)}, compile.Options{})
	require.NoError(t, err)
	defer p.Release()
	var where []string
	for _, n := range p.Placement().Nodes {
		where = append(where, n.Device)
	}
	assert.Equal(t, []string{"cpu", "remote:test", "remote:test", "cpu", "remote:test"}, where)
	x, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer x.Release()
	in, err := mem.Host(12, mem.Options{})
	require.NoError(t, err)
	defer in.Release()
	require.NoError(t, x.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Uint8, 4, 3)}))
	require.NoError(t, mem.Write(in, 0, []byte{128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 127, 0}))
	require.NoError(t, exec.Run(context.Background(), x, device.RunRequest{}))
	got, err := x.OutputData(0)
	require.NoError(t, err)
	assert.Equal(t, []byte{5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 3, 0}, got) // 3 + 2 (2 (q - 128) / 2 + 1), at least 0
	assert.Equal(t, int64(1), s.Infers.Load())
}

// TestMatch_codes: where a port could stand for several values, none is taken.
func TestMatch_codes(t *testing.T) {
	s := start(t, nil)
	d, _ := open(t, manifest(nil, s.GRPC()))
	for name, g := range map[string]*graph.Graph{"two nodes decode": coded(t, 2, true),
		"an output more": coded(t, 1, false)} {
		_, err := d.match(g)
		require.ErrorContains(t, err, `the server has ("x" FP32[-1 3]) -> ("y" FP32[-1 3], "z" FP32[-1 3]), `+
			`the graph has ("x" uint8[4,3]) -> ("y" uint8[4,3]`, name)
	}
	g := twice(t, 4)
	g.Out[0], g.Out[1] = g.Out[1], g.Out[0] // names count, not places
	p, err := d.match(g)
	require.NoError(t, err)
	assert.Equal(t, []graph.Value{g.Out[1], g.Out[0]}, []graph.Value{p.out[0].value, p.out[1].value})
	for i, want := range [][]graph.Value{{g.Out[1], g.Out[0]}, {g.Out[0], g.Out[1]}} {
		if i == 0 {
			g.Values[g.Out[0]].Name, g.Values[g.In[0]].Name = "", "" // z, and x: one of each side is left
		} else {
			g.Values[g.Out[1]].Name = "" // nothing has a name
		}
		p, err := d.match(g)
		require.NoError(t, err)
		assert.Equal(t, want, []graph.Value{p.out[0].value, p.out[1].value})
	}
}
