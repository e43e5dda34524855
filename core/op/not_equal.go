package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// NotEqual is y = (a != b) with NumPy broadcasting. Quantized operands are compared as the real values they stand for;
// a NaN gives true.
//
// Inputs: a, b of one float, quantized, integer or bool type. Output: bool. Source: OH_NN_OPS_NOT_EQUAL,
// ANEURALNETWORKS_NOT_EQUAL.
type NotEqual struct{}

func init() { graph.Register[*NotEqual]("not_equal", graph.Traits{Elementwise: true}) }

// Infer returns the broadcast shape, with the values of small integers.
func (*NotEqual) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := comparison(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldBool(in, out[0], func(a, b int64) bool { return a != b })
	return out, nil
}
