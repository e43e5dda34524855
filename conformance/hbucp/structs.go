package hbucp

import "github.com/anynpu/anynpu/conformance/suite/cmem"

// The structs of the API on 64-bit hosts, as the UCP notes, section 3, lay them out.

// SysMem is hbUCPSysMem.
type SysMem struct {
	Phys uint64
	Virt uintptr
	Size uint64
}

// Sched is hbUCPSchedParam.
type Sched struct {
	Priority int32
	_        int32
	Custom   int64
	Backend  uint64
	Device   uint32
	_        uint32
}

// Shape is hbDNNTensorShape.
type Shape struct {
	Dims [10]int32
	Rank int32
}

// Sizes are the sizes of a shape.
func (s *Shape) Sizes() []int32 { return s.Dims[:s.Rank] }

// Properties is hbDNNTensorProperties.
type Properties struct {
	Valid       Shape
	Kind        int32
	ScaleLen    int32
	_           int32
	Scale       uintptr
	ZeroLen     int32
	_           int32
	Zero        uintptr
	Quant, Axis int32
	Bytes       int64
	Stride      [10]int64
}

// Strides are those of its dimensions.
func (p *Properties) Strides() []int64 { return p.Stride[:p.Valid.Rank] }

// Tensor is hbDNNTensor.
type Tensor struct {
	Mem        SysMem
	Properties Properties
}

// Of are n elements of the memory.
func Of[E any](m *SysMem, n int) []E { return cmem.Span[E](m.Virt, n) }

// The element types.
const (
	S8    = 2
	U8    = 3
	F16   = 4
	S16   = 5
	F32   = 7
	S32   = 8
	S64   = 11
	BOOL8 = 13
)

// Hardware.
const (
	AnyCore    = 0
	BPUAny     = 1 << 7
	DSP0       = 1 << 8
	AllBackend = 0x3dfbef1b838f
)
