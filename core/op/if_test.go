package op

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sizes that are known later rule out a branch, unless it is taken, or the only one left.
func TestIf_sizesRuleOutABranch(t *testing.T) {
	body := func(columns int64, kept bool) *graph.Graph {
		b := graph.NewBuilder("body")
		x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.D(1), tensor.AnyDim())})
		w := b.Const("w", tensor.T(tensor.Float32, columns, 1), make([]byte, 4*columns))
		y := b.Add(&MatMul{}, x, w)
		if !kept {
			y = b.Add(&Squeeze{}, y, b.Int64s(0))
		}
		b.Output(y)
		g, err := b.Graph()
		require.NoError(t, err)
		return g
	}
	o := &If{Then: body(6, true), Else: body(4, false)}
	known := func(v byte) tensor.Fact {
		return tensor.Fact{Type: tensor.T(tensor.Bool), Const: tensor.NewConst([]byte{v})}
	}
	unknown := tensor.Fact{Type: tensor.T(tensor.Bool)}
	infer := func(cond tensor.Fact, columns int64) (tensor.Shape, error) {
		out, err := o.Infer([]tensor.Fact{cond, {Type: tensor.T(tensor.Float32, 1, columns)}}, make([]tensor.Type, 1))
		if err != nil {
			return tensor.Shape{}, err
		}
		return out[0].Shape, nil
	}
	s, err := infer(unknown, 6)
	require.NoError(t, err)
	assert.Equal(t, tensor.Of(1, 1), s, "the other branch cannot be taken with success")
	s, err = infer(unknown, 4)
	require.NoError(t, err)
	assert.Equal(t, tensor.Of(1), s)
	for _, cond := range []tensor.Fact{unknown, known(1)} {
		_, err = infer(cond, 5)
		assert.ErrorContains(t, err, "inner dimensions: 5 and 6 differ")
	}
	_, err = infer(known(0), 6)
	assert.ErrorContains(t, err, "inner dimensions: 6 and 4 differ")
	fails := graph.Graph{Values: make([]graph.ValueInfo, 2), In: []graph.Value{0}, Out: []graph.Value{1},
		Nodes: []graph.Node{{Op: &Fail{Text: "no way"}, Out: []graph.Value{1}}}}
	o.Then = &fails
	s, err = infer(unknown, 4)
	require.NoError(t, err)
	assert.Equal(t, tensor.Of(1), s)
	_, err = infer(unknown, 6)
	assert.ErrorContains(t, err, "no way")
	assert.Equal(t, fault.Shape, fault.KindOf(err))
	o.Else = nil
	_, err = infer(unknown, 4)
	assert.ErrorContains(t, err, "a body is missing")
}
