// Package rknn has the types, formats, queries and return codes of the API rknn: the numbers and names of rknn_api.h
// and rknn_matmul_api.h, and the structs that both the façade and the device behind a driver of the API read and write.
// Structs that only programs of the façade pass stand there.
package rknn

import (
	"fmt"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/tensor"
)

// Limits of rknn_api.h.
const (
	MaxDims    = 16
	MaxNameLen = 256
	MaxShapes  = 512
)

// Code is a return code of the API.
type Code int32

// The return codes.
const (
	Succ                        Code = 0
	ErrFail                     Code = -1
	ErrTimeout                  Code = -2
	ErrDevice                   Code = -3
	ErrMalloc                   Code = -4
	ErrParam                    Code = -5
	ErrModel                    Code = -6
	ErrContext                  Code = -7
	ErrInput                    Code = -8
	ErrOutput                   Code = -9
	ErrDeviceUnmatch            Code = -10
	ErrIncompatiblePreCompile   Code = -11
	ErrIncompatibleOptimization Code = -12
	ErrTargetMisfit             Code = -13
)

// QueryCmd is rknn_query_cmd.
type QueryCmd uint32

// The queries.
const (
	QueryInOutNum QueryCmd = iota
	QueryInputAttr
	QueryOutputAttr
	QueryPerfDetail
	QueryPerfRun
	QuerySDKVersion
	QueryMemSize
	QueryCustomString
	QueryNativeInputAttr
	QueryNativeOutputAttr
	QueryNativeNHWCInputAttr
	QueryNativeNHWCOutputAttr
	QueryDeviceMemInfo
	QueryInputDynamicRange
	QueryCurrentInputAttr
	QueryCurrentOutputAttr
	QueryCurrentNativeInputAttr
	QueryCurrentNativeOutputAttr
)

// MemSyncMode is rknn_mem_sync_mode.
type MemSyncMode uint32

// The directions.
const (
	SyncToDevice   MemSyncMode = 1
	SyncFromDevice MemSyncMode = 2
)

// Type is rknn_tensor_type.
type Type uint32

// The element types.
const (
	Float32 Type = iota
	Float16
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Bool
	Int4
	BFloat16
	TypeEnd // the first number that is none
)

var types = [TypeEnd]struct {
	name  string
	dtype tensor.DType
}{
	{"FLOAT32", tensor.Float32}, {"FLOAT16", tensor.Float16}, {"INT8", tensor.Int8}, {"UINT8", tensor.Uint8},
	{"INT16", tensor.Int16}, {"UINT16", tensor.Uint16}, {"INT32", tensor.Int32}, {"UINT32", tensor.Uint32},
	{"INT64", tensor.Int64}, {"BOOL", tensor.Bool}, {"INT4", tensor.Invalid}, {"BFLOAT16", tensor.BFloat16},
}

// Valid tells whether the API has the type.
func (t Type) Valid() bool { return t < TypeEnd }

// String returns the C name, or the number when there is none.
func (t Type) String() string {
	if t.Valid() {
		return "RKNN_TENSOR_" + types[t].name
	}
	return fmt.Sprintf("rknn_tensor_type %d", uint32(t))
}

// DType is core's type of whole-byte elements, Invalid for others.
func (t Type) DType() tensor.DType {
	if t.Valid() {
		return types[t].dtype
	}
	return tensor.Invalid
}

// TypeOf returns the type whose whole-byte elements are core's d; ok is false when there is none.
func TypeOf(d tensor.DType) (t Type, ok bool) {
	for t := range TypeEnd {
		if types[t].dtype == d && d != tensor.Invalid {
			return t, true
		}
	}
	return 0, false
}

// Size is the number of bytes of an element, 0 for types without whole bytes.
func (t Type) Size() int64 { return int64(t.DType().Bits() / 8) }

// MatrixType is core's type of the elements of a matrix.
func (t Type) MatrixType() tensor.DType {
	if t == Int4 {
		return tensor.Int4
	}
	return t.DType()
}

// QntType is rknn_tensor_qnt_type.
type QntType uint32

// The kinds of quantization.
const (
	QntNone QntType = iota
	QntDFP
	QntAffine
)

// Format is rknn_tensor_format.
type Format uint32

// The formats.
const (
	NCHW Format = iota
	NHWC
	NC1HWC2
	Undefined
	FormatEnd // the first number that is none
)

var formatNames = [FormatEnd]string{"NCHW", "NHWC", "NC1HWC2", "UNDEFINED"}

// Valid tells whether the API has the format.
func (f Format) Valid() bool { return f < FormatEnd }

// String returns the C name, or the number when there is none.
func (f Format) String() string {
	if f.Valid() {
		return "RKNN_TENSOR_" + formatNames[f]
	}
	return fmt.Sprintf("rknn_tensor_format %d", uint32(f))
}

// Order is the order of dimensions that the format gives an image.
func (f Format) Order() convert.Order {
	switch f {
	case NHWC:
		return convert.NHWC
	case NC1HWC2:
		return convert.NC1HWC2
	}
	return convert.NCHW
}
