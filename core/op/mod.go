package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ModSign says which operand's sign a remainder has.
type ModSign uint8

// The choices.
const (
	ModDividend ModSign = iota // that of a: C's % and fmod
	ModDivisor                 // that of b: the remainder of a floored quotient
)

// Mod is y = the remainder of a / b with NumPy broadcasting, with the sign Sign says. Floats: NaN for b = 0 or infinite
// a. An integer remainder by 0 is an error of kind fault.Data.
//
// Inputs: a, b of one float, quantized or integer type. Output: y of that type. Source: ONNX Mod-13 (fmod 1:
// ModDividend, 0: ModDivisor), OH_NN_OPS_MOD.
type Mod struct {
	Sign ModSign // of the result
}

func init() { graph.Register[*Mod]("mod", graph.Traits{Elementwise: true, InPlace: []int{0, 1}}) }

// Infer returns the broadcast shape, with the values of small integers.
func (o *Mod) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Sign > ModDivisor {
		return nil, fault.New(fault.Argument, "sign: %d is no choice", o.Sign)
	}
	out, err := binary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldInts(in, out[0], o.fold)
	return out, nil
}

// fold takes the remainder of two known integers; that by 0 stays unknown and fails at the run.
func (o *Mod) fold(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	m := a % b
	if o.Sign == ModDivisor && m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m, true
}
