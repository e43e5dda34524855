package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Ties says how a value halfway between two integers is rounded.
type Ties uint8

// The ways.
const (
	RoundEven Ties = iota // to the even one
	RoundAway             // away from zero
)

// Round is y = x rounded to the nearest integer; Ties says where halves go. Integers stay as they are; NaN and
// infinities too, and -0.4 gives -0.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: ONNX Round-11,
// OH_NN_OPS_ROUND (both half to even).
type Round struct {
	Ties Ties // what x.5 becomes
}

func init() { graph.Register[*Round]("round", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape, with the values of small integers.
func (o *Round) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Ties > RoundAway {
		return nil, fault.New(fault.Argument, "ties: %d is no way to round", o.Ties)
	}
	out, err := unary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldSame(in[0], out[0])
	return out, nil
}
