package ohnn

import (
	"fmt"
	"unsafe"

	"github.com/anynpu/anynpu/core/tensor"
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

// DataType is OH_NN_DataType. Programs pass any 32-bit value.
type DataType uint32

// The data types.
const (
	Unknown DataType = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	Float32
	Float64
	dataTypeEnd
)

var dataTypes = [dataTypeEnd]struct {
	name  string
	dtype tensor.DType
	size  uint64
}{
	{"OH_NN_UNKNOWN", tensor.Invalid, 0}, {"OH_NN_BOOL", tensor.Bool, 1}, {"OH_NN_INT8", tensor.Int8, 1},
	{"OH_NN_INT16", tensor.Int16, 2},
	{"OH_NN_INT32", tensor.Int32, 4}, {"OH_NN_INT64", tensor.Int64, 8}, {"OH_NN_UINT8", tensor.Uint8, 1},
	{"OH_NN_UINT16", tensor.Uint16, 2},
	{"OH_NN_UINT32", tensor.Uint32, 4}, {"OH_NN_UINT64", tensor.Uint64, 8}, {"OH_NN_FLOAT16", tensor.Float16, 2},
	{"OH_NN_FLOAT32", tensor.Float32, 4}, {"OH_NN_FLOAT64", tensor.Float64, 8},
}

func (d DataType) valid() bool { return d < dataTypeEnd }

// String returns the C name, or the number when there is none.
func (d DataType) String() string {
	if d.valid() {
		return dataTypes[d].name
	}
	return fmt.Sprintf("data type %d", int32(d))
}

// dtype returns core's element type, Invalid for Unknown.
func (d DataType) dtype() tensor.DType { return dataTypes[d].dtype }

// size returns the bytes of one element, 0 for Unknown.
func (d DataType) size() uint64 { return dataTypes[d].size }

// dataTypeOf returns the API's data type for core's; Unknown for those the API has none for.
func dataTypeOf(d tensor.DType) DataType {
	for i, e := range dataTypes {
		if e.dtype == d {
			return DataType(i)
		}
	}
	return Unknown
}

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

// TensorType is OH_NN_TensorType: 0 for data, otherwise which operator parameter a tensor is.
type TensorType uint32

const (
	dataTensor    TensorType = 0
	tensorTypeEnd TensorType = 163
)

// OperationType is OH_NN_OperationType.
type OperationType uint32

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
	maxIndices    = 200
	maxDescRank   = 10
	maxLegacyRank = 200
	maxTensorSize = 1<<32 - 1
	maxBufferSize = 1 << 30
	maxExtensions = 200
)
