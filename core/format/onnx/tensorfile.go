package onnx

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// ReadTensor reads a serialized TensorProto, the form in which test data of the ONNX project comes. External data is
// refused.
func ReadTensor(data []byte) (name string, t tensor.Tensor, err error) {
	p, err := (&model{}).parseTensor(field{typ: protowire.BytesType, bytes: data})
	if err != nil {
		return "", t, err
	}
	typ, size, err := p.tensorType()
	if err != nil {
		return p.name, t, fault.Wrap(err, "tensor %q", p.name)
	}
	im := importer{}
	values, own, err := im.bytes(p, size, typ.DType)
	if own != nil {
		own.close()
	}
	if err != nil {
		return p.name, t, fault.Wrap(err, "tensor %q", p.name)
	}
	dims, _ := typ.Shape.Ints()
	return p.name, tensor.Tensor{DType: typ.DType, Dims: dims, Data: bytes.Clone(values)}, nil
}
