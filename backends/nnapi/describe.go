package nnapi

import (
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// Describe turns a graph into a model of the API at a feature level, as a device has its driver compile it. The model
// reads the graph's constants. The error, of kind fault.Unsupported, names what the API cannot say.
func Describe(g *graph.Graph, level spec.FeatureLevel) (*spec.Model, error) {
	t := newTranslation(g, level)
	t.folds = true
	if err := driver.Translate(g, t.node); err != nil {
		return nil, err
	}
	if err := driver.Boundary(g, takes); err != nil {
		return nil, err
	}
	in, out := t.Operands(g.In), t.Operands(g.Out)
	t.Simplify(out, fuse)
	return describe(t.Ops, in, out), nil
}
