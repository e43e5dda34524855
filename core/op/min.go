package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Min is y = the smaller of a and b with NumPy broadcasting. Of two bools it is the logical and.
//
// Inputs: a, b of one float, quantized, integer or bool type. Output: y of that type. Source: ONNX Min-13,
// OH_NN_OPS_MINIMUM, ANEURALNETWORKS_MINIMUM.
type Min struct {
	NaN NaNRule // what one NaN operand gives
}

func init() { graph.Register[*Min]("min", graph.Traits{Elementwise: true, InPlace: []int{0, 1}}) }

// Infer returns the broadcast shape, with the values of small integers.
func (o *Min) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.NaN > NaNLoses {
		return nil, fault.New(fault.Argument, "nan: %d is no rule", o.NaN)
	}
	out, err := binary(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldInts(in, out[0], func(a, b int64) (int64, bool) { return min(a, b), true })
	return out, nil
}
