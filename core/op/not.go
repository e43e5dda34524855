package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Not is y = (x == 0): the logical complement of a bool, true for a zero number. NaN gives false.
//
// Input: x of a float, quantized, integer or bool type. Output: bool of the shape of x. Source: ONNX Not-1,
// OH_NN_OPS_LOGICAL_NOT, ANEURALNETWORKS_LOGICAL_NOT.
type Not struct{}

func init() { graph.Register[*Not]("not", graph.Traits{Elementwise: true}) }

// Infer returns a bool of the input's shape, with the values of small integers.
func (*Not) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := predicate(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldUnary(in, out[0], func(a int64) int64 {
		if a == 0 {
			return 1
		}
		return 0
	})
	return out, nil
}
