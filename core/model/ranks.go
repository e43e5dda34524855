package model

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// findRanks finds the shapes of outputs whose number of dimensions follows from the sizes that inputs are meant to have.
func (m *Model) findRanks(in, out []*Port) {
	if !slices.ContainsFunc(out, func(p *Port) bool { return !p.Shape.Ranked }) ||
		slices.ContainsFunc(in, func(p *Port) bool { return !p.Shape.Ranked }) {
		return
	}
	meant, err := ShapesOf(in)
	if err != nil { // whoever needs sizes says so
		return
	}
	shapes := make([]tensor.Shape, len(out))
	for k, dims := range meant.Sets {
		sized, err := WithSizes(m.Graph, dims)
		if err != nil {
			return
		}
		for i, v := range sized.Out {
			s := sized.Fact(v).Shape.Clone()
			switch {
			case k == 0:
				shapes[i] = s
			case s.Rank() != shapes[i].Rank():
				shapes[i] = tensor.AnyShape()
			default:
				for j, d := range s.Dims {
					if !d.Same(shapes[i].Dims[j]) {
						shapes[i].Dims[j] = tensor.AnyDim()
					}
				}
			}
		}
	}
	for i, p := range out {
		if !p.Shape.Ranked && shapes[i].Ranked {
			p.Shape, p.Declared = shapes[i], m.ShapeText(shapes[i])
		}
	}
}

// madeBy says which node of the model makes the output of that name, in words for a message.
func (m *Model) madeBy(name string) string {
	producers := m.Graph.Producers()
	for _, v := range m.Graph.Out {
		at := producers[v]
		if m.Graph.Values[v].Name != name || at < 0 {
			continue
		}
		if origin := m.Graph.Nodes[at].Origin; origin >= 0 && origin < len(m.Ops) {
			return fmt.Sprintf(", made by node %d (%s),", origin, m.Ops[origin])
		}
	}
	return ""
}
