package rknn

import (
	"fmt"
	"unsafe"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/tensor"
)

// Limits of rknn_api.h.
const (
	maxDims    = 16
	maxNameLen = 256
	maxShapes  = 512
)

// Flags of rknn_init and rknn_create_mem2 that mean something here.
const (
	flagCollectPerf      = 0x8
	flagMemAllocOutside  = 0x10
	flagShareWeight      = 0x20
	flagFenceIn          = 0x40
	flagFenceOut         = 0x80
	flagInfoOnly         = 0x100
	flagZeroCopyModel    = 0x10000
	memFlagsAllocNoOwner = 0x20000
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
)

var typeNames = [...]string{"FLOAT32", "FLOAT16", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64",
	"BOOL", "INT4", "BFLOAT16"}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return "RKNN_TENSOR_" + typeNames[t]
	}
	return fmt.Sprintf("rknn_tensor_type %d", uint32(t))
}

var dtypes = [...]tensor.DType{tensor.Float32, tensor.Float16, tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16,
	tensor.Int32,
	tensor.Uint32, tensor.Int64, tensor.Bool, tensor.Invalid, tensor.BFloat16}

// dtype is core's type of whole-byte elements, Invalid for others.
func (t Type) dtype() tensor.DType {
	if int(t) < len(dtypes) {
		return dtypes[t]
	}
	return tensor.Invalid
}

// size is the number of bytes of an element, 0 for types without whole bytes.
func (t Type) size() int64 { return int64(t.dtype().Bits() / 8) }

// QntType is rknn_tensor_qnt_type.
type QntType uint32

// The kinds of quantization that are reported.
const (
	QntNone   QntType = 0
	QntAffine QntType = 2
)

// Format is rknn_tensor_format.
type Format uint32

// The formats.
const (
	NCHW Format = iota
	NHWC
	NC1HWC2
	Undefined
)

var formatNames = [...]string{"NCHW", "NHWC", "NC1HWC2", "UNDEFINED"}

func (f Format) String() string {
	if int(f) < len(formatNames) {
		return "RKNN_TENSOR_" + formatNames[f]
	}
	return fmt.Sprintf("rknn_tensor_format %d", uint32(f))
}

// order is the order of dimensions that the format gives an image.
func (f Format) order() convert.Order {
	switch f {
	case NHWC:
		return convert.NHWC
	case NC1HWC2:
		return convert.NC1HWC2
	}
	return convert.NCHW
}

// CoreMask is rknn_core_mask, MemSyncMode is rknn_mem_sync_mode.
type (
	CoreMask    uint32
	MemSyncMode uint32
)

// Flags of rknn_tensor_mem: who the memory belongs to.
const (
	memAllocInside uint32 = 1
	memFromFD      uint32 = 2
	memFromPhys    uint32 = 3
)

// The structs of rknn_api.h; pointers that are stored through are numbers, because what C memory held before must never
// look like a Go pointer.

// InOutNum is rknn_input_output_num.
type InOutNum struct{ inputs, outputs uint32 }

// TensorAttr is rknn_tensor_attr.
type TensorAttr struct {
	index, rank    uint32
	dims           [maxDims]uint32
	name           [maxNameLen]byte
	elems, size    uint32
	format         Format
	kind           Type
	qnt            QntType
	_              int8 // fl
	zp             int32
	scale          float32
	wStride        uint32
	sizeWithStride uint32
	passThrough    uint8
	hStride        uint32
}

// InputRange is rknn_input_range.
type InputRange struct {
	index, shapes uint32
	format        Format
	name          [maxNameLen]byte
	dims          [maxShapes][maxDims]uint32
	rank          uint32
}

// PerfDetail is rknn_perf_detail.
type PerfDetail struct {
	data   uintptr
	length uint64
}

// PerfRun is rknn_perf_run.
type PerfRun struct{ microseconds int64 }

// SDKVersion is rknn_sdk_version.
type SDKVersion struct{ api, driver [256]byte }

// MemSize is rknn_mem_size.
type MemSize struct {
	weight, internal uint32
	dma              uint64
	_                [12]uint32 // SRAM sizes, reserved
}

// CustomString is rknn_custom_string.
type CustomString struct{ text [1024]byte }

// TensorMem is rknn_tensor_mem.
type TensorMem struct {
	virt   uintptr
	phys   uint64
	fd     int32
	offset int32
	size   uint32
	flags  uint32
	priv   uintptr
}

// Input is rknn_input.
type Input struct {
	index       uint32
	buf         uintptr
	size        uint32
	passThrough uint8
	kind        Type
	format      Format
}

// Output is rknn_output.
type Output struct {
	wantFloat  uint8
	isPrealloc uint8
	index      uint32
	buf        uintptr
	size       uint32
}

// InitExtend is rknn_init_extend.
type InitExtend struct {
	context     uintptr
	modelOffset int32
	modelSize   uint32
	modelFD     int32 // since 2.1: may hold anything without RKNN_FLAG_MODEL_BUFFER_ZERO_COPY
	_           [116]byte
}

// RunExtend is rknn_run_extend.
type RunExtend struct {
	frame uint64
	_     [3]int32 // non_block, timeout_ms, fence_fd
}

// OutputExtend is rknn_output_extend.
type OutputExtend struct{ frame uint64 }

// setText stores s and a NUL in a char array, cut off where it does not fit.
func setText(to []byte, s string) {
	n := copy(to[:len(to)-1], s)
	clear(to[n:])
}

// textOf reads a char array up to its NUL.
func textOf(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// cPointer makes a pointer of an address of C memory.
func cPointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }
