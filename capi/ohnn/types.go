package ohnn

import (
	"unsafe"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// ReturnCode is OH_NN_ReturnCode.
type ReturnCode uint32

// The return codes that the library uses; 7, 8 and 11 of the header are never returned.
const (
	Success            ReturnCode = 0
	Failed             ReturnCode = 1
	InvalidParameter   ReturnCode = 2
	MemoryError        ReturnCode = 3
	OperationForbidden ReturnCode = 4
	NullPtr            ReturnCode = 5
	InvalidFile        ReturnCode = 6
	Timeout            ReturnCode = 9
	Unsupported        ReturnCode = 10
	SaveCacheException ReturnCode = 12
	DynamicShape       ReturnCode = 13
	UnavailableDevice  ReturnCode = 14
)

// DeviceType is OH_NN_DeviceType.
type DeviceType uint32

// The device types.
const (
	DeviceOthers      DeviceType = 0
	DeviceCPU         DeviceType = 1
	DeviceGPU         DeviceType = 2
	DeviceAccelerator DeviceType = 3
)

// The types of the API that the device behind a driver writes models with too.
type (
	DataType      = spec.DataType
	TensorType    = spec.TensorType
	OperationType = spec.OperationType
)

// Format is OH_NN_Format.
type Format uint32

// The formats.
const (
	FormatNone Format = iota
	FormatNCHW
	FormatNHWC
	FormatND
	formatEnd
)

// PerformanceMode is OH_NN_PerformanceMode.
type PerformanceMode uint32

const performanceEnd PerformanceMode = 5

// Priority is OH_NN_Priority.
type Priority uint32

const priorityEnd Priority = 4

// UInt32Array is OH_NN_UInt32Array; data is nil exactly when size is 0.
type UInt32Array struct {
	data *uint32
	size uint32
}

// values returns the list; ok is false when data and size contradict each other.
func (a *UInt32Array) values() (v []uint32, ok bool) {
	if (a.data == nil) != (a.size == 0) {
		return nil, false
	}
	return unsafe.Slice(a.data, a.size), true
}

// QuantParam9 is the struct OH_NN_QuantParam of API 9.
type QuantParam9 struct {
	quantCount uint32
	numBits    *uint32
	scale      *float64
	zeroPoint  *int32
}

// TensorInfo9 is the struct OH_NN_Tensor of API 9.
type TensorInfo9 struct {
	dataType       DataType
	dimensionCount uint32
	dimensions     *int32
	quantParam     *QuantParam9
	tensorType     TensorType
}

// Memory is the struct OH_NN_Memory. It lives in C memory; programs read both fields.
type Memory struct {
	data   unsafe.Pointer
	length uintptr
}

// TensorInfo is the struct OH_NN_TensorInfo of the inner header.
type TensorInfo struct {
	_              [128]byte // name
	dataType       DataType
	dimensionCount uint32
	dimensions     *int32
	format         Format
}

// Extension is the struct OH_NN_Extension of the inner header.
type Extension struct {
	name      [128]byte
	value     *byte
	valueSize uintptr
}

// Limits of the API, section 12.
const (
	maxIndices    = spec.MaxIndices
	maxDescRank   = spec.MaxRank
	maxLegacyRank = 200
	maxTensorSize = 1<<32 - 1
	maxBufferSize = 1 << 30
	maxExtensions = 200
)
