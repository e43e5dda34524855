package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Custom is an operator that the project does not know: a node of a foreign domain in a model. Nothing computes it unless a program
// registers a function for Type; a device without one refuses it.
//
// Inputs and outputs are those of the node. Attributes are given by name with their values as JSON.
type Custom struct {
	Domain, Type  string
	Names, Values []string
}

func init() { graph.Register((*Custom)(nil)) }

// Name returns "custom".
func (*Custom) Name() string { return "custom" }

// Traits: nothing is known about it, so that it is never folded, merged or removed.
func (*Custom) Traits() graph.Traits {
	return graph.Traits{Impure: true, Effect: true, DataDependent: true}
}

// Infer returns what the model declares.
func (o *Custom) Infer(_ []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Type == "" || len(o.Names) != len(o.Values) {
		return nil, fault.New(fault.Argument, "a custom operator without a type or with %d names for %d values", len(o.Names), len(o.Values))
	}
	out := make([]tensor.Fact, len(declared))
	for i, t := range declared {
		out[i].Type = t
	}
	return out, nil
}
