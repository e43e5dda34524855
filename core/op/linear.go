package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// linear checks the element types of a sum of products (x, w, bias?) and returns the output's type with shape s.
//
//	float      x, w, bias of one float type
//	quantized  x and w integers with quantization (int8, uint8, int16; w also int4 and uint4), bias int32 (int64 for int16 x) with its own
//	           quantization or in units of scale(x)*scale(w), or float. The output has the declared quantization, or is plain float if that
//	           is declared, else it is quantized like x.
//	mixed      one of x and w quantized, the other float: the quantized one stands for its real values
//	integer    x, w, bias of one of int32, int64, uint32, uint64: wraps around
func linear(in []tensor.Fact, declared tensor.Type, s tensor.Shape) (tensor.Fact, error) {
	x, w := in[0], in[1]
	for i, f := range in[:2] {
		if err := summand(f); err != nil {
			return tensor.Fact{}, fault.Wrap(err, "input %d", i)
		}
	}
	known := x.DType != tensor.Invalid && w.DType != tensor.Invalid
	if known && x.Quant == nil && w.Quant == nil && x.DType != w.DType {
		return tensor.Fact{}, fault.New(fault.Type, "input 1: want %v like input 0, got %v", x.DType, w.DType)
	}
	for i, f := range in[:2] {
		if other := in[1-i]; known && f.Quant != nil && other.Quant == nil && !other.DType.IsFloat() {
			return tensor.Fact{}, fault.New(fault.Type, "input %d: %v without quantization next to a quantized input", 1-i,
				other.DType)
		}
	}
	if present(in, 2) && known {
		b := in[2].DType
		switch {
		case b == tensor.Invalid, b.IsFloat() && (x.Quant != nil || w.Quant != nil), b == x.DType && x.Quant == nil:
		case x.Quant != nil && (b == tensor.Int32 || b == tensor.Int64):
		default:
			return tensor.Fact{}, fault.New(fault.Type, "input 2: bias of type %v for %v", b, x.Type)
		}
	}
	out := outType(declared, x, s)
	switch {
	case declared.Quant != nil:
	case x.Quant != nil && declared.DType.IsFloat():
		out.DType, out.Quant = declared.DType, nil
	case x.Quant == nil && w.Quant != nil && x.DType == tensor.Invalid:
		out.DType = tensor.Invalid
	case out.Quant != nil && !out.Quant.IsPerTensor():
		return out, fault.New(fault.Type, "output: a quantization must be declared when input 0 has one per channel")
	}
	return out, nil
}

// summand checks one operand of a sum of products.
func summand(f tensor.Fact) error {
	d := f.DType
	switch {
	case d == tensor.Invalid, d == tensor.Float16, d == tensor.BFloat16, d == tensor.Float32, d == tensor.Float64:
		return nil
	case f.Quant != nil && (d == tensor.Int8 || d == tensor.Uint8 || d == tensor.Int16 || d == tensor.Uint16 ||
		d == tensor.Int4 || d == tensor.Uint4):
		return nil
	case f.Quant == nil && (d == tensor.Int32 || d == tensor.Int64 || d == tensor.Uint32 || d == tensor.Uint64):
		return nil
	case f.Quant == nil && d.IsInt():
		return fault.New(fault.Type, "%v without quantization: widen it to int32 or quantize it", d)
	}
	return fault.New(fault.Type, "want a float, int32 or quantized type, got %v", f.Type)
}
