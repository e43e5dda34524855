package hbucp

import (
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/tensor"
)

// Task is an hbUCPTaskHandle_t.
type Task = hb.Task

// Packed is an hbDNNPackedHandle_t.
type Packed = hb.Packed

// SysMem is hbUCPSysMem.
type SysMem struct {
	phys uint64
	virt uintptr
	size uint64
}

// SchedParam is hbUCPSchedParam.
type SchedParam struct {
	priority int32
	_        int32
	custom   int64
	backend  uint64
	_        [2]uint32 // deviceId, of which there is one
}

// maxDims is HB_DNN_TENSOR_MAX_DIMENSIONS.
const maxDims = 10

// TensorShape is hbDNNTensorShape.
type TensorShape struct {
	dims [maxDims]int32
	rank int32
}

// TensorProperties is hbDNNTensorProperties.
type TensorProperties struct {
	valid    TensorShape
	kind     int32
	scaleLen int32
	_        int32
	scale    uintptr
	zeroLen  int32
	_        int32
	zero     uintptr
	quant    int32
	axis     int32
	bytes    int64
	stride   [maxDims]int64
}

// Tensor is hbDNNTensor.
type Tensor struct {
	mem        SysMem
	properties TensorProperties
}

// Numbers of the API.
const (
	typeS8          int32  = 2
	typeU8          int32  = 3
	typeS16         int32  = 5
	typeS32         int32  = 8
	quantNone       int32  = 0
	quantScale      int32  = 1
	descString      int32  = 1
	flushInvalidate        = hb.FlushInvalidate
	flushClean             = hb.FlushClean
	open            int64  = -1 // a size or stride that is not known, or is for the program to say
	bpuCores        uint64 = 0xf
	bpuAny          uint64 = 1 << 7
	byteAlignment   int64  = 128 // of alignedByteSize
)

// kinds are the element types that programs see.
var kinds = map[tensor.DType]int32{
	tensor.Int8: typeS8, tensor.Uint8: typeU8, tensor.Float16: 4, tensor.Int16: typeS16, tensor.Uint16: 6,
	tensor.Float32: 7, tensor.Int32: typeS32, tensor.Uint32: 9, tensor.Float64: 10, tensor.Int64: 11, tensor.Uint64: 12,
	tensor.Bool: 13,
}

var typeNames = [...]string{"S4", "U4", "S8", "U8", "F16", "S16", "U16", "F32", "S32", "U32", "F64", "S64", "U64",
	"BOOL8"}

// typeName is the name of an element type without its prefix.
func typeName(t int32) string {
	if t >= 0 && int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "unknown"
}
