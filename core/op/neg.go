package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Neg is y = -x. The smallest signed integer has no negative in its type and stays as it is.
//
// Input: x of a float, quantized or signed integer type. Output: y of x's type and shape. Source: ONNX Neg-13,
// OH_NN_OPS_NEG, ANEURALNETWORKS_NEG.
type Neg struct{}

func init() { graph.Register[*Neg]("neg", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape, with the values of small integers.
func (*Neg) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, signedNumberWords, isSignedNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldUnary(in, out[0], func(a int64) int64 { return -a })
	return out, nil
}
