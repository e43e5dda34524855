package rknn

import (
	"unsafe"

	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// The names by which the glue knows types of the API.
type (
	Code             = spec.Code
	QueryCmd         = spec.QueryCmd
	MemSyncMode      = spec.MemSyncMode
	TensorAttr       = spec.TensorAttr
	TensorMem        = spec.TensorMem
	MatmulInfo       = spec.MatmulInfo
	MatmulTensorAttr = spec.MatmulTensorAttr
	MatmulIOAttr     = spec.MatmulIOAttr
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

// CoreMask is rknn_core_mask.
type CoreMask uint32

// Flags of rknn_tensor_mem: who the memory belongs to.
const (
	memAllocInside uint32 = 1
	memFromFD      uint32 = 2
	memFromPhys    uint32 = 3
)

// The structs of rknn_api.h; pointers that are stored through are numbers, because what C memory held before must never
// look like a Go pointer.

// InputRange is rknn_input_range.
type InputRange struct {
	index, shapes uint32
	format        spec.Format
	name          [spec.MaxNameLen]byte
	dims          [spec.MaxShapes][spec.MaxDims]uint32
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

// Input is rknn_input.
type Input struct {
	index       uint32
	buf         uintptr
	size        uint32
	passThrough uint8
	kind        spec.Type
	format      spec.Format
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
