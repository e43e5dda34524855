package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Greater is y = (a > b) with NumPy broadcasting. Quantized operands are compared as the real values they stand for; a
// NaN gives false.
//
// Inputs: a, b of one float, quantized, integer or bool type. Output: bool. Source: ONNX Greater-13, OH_NN_OPS_GREATER,
// ANEURALNETWORKS_GREATER.
type Greater struct{}

func init() { graph.Register[*Greater]("greater", graph.Traits{Elementwise: true}) }

// Infer returns the broadcast shape, with the values of small integers.
func (*Greater) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := comparison(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldBool(in, out[0], func(a, b int64) bool { return a > b })
	return out, nil
}
