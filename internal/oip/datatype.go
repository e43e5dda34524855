// Package oip reads and writes the messages of the Open Inference Protocol, version 2: those of the gRPC service
// inference.GRPCInferenceService (oip.proto) and their JSON twins with binary tensors. It opens no connection: a client
// and a server bring their own. Tensors are never copied when a message is written, and are views of what was read.
//
// Everything that is read is bounded (Max...), as it comes from strangers.
package oip

import "github.com/anynpu/anynpu/core/tensor"

// Bytes is the datatype of tensors whose elements are strings of bytes; no element type of core stands for it. Raw, an
// element is its length as a little-endian uint32 and then its bytes.
const Bytes = "BYTES"

var datatypes = map[tensor.DType]string{
	tensor.Bool: "BOOL", tensor.Uint8: "UINT8", tensor.Uint16: "UINT16", tensor.Uint32: "UINT32", tensor.Uint64: "UINT64",
	tensor.Int8: "INT8", tensor.Int16: "INT16", tensor.Int32: "INT32", tensor.Int64: "INT64",
	tensor.Float16: "FP16", tensor.Float32: "FP32", tensor.Float64: "FP64", tensor.BFloat16: "BF16",
}

var dtypes = func() map[string]tensor.DType {
	m := make(map[string]tensor.DType, len(datatypes))
	for d, name := range datatypes {
		m[name] = d
	}
	return m
}()

// Datatype returns the protocol's name of an element type, e.g. "FP32"; ok is false when it has none.
func Datatype(d tensor.DType) (name string, ok bool) {
	name, ok = datatypes[d]
	return name, ok
}

// DType returns the element type of a datatype; ok is false for Bytes and for names that the protocol does not have.
func DType(datatype string) (d tensor.DType, ok bool) {
	d, ok = dtypes[datatype]
	return d, ok
}
