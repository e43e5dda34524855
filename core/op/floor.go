package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Floor is y = the largest integer <= x. Integers stay as they are; NaN and infinities too.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: ONNX Floor-13,
// OH_NN_OPS_FLOOR, ANEURALNETWORKS_FLOOR.
type Floor struct{}

func init() { graph.Register[*Floor]("floor", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape, with the values of small integers.
func (*Floor) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldSame(in[0], out[0])
	return out, nil
}
