package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// NaNRule says what Max and Min make of a pair with one NaN.
type NaNRule uint8

// The rules.
const (
	NaNPropagates NaNRule = iota // the result is NaN (IEEE maximum, NumPy, ONNX)
	NaNLoses                     // the result is the other operand (C fmax)
)

// Max is y = the larger of a and b with NumPy broadcasting. Of two bools it is the logical or.
//
// Inputs: a, b of one float, quantized, integer or bool type. Output: y of that type. Source: ONNX Max-13,
// OH_NN_OPS_MAXIMUM, ANEURALNETWORKS_MAXIMUM.
type Max struct {
	NaN NaNRule // what one NaN operand gives
}

func init() { graph.Register[*Max]("max", graph.Traits{Elementwise: true, InPlace: []int{0, 1}}) }

// Infer returns the broadcast shape, with the values of small integers.
func (o *Max) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.NaN > NaNLoses {
		return nil, fault.New(fault.Argument, "nan: %d is no rule", o.NaN)
	}
	out, err := binary(in, declared, numberOrBoolWords, isNumberOrBool)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldInts(in, out[0], func(a, b int64) (int64, bool) { return max(a, b), true })
	return out, nil
}
