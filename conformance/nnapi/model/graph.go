package model

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// Graph is a model: one that an operation refers to, or a network.
type Graph struct {
	Operands   []Operand   `json:"operands"`
	Operations []Operation `json:"operations"`
	In         []uint32    `json:"in"`
	Out        []uint32    `json:"out"`
}

// Operation is an operation of a Graph. In and Out are indices of its operands.
type Operation struct {
	Op  string   `json:"op"` // without ANEURALNETWORKS_
	In  []uint32 `json:"in"`
	Out []uint32 `json:"out"`
}

// Build makes the model and finishes it. Operands with elements that are neither inputs nor outputs are constants.
func (g *Graph) Build(t *nnapi.T) uintptr {
	m := t.Model()
	for i := range g.Operands {
		o := &g.Operands[i]
		dims := o.Dims
		if o.Open || o.Empty() {
			dims = make([]uint32, len(dims))
		}
		index := o.Declare(t, m, dims)
		if o.Valued() && !slices.Contains(g.In, index) && !slices.Contains(g.Out, index) {
			nnapi.Value(m, index, o.Bytes()...)
		}
	}
	for _, o := range g.Operations {
		m.Operation(o.Op, o.In, o.Out)
	}
	m.Identify(nnapi.NoError, g.In, g.Out)
	return m.Finish()
}

// Signature names the operations and counts the inputs and outputs.
func (g *Graph) Signature() string {
	var ops []string
	for _, o := range g.Operations {
		ops = append(ops, o.Op)
	}
	return fmt.Sprint(ops, len(g.In), len(g.Out))
}
