package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// optionalOperators are read where it is known that there is a value: an optional one is the value itself.
var optionalOperators = []Operator{
	{"", "Optional", 15, lowerOptional},
	{"", "OptionalGetElement", 15, lowerOptional},
	{"", "OptionalHasElement", 15, lowerHasElement},
}

func lowerOptional(n *node) error {
	if len(n.p.Node.In) > 1 {
		return fault.New(fault.File, "want 1 input, got %d", len(n.p.Node.In))
	}
	if !n.has(0) {
		return fault.New(fault.Unsupported, "an optional value that is not there is not supported")
	}
	return n.emit(&op.Identity{}, n.arg(0))
}

// lowerHasElement: an input that has a name is there.
func lowerHasElement(n *node) error {
	if len(n.p.Node.In) > 1 {
		return fault.New(fault.File, "want 0 to 1 inputs, got %d", len(n.p.Node.In))
	}
	there := []byte{0}
	if n.has(0) {
		there[0] = 1
	}
	return n.result(n.b.Const("", tensor.T(tensor.Bool), there))
}
