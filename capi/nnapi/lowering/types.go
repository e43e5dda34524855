package lowering

import (
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// TypeOf returns an operand's type as core sees it. A bool's elements are 0 or 1 there.
func TypeOf(o *nnapi.Operand) tensor.Type { return typeOf(o) }

// typeOf returns an operand's type as core sees it; element type Invalid for those that core has no type for. The scale
// that a TENSOR_INT32 may have, of a bias, says nothing that the convolution's own operands do not.
func typeOf(o *nnapi.Operand) tensor.Type {
	t := tensor.Type{DType: o.Type.DType(), Shape: shapeOf(o)}
	f, _ := o.Type.Facts()
	switch f.Parameters {
	case nnapi.ScaleAndZero, nnapi.ScaleOnly:
		t.Quant = tensor.PerTensor(o.Scale, o.ZeroPoint)
	case nnapi.ChannelScales:
		if o.Channel != nil {
			t.Quant = &tensor.Quant{Scale: o.Channel.Scales, Axis: int(o.Channel.Dim)}
		}
	}
	return t
}

// shapeOf returns the operand's shape; a size of 0 is unknown, and so is the rank of a tensor without dimensions.
func shapeOf(o *nnapi.Operand) tensor.Shape {
	if o.Type.IsScalar() {
		return tensor.Of()
	}
	if len(o.Dims) == 0 {
		return tensor.AnyShape()
	}
	dims := make([]tensor.Dim, len(o.Dims))
	for i, d := range o.Dims {
		dims[i] = tensor.D(int64(d))
		if d == 0 {
			dims[i] = tensor.AnyDim()
		}
	}
	return tensor.OfDims(dims...)
}
