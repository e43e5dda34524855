package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sub is y = a - b with NumPy broadcasting. Integers wrap around.
//
// Inputs: a, b of one float, quantized or integer type. Output: y of that type. Source: ONNX Sub-14, OH_NN_OPS_SUB,
// ANEURALNETWORKS_SUB without activation.
type Sub struct{}

func init() { graph.Register[*Sub]("sub", graph.Traits{Elementwise: true, InPlace: []int{0, 1}}) }

// Infer returns the broadcast shape, with the values of small integers.
func (*Sub) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := binary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldNeutral(in, out[0], 0, true, func(a, b int64) (int64, bool) { return a - b, true })
	return out, nil
}
