package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Add is y = a + b with NumPy broadcasting. Integers wrap around; of bools it is the logical or.
//
// Inputs: a, b of one float, quantized, integer or bool type. Output: y of that type.
// Source: ONNX Add-14, OH_NN_OPS_ADD, ANEURALNETWORKS_ADD without activation.
type Add struct{}

func init() {
	graph.Register[*Add]("add", graph.Traits{Elementwise: true, InPlace: []int{0, 1}, Sign: graph.NonNegativeIfAll})
}

// Infer returns the broadcast shape. Small integer values are carried through so that shape arithmetic resolves.
func (*Add) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := binary(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldNeutral(in, out[0], 0, false, func(a, b int64) (int64, bool) { return a + b, true })
	return out, nil
}
