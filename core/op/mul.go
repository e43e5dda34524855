package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Mul is y = a * b with NumPy broadcasting. Integers wrap around; of bools it is the logical and.
//
// Inputs: a, b of one float, quantized, integer or bool type. Output: y of that type. Source: ONNX Mul-14,
// OH_NN_OPS_MUL, ANEURALNETWORKS_MUL without activation.
type Mul struct{}

func init() {
	graph.Register[*Mul]("mul", graph.Traits{Elementwise: true, InPlace: []int{0, 1}, Sign: graph.NonNegativeIfAll})
}

// Infer returns the broadcast shape, with the values of small integers.
func (*Mul) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := binary(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldNeutral(in, out[0], 1, false, func(a, b int64) (int64, bool) { return a * b, true })
	return out, nil
}
