// Package op is the operator vocabulary: one file per operator with its attributes, its meaning and its inference. It
// computes nothing.
//
// Conventions, stated once:
//   - Whatever any served API lets a program pass as a tensor (axes, shapes, pads, sizes, k) is an input, of any
//     integer type; a constant input is the special case. Attributes are only what every API fixes when the model is
//     built.
//   - Trailing optional inputs may be left out; an absent one in the middle is graph.None and arrives as a fact with
//     DType Invalid.
//   - Axes may be negative and count from the end then.
//   - Spatial operators are rank-free. ChannelsLast says [N, spatial..., C], otherwise [N, C, spatial...]. Filters are
//     [O, spatial..., I/groups].
//   - Quantized tensors (Fact.Quant) stand for real values: unless an operator says otherwise its formula holds for the
//     real values, the result is rounded half away from zero to the output's quantization and saturates. Movement of
//     data keeps the bits when input and output are quantized alike.
//   - float16 and bfloat16 compute in float32 and round once at the end.
package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// present reports whether input i is given.
func present(in []tensor.Fact, i int) bool {
	return i < len(in) && (in[i].DType != tensor.Invalid || in[i].Shape.Ranked)
}

// arity checks the number of inputs (at least lo, at most hi; the first lo must be given) and of outputs.
func arity(in []tensor.Fact, lo, hi int, declared []tensor.Type, outLo, outHi int) error {
	if len(in) < lo || len(in) > hi {
		return fault.New(fault.Argument, "want %s, got %d", fault.Numbers(lo, hi, "input"), len(in))
	}
	for i := range lo {
		if !present(in, i) {
			return fault.New(fault.Argument, "input %d is missing", i)
		}
	}
	if len(declared) < outLo || len(declared) > outHi {
		return fault.New(fault.Argument, "want %s, got %d", fault.Numbers(outLo, outHi, "output"), len(declared))
	}
	return nil
}

// wantType checks the element type of input i against ok; an unknown type passes.
func wantType(in []tensor.Fact, i int, what string, ok func(tensor.DType) bool) error {
	if d := in[i].DType; d != tensor.Invalid && !ok(d) {
		return fault.New(fault.Type, "input %d: want %s, got %v", i, what, d)
	}
	return nil
}

// sameType checks that inputs i and j have one element type; unknown types pass.
func sameType(in []tensor.Fact, i, j int) error {
	a, b := in[i].DType, in[j].DType
	if a != tensor.Invalid && b != tensor.Invalid && a != b {
		return fault.New(fault.Type, "input %d: want %v like input %d, got %v", j, a, i, b)
	}
	return nil
}

// wantRank checks the rank of input i; an unknown rank passes.
func wantRank(in []tensor.Fact, i, rank int) error {
	if r := in[i].Shape.Rank(); r >= 0 && r != rank {
		return fault.New(fault.Shape, "input %d: want rank %d, got %v", i, rank, in[i].Shape)
	}
	return nil
}

// Axis resolves a possibly negative axis of a tensor with rank dimensions; kind fault.Argument when it is outside
// [-rank, rank).
func Axis(axis int64, rank int) (int, error) {
	a := axis
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		if rank > 0 {
			return 0, fault.New(fault.Argument, "axis %d is outside a tensor of rank %d: want %d to %d", axis, rank, -rank,
				rank-1)
		}
		return 0, fault.New(fault.Argument, "axis %d is outside a tensor of rank 0: want one with dimensions", axis)
	}
	return int(a), nil
}

// numeric accepts every type that arithmetic is defined for.
func numeric(d tensor.DType) bool { return d.IsFloat() || d.IsInt() }

// outType is the type of an output: the declared element type and quantization when given, else those of like.
func outType(declared tensor.Type, like tensor.Fact, s tensor.Shape) tensor.Fact {
	t := tensor.Type{DType: like.DType, Shape: s, Quant: like.Quant}
	if declared.Quant != nil && declared.DType != tensor.Invalid {
		t.DType, t.Quant = declared.DType, declared.Quant
	}
	return tensor.Fact{Type: t}
}
