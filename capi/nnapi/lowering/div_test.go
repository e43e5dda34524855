package lowering

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// TestDiv_nodes: only integers by what may be 0 are divided with care.
func TestDiv_nodes(t *testing.T) {
	for _, k := range []struct {
		code nnapi.OperandCode
		by   []float64 // nil: an input
		want []string
	}{
		{nnapi.TensorFloat32, nil, []string{"div"}},
		{nnapi.TensorInt32, []float64{3, -1}, []string{"div"}},
		{nnapi.TensorInt32, []float64{3, 0}, []string{"equal", "where", "div", "where"}},
		{nnapi.TensorInt32, nil, []string{"equal", "where", "div", "where"}},
	} {
		d := describe(t)
		tensor := func() uint32 { return d.add(nnapi.Operand{Type: k.code, Dims: []uint32{2}}) }
		x := tensor()
		by, in := x, []uint32{x}
		if k.by == nil {
			by = tensor()
			in = append(in, by)
		} else {
			by = d.constant(list(k.by...))
		}
		y := tensor()
		d.op(nnapi.Div, []uint32{x, by, d.constant(num(0))}, y)
		d.io(in, y)
		g, err := Graph(d.Model)
		require.NoError(t, err)
		var got []string
		for _, n := range g.Nodes {
			got = append(got, graph.NameOf(n.Op))
		}
		assert.Equal(t, k.want, got, "%v by %v", k.code, k.by)
	}
}
