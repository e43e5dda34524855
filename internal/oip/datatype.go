// Package oip reads and writes the messages of the Open Inference Protocol, version 2: those of the gRPC service
// inference.GRPCInferenceService (oip.proto) and their JSON twins with binary tensors. It opens no connection: a client
// and a server bring their own. Tensors are never copied when a message is written, and are views of what was read.
//
// Everything that is read is bounded (Max...), as it comes from strangers.
package oip

import (
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/tensor"
)

// Bytes is the datatype of tensors whose elements are strings of bytes; no element type of core stands for it. Raw, an
// element is its length as a little-endian uint32 and then its bytes.
const Bytes = "BYTES"

// Datatype returns the protocol's name of an element type, e.g. "FP32"; ok is false when it has none.
func Datatype(d tensor.DType) (name string, ok bool) { return link.Datatype(d) }

// DType returns the element type of a datatype; ok is false for Bytes and for names that the protocol does not have.
func DType(datatype string) (d tensor.DType, ok bool) { return link.DType(datatype) }
