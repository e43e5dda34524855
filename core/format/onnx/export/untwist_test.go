package export_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestOf_undoneTranspose: weights that a node makes in ONNX's order go to the convolution without a Transpose, which
// stays where its result is wanted.
func TestOf_undoneTranspose(t *testing.T) {
	for _, c := range []struct {
		perm   []int64
		wanted bool // the transposed weights are an output too
		nodes  int
	}{
		{[]int64{0, 2, 3, 1}, false, 2},
		{[]int64{0, 2, 3, 1}, true, 3},
		{[]int64{0, 3, 2, 1}, false, 4}, // turned as well
	} {
		b := graph.NewBuilder("g")
		x := b.Input("x", tensor.T(tensor.Float32, 1, 3, 5, 5))
		w := b.Add(&op.Neg{}, b.Input("w", tensor.T(tensor.Float32, 2, 3, 2, 2)))
		turned := b.Add(&op.Transpose{}, w, b.Int64s(c.perm...))
		b.Output(b.Add(&op.Conv{Groups: 1}, x, turned))
		if c.wanted {
			b.Output(turned)
		}
		g, err := b.Graph()
		require.NoError(t, err)
		require.NoError(t, g.Infer())
		m, err := export.Of(g, export.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.nodes, m.Nodes, "%v", c)
		in := make([]tensor.Tensor, 2)
		for i, v := range g.In {
			dims, _ := g.Fact(v).Shape.Ints()
			n, _ := tensor.Count(dims)
			in[i] = tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: make([]byte, 4*n)}
			for k := range int(n) {
				tensor.PutFloat(tensor.Float32, in[i].Data, k, float64(k*k%11), false)
			}
		}
		want, err := ref.Run(context.Background(), g, in)
		require.NoError(t, err)
		got, err := again(g, in, export.Options{})
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
