package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Square is y = x * x. Integers wrap around.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: OH_NN_OPS_SQUARE.
type Square struct{}

func init() {
	graph.Register[*Square]("square", graph.Traits{Elementwise: true, InPlace: []int{0}, Sign: graph.NonNegative})
}

// Infer returns the input's type and shape, with the values of small integers.
func (*Square) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldUnary(in, out[0], func(a int64) int64 { return a * a })
	return out, nil
}
