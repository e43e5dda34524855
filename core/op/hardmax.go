package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Hardmax is y = 1 at the first largest element of each line along Axis and 0 elsewhere; a NaN counts as the largest.
//
// Input: x of a float or quantized type, rank >= 1. Output: y of x's type and shape.
// Source: ONNX Hardmax-13.
type Hardmax struct {
	Axis int64
}

func init() { graph.Register[*Hardmax]("hardmax", graph.Traits{InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (o *Hardmax) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return alongAxis(in, declared, o.Axis)
}
