package rules

import "github.com/anynpu/anynpu/conformance/rknn"

// The structs of the API on 64-bit hosts, as the RKNN types notes, section 4, lay them out.

type inOutNum struct{ in, out uint32 }

type tensorAttr struct {
	index, rank    uint32
	dims           [16]uint32
	name           [256]byte
	elems, size    uint32
	format, kind   uint32
	qnt            uint32
	fl             int8
	_              [3]byte
	zp             int32
	scale          float32
	wStride        uint32
	sizeWithStride uint32
	passThrough    uint8
	_              [3]byte
	hStride        uint32
}

type inputRange struct {
	index, shapes, format uint32
	name                  [256]byte
	dims                  [512][16]uint32
	rank                  uint32
}

type perfDetail struct {
	data   uintptr
	length uint64
}

type sdkVersion struct{ api, driver [256]byte }

type memSize struct {
	weight, internal uint32
	dma              uint64
	sram, freeSRAM   uint32
	_                [10]uint32
}

type tensorMem struct {
	virt        uintptr
	phys        uint64
	fd, offset  int32
	size, flags uint32
	priv        uintptr
}

type input struct {
	index        uint32
	buf          uintptr
	size         uint32
	passThrough  uint8
	_            [3]byte
	kind, format uint32
}

type output struct {
	wantFloat, isPrealloc uint8
	_                     [2]byte
	index                 uint32
	buf                   uintptr
	size                  uint32
}

type initExtend struct {
	context     uintptr
	offset      int32
	size        uint32
	fd          int32
	bufferFlags uint32
	_           [112]byte
}

type runExtend struct {
	frame               uint64
	nonBlock, timeoutMS int32
	fence               int32
}

type outputExtend struct{ frame uint64 }

type opContext struct {
	target uint32
	_      uint64     // internal_ctx
	_      [3]uintptr // gpu_ctx
	priv   uintptr
}

type opTensor struct {
	attr tensorAttr
	mem  tensorMem
}

type opAttr struct {
	_            [256]byte // name
	kind, nElems uint32
	data         uintptr
}

type customOp struct {
	version, target        uint32
	opType                 [256]byte
	_                      [256]byte // cl_kernel_name
	_                      uintptr   // cl_kernel_source
	_                      uint64    // cl_source_size
	_                      [256]byte // cl_build_options
	init, prepare, compute uintptr
	computeNative          uintptr
	destroy                uintptr
}

// Enumerators of the API.
const (
	float32T  = 0
	float16T  = 1
	int8T     = 2
	uint8T    = 3
	int16T    = 4
	uint16T   = 5
	int32T    = 6
	uint32T   = 7
	int64T    = 8
	boolT     = 9
	int4T     = 10
	bfloat16T = 11

	nchw      = 0
	nhwc      = 1
	nc1hwc2   = 2
	undefined = 3

	qntNone   = 0
	qntAffine = 2

	flagAsync          = 0x4
	flagPerf           = 0x8
	flagOutside        = 0x10
	flagShareWeight    = 0x20
	flagFenceIn        = 0x40
	flagFenceOut       = 0x80
	flagInfoOnly       = 0x100
	flagInternal       = 0x200
	flagZeroCopyModel  = 0x10000
	memFlagNoContext   = 0x20000
	queryInOutNum      = 0
	queryInput         = 1
	queryOutput        = 2
	queryPerfDetail    = 3
	queryPerfRun       = 4
	queryVersion       = 5
	queryMemSize       = 6
	queryString        = 7
	queryNativeInput   = 8
	queryNativeOutput  = 9
	queryNHWCInput     = 10
	queryNHWCOutput    = 11
	queryDeviceMem     = 12
	queryRange         = 13
	queryCurrentInput  = 14
	queryCurrentOutput = 15
	queryCurrentNatIn  = 16
	queryCurrentNatOut = 17
	structSizeAttr     = 376
	structSizeRange    = 33040
	structSizeVersion  = 512
	structSizeString   = 1024
	structSizeMemSize  = 64
	structSizeMem      = 40
)

// The return codes, as cases name them.
const (
	success    = rknn.Success
	failed     = rknn.Fail
	badParam   = rknn.ParamInvalid
	badModel   = rknn.ModelInvalid
	badContext = rknn.CtxInvalid
	badInput   = rknn.InputInvalid
	badOutput  = rknn.OutputInvalid
	skipOp     = rknn.SkipCompute
)

// textOf is the string in a fixed array.
func textOf(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// elemSize is the number of bytes of an element of a type.
func elemSize(kind uint32) int {
	switch kind {
	case float32T, int32T, uint32T:
		return 4
	case float16T, int16T, uint16T, bfloat16T:
		return 2
	case int64T:
		return 8
	}
	return 1
}
