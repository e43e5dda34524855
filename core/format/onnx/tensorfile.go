package onnx

import (
	"bytes"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReadTensor reads a serialized TensorProto, the form in which test data of the ONNX project comes. External data is
// refused.
func ReadTensor(data []byte) (name string, t tensor.Tensor, err error) {
	p, err := proto.ParseTensor(data)
	if err != nil {
		return "", t, err
	}
	typ, size, err := p.TypeAndSize()
	if err != nil {
		return p.Name, t, fault.Wrap(err, "tensor %q", p.Name)
	}
	values, own, err := p.Bytes("", size, typ.DType)
	if own != nil {
		own.Close()
	}
	if err != nil {
		return p.Name, t, fault.Wrap(err, "tensor %q", p.Name)
	}
	dims, _ := typ.Shape.Ints()
	return p.Name, tensor.Tensor{DType: typ.DType, Dims: dims, Data: bytes.Clone(values)}, nil
}
