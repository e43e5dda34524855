package hbdnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/hb"
)

// Task is an hbDNNTaskHandle_t.
type Task = hb.Task

// SysMem is hbSysMem.
type SysMem struct {
	phys uint64
	virt uintptr
	size uint32
	_    uint32
}

// maxDims is HB_DNN_TENSOR_MAX_DIMENSIONS.
const maxDims = 8

// TensorShape is hbDNNTensorShape.
type TensorShape struct {
	dims [maxDims]int32
	rank int32
}

// TensorProperties is the part of hbDNNTensorProperties that every generation has: its fields up to quantiType, and the
// next 4 bytes. A generation's reader and writer know the later fields.
type TensorProperties struct {
	valid, aligned TensorShape
	layout, kind   int32
	shiftLen       int32
	shift          uintptr
	scaleLen       int32
	scale          uintptr
	zeroLen        int32
	zero           uintptr
	quant          int32
	_              int32
}

// Tensor is the part of hbDNNTensor that every generation has.
type Tensor struct {
	mem        [4]SysMem
	properties TensorProperties
}

// Roi is hbDNNRoi.
type Roi struct{ left, top, right, bottom int32 }

// InferCtrlParam is hbDNNInferCtrlParam. Programs of generations without custom have reserved words of 0 there.
type InferCtrlParam struct {
	bpu, dsp, priority, more int32
	custom                   int64
	_                        [2]int32
}

// ResizeCtrlParam is hbDNNResizeCtrlParam.
type ResizeCtrlParam struct {
	bpu, priority, kind int32
	_                   [4]int32
}

// The layouts.
const (
	layoutNHWC int32 = 0
	layoutNHCW int32 = 1
	layoutNCHW int32 = 2
	layoutNone int32 = 255
)

// The element types of hbDNNDataType.
const (
	typeY            int32 = 0
	typeNV12         int32 = 1
	typeNV12Separate int32 = 2
	typeYUV444       int32 = 3
	typeRGB          int32 = 4
	typeBGR          int32 = 5
	typeS8           int32 = 8
	typeU8           int32 = 9
	typeF16          int32 = 10
	typeS16          int32 = 11
	typeU16          int32 = 12
	typeF32          int32 = 13
	typeS32          int32 = 14
	typeU32          int32 = 15
	typeF64          int32 = 16
	typeS64          int32 = 17
	typeU64          int32 = 18
	quantNone        int32 = 0
	quantShift       int32 = 1
	quantScale       int32 = 2
	descString       int32 = 1
	sourceDDR        int32 = 0
	sourceResizer    int32 = 1
	sourcePyramid    int32 = 2
	operatorUnknown  int32 = 0
	operatorConv     int32 = 1
	operatorArgMax   int32 = 5
	flushInvalidate  int32 = 1
	flushClean       int32 = 2
	resizeBilinear   int32 = 0
	widthAlignment         = 16 // of the rows of NV12 and Y
	maxTasks               = 32
	maxMembers             = hb.MaxMembers
	preemptive       int32 = hb.Preemptive
	maxCore          int32 = 3
)

var typeNames = [...]string{"Y", "NV12", "NV12_SEPARATE", "YUV444", "RGB", "BGR", "S4", "U4", "S8", "U8", "F16", "S16",
	"U16", "F32", "S32", "U32", "F64", "S64", "U64"}

// typeName is the name of an element type without its prefix.
func typeName(t int32) string {
	if t >= 0 && int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "unknown"
}

// elementSize is the bytes of an element of a tensor type, 0 for images, types of half a byte and what is no type.
func elementSize(t int32) int64 {
	switch t {
	case typeS8, typeU8:
		return 1
	case typeF16, typeS16, typeU16:
		return 2
	case typeF32, typeS32, typeU32:
		return 4
	case typeF64, typeS64, typeU64:
		return 8
	}
	return 0
}

// layoutName is the name of a layout without its prefix.
func layoutName(l int32) string {
	switch l {
	case layoutNHWC:
		return "NHWC"
	case layoutNHCW:
		return "NHCW_NATIVE"
	case layoutNCHW:
		return "NCHW"
	case layoutNone:
		return "NONE"
	}
	return "unknown"
}

// shapeOf is a shape with these sizes, at most maxDims.
func shapeOf(dims []int64) (s TensorShape) {
	for i, d := range dims {
		s.dims[i] = int32(d)
	}
	s.rank = int32(len(dims))
	return s
}

// list returns the sizes of a shape; ok is false when their number is none.
func (s *TensorShape) list() (dims []int64, ok bool) {
	if s.rank < 0 || s.rank > maxDims {
		return nil, false
	}
	for _, d := range s.dims[:s.rank] {
		dims = append(dims, int64(d))
	}
	return dims, true
}

func cPointer(addr uintptr) unsafe.Pointer { return hb.CPointer(addr) }

func addressOf(data []byte) uintptr { return hb.AddressOf(data) }

func bytesAt(addr uintptr, n int64) []byte { return hb.BytesAt(addr, n) }
