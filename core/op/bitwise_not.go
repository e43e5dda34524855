package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BitwiseNot is y = x with every bit inverted.
//
// Input: x of an integer type. Output: y of x's type and shape. Source: ONNX BitwiseNot-18.
type BitwiseNot struct{}

func init() {
	graph.Register[*BitwiseNot]("bitwise_not", graph.Traits{Elementwise: true, InPlace: []int{0}})
}

// Infer returns the input's type and shape, with the values of small integers.
func (*BitwiseNot) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, plainIntWords, isPlainInt)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldUnary(in, out[0], func(a int64) int64 { return ^a })
	return out, nil
}
