package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Abs is y = |x|. The smallest signed integer has no absolute value in its type and stays as it is.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: ONNX Abs-13, OH_NN_OPS_ABS,
// ANEURALNETWORKS_ABS.
type Abs struct{}

func init() {
	graph.Register[*Abs]("abs", graph.Traits{Elementwise: true, InPlace: []int{0}, Sign: graph.NonNegative})
}

// Infer returns the input's type and shape, with the values of small integers.
func (*Abs) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldUnary(in, out[0], func(a int64) int64 { return max(a, -a) })
	return out, nil
}
