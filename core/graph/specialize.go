package graph

import (
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// WithInputs returns a graph that shares nodes and constants with g and whose first inputs have the sizes of in; Infer
// then finds those of the other values. g does not change.
func (g *Graph) WithInputs(in []tensor.Tensor) *Graph {
	own := *g
	own.Values = slices.Clone(g.Values)
	for i, v := range g.In[:len(in)] {
		own.Values[v].Fact.Shape = tensor.Of(in[i].Dims...)
	}
	return &own
}
