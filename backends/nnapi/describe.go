package nnapi

import (
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// Describe turns a graph into a model of the API at a feature level, as a device has its driver compile it. The model
// reads the graph's constants. The error, of kind fault.Unsupported, names what the API cannot say.
func Describe(g *graph.Graph, level spec.FeatureLevel) (*spec.Model, error) {
	m, _, err := modelOf(g, level)
	return m, err
}

// modelOf is Describe, with the operands of the outputs.
func modelOf(g *graph.Graph, level spec.FeatureLevel) (*spec.Model, []*operand, error) {
	t := newTranslation(g, level)
	t.folds = true
	if err := driver.Translate(g, t.node); err != nil {
		return nil, nil, err
	}
	if err := driver.Boundary(g, takes, makes); err != nil {
		return nil, nil, err
	}
	in, out := t.Operands(g.In), t.Operands(g.Out)
	t.Simplify(out, fuse)
	return describe(t.Ops, in, out), out, nil
}
