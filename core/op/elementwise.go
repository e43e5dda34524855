package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// isReal reports whether the tensor stands for real numbers: a float type of any width, or quantized.
func isReal(t tensor.Type) bool { return t.DType.IsFloat() || t.Quant != nil && t.DType.IsInt() }

// isNumber reports whether arithmetic is defined: isReal or plain integers of at least 8 bits (4-bit integers are for
// storage only).
func isNumber(t tensor.Type) bool { return isReal(t) || t.DType.IsInt() && t.DType.Bits() >= 8 }

// isNumberOrBool is isNumber or Bool.
func isNumberOrBool(t tensor.Type) bool { return isNumber(t) || t.DType == tensor.Bool }

// isSignedNumber is isNumber without plain unsigned integers.
func isSignedNumber(t tensor.Type) bool {
	return isNumber(t) && (isReal(t) || t.DType.IsSigned())
}

// isPlainInt reports whether the tensor holds integers that stand for themselves.
func isPlainInt(t tensor.Type) bool {
	return t.Quant == nil && t.DType.IsInt() && t.DType.Bits() >= 8
}

const (
	realWords         = "a float or quantized type"
	numberWords       = "a float, quantized or integer type"
	numberOrBoolWords = "a float, quantized, integer or bool type"
	signedNumberWords = "a float, quantized or signed integer type"
	plainIntWords     = "an integer type without quantization"
)

// wantTensor checks the type of input i, quantization included, against ok; an unknown element type passes.
func wantTensor(in []tensor.Fact, i int, what string, ok func(tensor.Type) bool) error {
	if d := in[i].DType; d != tensor.Invalid && !ok(in[i].Type) {
		return fault.New(fault.Type, "input %d: want %s, got %v", i, what, typeWord(in[i].Type))
	}
	return nil
}

// typeWord names an element type in messages: int8, or "quantized int8".
func typeWord(t tensor.Type) string {
	if t.Quant != nil {
		return "quantized " + t.DType.String()
	}
	return t.DType.String()
}

// sameKind checks that inputs i and j have one element type and are both quantized or both not; unknown types pass.
func sameKind(in []tensor.Fact, i, j int) error {
	if err := sameType(in, i, j); err != nil {
		return err
	}
	a, b := in[i], in[j]
	if a.DType != tensor.Invalid && b.DType != tensor.Invalid && (a.Quant == nil) != (b.Quant == nil) {
		return fault.New(fault.Type, "input %d: want %s like input %d, got %s", j, typeWord(a.Type), i, typeWord(b.Type))
	}
	return nil
}

// unary infers an operator with one input whose output has the input's type and shape.
func unary(in []tensor.Fact, declared []tensor.Type, what string, ok func(tensor.Type) bool) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, what, ok); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}, nil
}

// predicate infers an operator with one input whose output is a bool of the input's shape.
func predicate(in []tensor.Fact, declared []tensor.Type, what string, ok func(tensor.Type) bool) ([]tensor.Fact,
	error) {
	if _, err := unary(in, declared, what, ok); err != nil {
		return nil, err
	}
	return []tensor.Fact{{Type: tensor.Type{DType: tensor.Bool, Shape: in[0].Shape}}}, nil
}

// binary infers an operator of two inputs of one type with NumPy broadcasting; the result has their type.
func binary(in []tensor.Fact, declared []tensor.Type, what string, ok func(tensor.Type) bool) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	for i := range 2 {
		if err := wantTensor(in, i, what, ok); err != nil {
			return nil, err
		}
	}
	if err := sameKind(in, 0, 1); err != nil {
		return nil, err
	}
	s, err := broadcastInputs(in, 0, 1)
	if err != nil {
		return nil, err
	}
	like := in[0]
	if like.DType == tensor.Invalid {
		like = in[1]
	}
	return []tensor.Fact{outType(declared[0], like, s)}, nil
}

// comparison infers an operator of two inputs of one type with NumPy broadcasting and a bool result.
func comparison(in []tensor.Fact, declared []tensor.Type, what string, ok func(tensor.Type) bool) ([]tensor.Fact,
	error) {
	out, err := binary(in, declared, what, ok)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{{Type: tensor.Type{DType: tensor.Bool, Shape: out[0].Shape}}}, nil
}

// wantScalar checks that input i has one element: rank 0 or a single dimension of size 1.
func wantScalar(in []tensor.Fact, i int) error {
	s := in[i].Shape
	if s.Rank() > 1 || s.Rank() == 1 && s.Dims[0].Known() && s.Dims[0].N != 1 {
		return fault.New(fault.Shape, "input %d: want one element, got %v", i, s)
	}
	return nil
}

// wantVector checks that input i is a list: rank 1, or a scalar that stands for a list of one.
func wantVector(in []tensor.Fact, i int) error {
	if s := in[i].Shape; s.Rank() > 1 {
		return fault.New(fault.Shape, "input %d: want rank 1, got %v", i, s)
	}
	return nil
}

// wantIndex checks that input i has an integer type, as axes, sizes and counts have.
func wantIndex(in []tensor.Fact, i int) error {
	return wantType(in, i, "an integer type", tensor.DType.IsInt)
}

// axisOf checks axis against the rank of input i; known is false while the rank is unknown.
func axisOf(in []tensor.Fact, i int, axis int64) (a int, known bool, err error) {
	if !in[i].Shape.Ranked {
		return 0, false, nil
	}
	a, err = Axis(axis, in[i].Shape.Rank())
	return a, err == nil, err
}

// broadcastInputs returns the shape that inputs i and j broadcast to; kind fault.Shape when they do not.
func broadcastInputs(in []tensor.Fact, i, j int) (tensor.Shape, error) {
	s, err := tensor.Broadcast(in[i].Shape, in[j].Shape)
	if err != nil {
		return s, fault.New(fault.Shape, "inputs %d and %d: %v", i, j, err)
	}
	return s, nil
}
