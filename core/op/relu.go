package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Relu is y = max(x, 0). NaN stays NaN.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: ONNX Relu-14,
// OH_NN_OPS_RELU, ANEURALNETWORKS_RELU.
type Relu struct{}

func init() {
	graph.Register[*Relu]("relu", graph.Traits{Elementwise: true, InPlace: []int{0}, Sign: graph.NonNegative})
}

// Infer returns the input's type and shape, with the values of small integers.
func (*Relu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldUnary(in, out[0], func(a int64) int64 { return max(a, 0) })
	return out, nil
}
