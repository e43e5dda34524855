package rknn

import "github.com/anynpu/anynpu/conformance/suite/cmem"

// The structs of the API on 64-bit hosts, as the RKNN types notes, section 4, lay them out.

// InOutNum is rknn_input_output_num.
type InOutNum struct{ In, Out uint32 }

// TensorAttr is rknn_tensor_attr.
type TensorAttr struct {
	Index, Rank    uint32
	Dims           [16]uint32
	Name           [256]byte
	Elems, Size    uint32
	Format, Kind   uint32
	Qnt            uint32
	Fl             int8
	_              [3]byte
	Zp             int32
	Scale          float32
	WStride        uint32
	SizeWithStride uint32
	PassThrough    uint8
	_              [3]byte
	HStride        uint32
}

// InputRange is rknn_input_range.
type InputRange struct {
	Index, Shapes, Format uint32
	Name                  [256]byte
	Dims                  [512][16]uint32
	Rank                  uint32
}

// PerfDetail is rknn_perf_detail.
type PerfDetail struct {
	Data   uintptr
	Length uint64
}

// SDKVersion is rknn_sdk_version.
type SDKVersion struct{ API, Driver [256]byte }

// MemSize is rknn_mem_size.
type MemSize struct {
	Weight, Internal uint32
	Dma              uint64
	Sram, FreeSRAM   uint32
	_                [10]uint32
}

// TensorMem is rknn_tensor_mem.
type TensorMem struct {
	Virt        uintptr
	Phys        uint64
	FD, Offset  int32
	Size, Flags uint32
	Priv        uintptr
}

// Input is rknn_input.
type Input struct {
	Index        uint32
	Buf          uintptr
	Size         uint32
	PassThrough  uint8
	_            [3]byte
	Kind, Format uint32
}

// Output is rknn_output.
type Output struct {
	WantFloat, IsPrealloc uint8
	_                     [2]byte
	Index                 uint32
	Buf                   uintptr
	Size                  uint32
}

// InitExtend is rknn_init_extend.
type InitExtend struct {
	Context     uintptr
	Offset      int32
	Size        uint32
	FD          int32
	BufferFlags uint32
	_           [112]byte
}

// RunExtend is rknn_run_extend.
type RunExtend struct {
	Frame               uint64
	NonBlock, TimeoutMS int32
	Fence               int32
}

// OutputExtend is rknn_output_extend.
type OutputExtend struct{ Frame uint64 }

// OpContext is rknn_custom_op_context.
type OpContext struct {
	Target uint32
	_      uint64     // internal_ctx
	_      [3]uintptr // gpu_ctx
	Priv   uintptr
}

// OpTensor is rknn_custom_op_tensor.
type OpTensor struct {
	Attr TensorAttr
	Mem  TensorMem
}

// OpAttr is rknn_custom_op_attr.
type OpAttr struct {
	Name         [256]byte
	Kind, NElems uint32
	Data         uintptr
}

// CustomOp is rknn_custom_op.
type CustomOp struct {
	Version, Target        uint32
	OpType                 [256]byte
	_                      [256]byte // cl_kernel_name
	_                      uintptr   // cl_kernel_source
	_                      uint64    // cl_source_size
	_                      [256]byte // cl_build_options
	Init, Prepare, Compute uintptr
	ComputeNative          uintptr
	Destroy                uintptr
}

// Enumerators of the API.
const (
	Float32  = 0
	Float16  = 1
	Int8     = 2
	Uint8    = 3
	Int16    = 4
	Uint16   = 5
	Int32    = 6
	Uint32   = 7
	Int64    = 8
	Bool     = 9
	Int4     = 10
	BFloat16 = 11

	NCHW      = 0
	NHWC      = 1
	NC1HWC2   = 2
	Undefined = 3

	QntNone   = 0
	QntAffine = 2

	FlagAsync          = 0x4
	FlagPerf           = 0x8
	FlagOutside        = 0x10
	FlagShareWeight    = 0x20
	FlagFenceIn        = 0x40
	FlagFenceOut       = 0x80
	FlagInfoOnly       = 0x100
	FlagInternal       = 0x200
	FlagZeroCopyModel  = 0x10000
	MemNoContext       = 0x20000
	QueryInOutNum      = 0
	QueryInput         = 1
	QueryOutput        = 2
	QueryPerfDetail    = 3
	QueryPerfRun       = 4
	QueryVersion       = 5
	QueryMemSize       = 6
	QueryString        = 7
	QueryNativeInput   = 8
	QueryNativeOutput  = 9
	QueryNHWCInput     = 10
	QueryNHWCOutput    = 11
	QueryDeviceMem     = 12
	QueryRange         = 13
	QueryCurrentInput  = 14
	QueryCurrentOutput = 15
	QueryCurrentNatIn  = 16
	QueryCurrentNatOut = 17
	SizeAttr           = 376
	SizeRange          = 33040
	SizeVersion        = 512
	SizeString         = 1024
	SizeMemSize        = 64
	SizeMem            = 40
)

// TextOf is the string in a fixed array.
func TextOf(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// ElemSize is the number of bytes of an element of a type.
func ElemSize(kind uint32) int {
	switch kind {
	case Float32, Int32, Uint32:
		return 4
	case Float16, Int16, Uint16, BFloat16:
		return 2
	case Int64:
		return 8
	}
	return 1
}

// Floats are the elements of a tensor that a function of an operator gets.
func (x *OpTensor) Floats() []float32 {
	return cmem.Span[float32](x.Mem.Virt+uintptr(x.Mem.Offset), int(x.Attr.Elems))
}
