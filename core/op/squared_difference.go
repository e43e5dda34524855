package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// SquaredDifference is y = (a - b)^2 with NumPy broadcasting. Integers wrap around.
//
// Inputs: a, b of one float, quantized or integer type. Output: y of that type. Source: OH_NN_OPS_SQUARED_DIFFERENCE.
type SquaredDifference struct{}

func init() {
	graph.Register[*SquaredDifference]("squared_difference", graph.Traits{Elementwise: true, InPlace: []int{0, 1}})
}

// Infer returns the broadcast shape.
func (*SquaredDifference) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return binary(in, declared, numberWords, isNumber)
}
