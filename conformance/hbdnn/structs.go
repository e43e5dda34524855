package hbdnn

import "github.com/anynpu/anynpu/conformance/suite/cmem"

// The structs of the API on 64-bit hosts, as the hbDNN types notes, section 2, lay them out for 1.18 to 1.24.

// SysMem is hbSysMem.
type SysMem struct {
	Phys uint64
	Virt uintptr
	Size uint32
	_    uint32
}

// Shape is hbDNNTensorShape.
type Shape struct {
	Dims [8]int32
	Rank int32
}

// ShapeOf is a shape with these sizes.
func ShapeOf(dims ...int32) (s Shape) {
	s.Rank = int32(copy(s.Dims[:], dims))
	return s
}

// Sizes are the sizes of a shape.
func (s *Shape) Sizes() []int32 { return s.Dims[:s.Rank] }

// Properties is hbDNNTensorProperties.
type Properties struct {
	Valid, Aligned Shape
	Layout, Kind   int32
	ShiftLen       int32
	_              int32
	Shift          uintptr
	ScaleLen       int32
	_              int32
	Scale          uintptr
	ZeroLen        int32
	_              int32
	Zero           uintptr
	Quant, Axis    int32
	Bytes          int32
	Stride         [8]int32
	_              int32
}

// Tensor is hbDNNTensor.
type Tensor struct {
	Mem        [4]SysMem
	Properties Properties
}

// Roi is hbDNNRoi.
type Roi struct{ Left, Top, Right, Bottom int32 }

// Control is hbDNNInferCtrlParam.
type Control struct {
	Bpu, Dsp, Priority, More int32
	Custom                   int64
	_                        [2]int32
}

// ResizeControl is hbDNNResizeCtrlParam.
type ResizeControl struct {
	Bpu, Priority, Kind int32
	_                   [4]int32
}

// Of are n elements of the memory.
func Of[E any](m *SysMem, n int) []E { return cmem.Span[E](m.Virt, n) }

// The layouts.
const (
	NHWC = 0
	NHCW = 1
	NCHW = 2
	None = 255
)

// The element types.
const (
	Y            = 0
	NV12         = 1
	NV12Separate = 2
	YUV444       = 3
	RGB          = 4
	BGR          = 5
	S4           = 6
	S8           = 8
	U8           = 9
	F16          = 10
	S16          = 11
	U16          = 12
	F32          = 13
	S32          = 14
	F64          = 16
	S64          = 17
)
