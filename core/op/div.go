package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// DivRounding says how the quotient of integers is rounded.
type DivRounding uint8

// The ways.
const (
	DivTrunc DivRounding = iota // towards zero
	DivFloor                    // towards minus infinity
)

// Div is y = a / b with NumPy broadcasting. Floats follow IEEE (x / 0 is infinite, 0 / 0 is NaN). Integers round as
// Rounding says and wrap around for the one quotient that does not fit; an integer divided by 0 is an error of kind
// fault.Data.
//
// Inputs: a, b of one float, quantized or integer type. Output: y of that type. Source: ONNX Div-14, OH_NN_OPS_DIV
// (truncates), ANEURALNETWORKS_DIV (floors), both without activation.
type Div struct {
	Rounding DivRounding // of integer quotients
}

func init() { graph.Register[*Div]("div", graph.Traits{Elementwise: true, InPlace: []int{0, 1}}) }

// Infer returns the broadcast shape, with the values of small integers.
func (o *Div) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Rounding > DivFloor {
		return nil, fault.New(fault.Argument, "rounding: %d is no way to round", o.Rounding)
	}
	out, err := binary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldNeutral(in, out[0], 1, true, o.fold)
	return out, nil
}

// fold divides two known integers; division by 0 stays unknown and fails at the run.
func (o *Div) fold(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	q := a / b
	if o.Rounding == DivFloor && a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, true
}
