package rknn

import spec "github.com/anynpu/anynpu/core/spec/rknn"

// Values of rknn_matmul_layout and rknn_matmul_quant_type.
const (
	layoutNormal     = 0
	layoutNative     = 1
	layoutTransposed = 2

	quantGroupSym  = 4
	quantGroupAsym = 5
)

// defaultGroup is the group size of a program that leaves it 0.
const defaultGroup = 32

// MatmulShape is rknn_matmul_shape.
type MatmulShape struct{ m, k, n int32 }

// QuantParams is rknn_quant_params.
type QuantParams struct {
	name   [spec.MaxNameLen]byte
	scale  uintptr
	scales int32
	zp     uintptr
	zps    int32
}
