package export_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestOf_readInputs: an input whose value is known, so that no node of the model reads it, is left out if that is asked
// for; one that is a result is not.
func TestOf_readInputs(t *testing.T) {
	b := graph.NewBuilder("g")
	b.Input("unused", tensor.T(tensor.Float32, 3))
	x := b.Input("x", tensor.T(tensor.Float32, 2, 3))
	through := b.Input("through", tensor.T(tensor.Float32, 1))
	shape := b.Add(&op.Shape{}, x)
	y := b.Input("y", tensor.T(tensor.Float32, 6))
	b.Output(b.Add(&op.Reshape{}, y, shape), through)
	g, err := b.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	var nodes []int
	for i := range g.Nodes {
		if _, is := g.Nodes[i].Op.(*op.Reshape); is {
			nodes = append(nodes, i)
		}
	}
	part, _, _ := g.Extract(nodes)
	require.Len(t, part.In, 2, "the shape is one")
	for _, read := range []bool{false, true} {
		m, err := export.Of(part, export.Options{ReadInputs: read})
		require.NoError(t, err)
		data, err := m.Bytes()
		require.NoError(t, err)
		store := mem.NewWeights()
		got, err := onnx.Import(data, onnx.Options{Weights: store})
		require.NoError(t, err)
		var want []string
		for _, name := range m.In {
			if name != "" {
				want = append(want, name)
			}
		}
		assert.Len(t, want, map[bool]int{false: 2, true: 1}[read])
		assert.Len(t, got.Graph.In, len(want))
		store.Release()
	}
	m, err := export.Of(g, export.Options{ReadInputs: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"", "x", "through", "y"}, m.In)
}

// TestOf_ownConstants: a constant that two nodes read is one initializer, or with OwnConstants one for each.
func TestOf_ownConstants(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Float32, 3))
	shared := b.Const("shared", tensor.T(tensor.Float32, 3), tensor.Float32s(1, 2, 4))
	b.Output(b.Add(&op.Mul{}, b.Add(&op.Add{}, x, shared), shared))
	g, err := b.Graph()
	require.NoError(t, err)
	for _, own := range []bool{false, true} {
		m, err := export.Of(g, export.Options{OwnConstants: own})
		require.NoError(t, err)
		data, err := m.Bytes()
		require.NoError(t, err)
		store := mem.NewWeights()
		got, err := onnx.Import(data, onnx.Options{Weights: store})
		require.NoError(t, err)
		constants := map[graph.Value]bool{}
		for i := range got.Graph.Nodes {
			constants[got.Graph.Nodes[i].In[1]] = true
		}
		assert.Len(t, constants, map[bool]int{false: 1, true: 2}[own])
		y, err := ref.Run(context.Background(), got.Graph, []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{3},
			Data: tensor.Float32s(1, 1, 1)}})
		require.NoError(t, err)
		assert.Equal(t, []float32{2, 6, 20}, mem.Elements[float32](y[0].Data))
		store.Release()
	}
}
