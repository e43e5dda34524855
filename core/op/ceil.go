package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Ceil is y = the smallest integer >= x. Integers stay as they are; NaN and infinities too.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: ONNX Ceil-13,
// OH_NN_OPS_CEIL.
type Ceil struct{}

func init() { graph.Register[*Ceil]("ceil", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape, with the values of small integers.
func (*Ceil) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldSame(in[0], out[0])
	return out, nil
}
