package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Xor is y = true where, of a and b, exactly one is true, with NumPy broadcasting. A number is true unless it is 0; NaN
// is true.
//
// Inputs: a, b of one float, quantized, integer or bool type. Output: bool. Source: ONNX Xor-7.
type Xor struct{}

func init() { graph.Register[*Xor]("xor", graph.Traits{Elementwise: true}) }

// Infer returns the broadcast shape, with the values of small integers.
func (*Xor) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := comparison(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldBool(in, out[0], func(a, b int64) bool { return (a != 0) != (b != 0) })
	return out, nil
}
