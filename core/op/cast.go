package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RangeRule is the rule by which Cast makes an integer of a number outside the type's range.
type RangeRule uint8

// The rules.
const (
	CastWrap     RangeRule = iota // the low bits of the (truncated) number; infinities give 0
	CastSaturate                  // the nearest limit of the type
)

// Cast is y = the elements of x, as they are stored, converted to type To. A quantized tensor is taken as its plain
// integers.
//
// Floats become integers by dropping the fraction, NaN by becoming 0; OutOfRange decides about the rest. Anything
// becomes bool as x != 0 (NaN is true), bool becomes 0 or 1. Numbers become floats rounded to nearest, ties to even;
// Saturate decides what becomes of numbers beyond the float8 types (see tensor.Float32ToSmall). Powers decides which
// power of two a number becomes in Float8E8M0 (see tensor.ToPower).
//
// Input: x of any type but complex. Output: y of type To and x's shape. Source: ONNX Cast-28, OH_NN_OPS_CAST,
// ANEURALNETWORKS_CAST (which saturates).
type Cast struct {
	To         tensor.DType
	Saturate   bool      // float8: too large numbers become the largest one
	OutOfRange RangeRule // integers
	Powers     tensor.PowerRule
}

func init() { graph.Register[*Cast]("cast", graph.Traits{Elementwise: true}) }

// Infer returns type To and the input's shape, with the values of small integers.
func (o *Cast) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if !isPlain(o.To) {
		return nil, fault.New(fault.Type, "cannot convert to %v", o.To)
	}
	if o.OutOfRange > CastSaturate {
		return nil, fault.New(fault.Argument, "out of range: %d is no rule", o.OutOfRange)
	}
	if o.Powers > tensor.PowerDown {
		return nil, fault.New(fault.Argument, "powers: %d is no rule", o.Powers)
	}
	if err := wantType(in, 0, "a real, integer or bool type", isPlain); err != nil {
		return nil, err
	}
	out := tensor.Fact{Type: tensor.Type{DType: o.To, Shape: in[0].Shape}}
	if declared[0].DType == o.To {
		out.Quant = declared[0].Quant
	}
	out.Ints = o.fold(in[0], out)
	return []tensor.Fact{out}, nil
}

// fold carries values through conversions between integers. Unknown ones pass only where nothing can be lost.
func (o *Cast) fold(x, out tensor.Fact) []tensor.Dim {
	return foldMap(out, func(v []tensor.Dim) tensor.Dim {
		d := v[0]
		switch {
		case !d.Known() && (o.To == tensor.Bool || out.DType.Bits() < x.DType.Bits() && d.Sym == tensor.Unknown):
			return tensor.AnyDim()
		case !d.Known():
			return d
		case o.To == tensor.Bool && d.N != 0:
			return tensor.D(1)
		case o.To == tensor.Int32 && o.OutOfRange == CastSaturate:
			lo, hi := tensor.IntLimits(tensor.Int32)
			return tensor.D(min(max(d.N, lo), hi))
		}
		return d
	}, x)
}

// isPlain accepts every type but complex ones.
func isPlain(d tensor.DType) bool { return d == tensor.Bool || d.IsInt() || d.IsFloat() }
