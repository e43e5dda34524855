package rules

import (
	"math"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// The structs of the API, as OH_NN types notes, sections 3 and 4, lay them out.

// legacyQuant is OH_NN_QuantParam.
type legacyQuant struct {
	count  uint32
	bits   *uint32
	scales *float64
	zeros  *int32
}

// legacyTensor is OH_NN_Tensor.
type legacyTensor struct {
	dataType   int32
	rank       uint32
	dims       *int32
	quant      *legacyQuant
	tensorType int32
}

func legacy(dataType int32, dims ...int32) *legacyTensor {
	t := &legacyTensor{dataType: dataType, rank: uint32(len(dims))}
	if len(dims) > 0 {
		t.dims = cmem.Pointer(dims)
	}
	return t
}

// memory is OH_NN_Memory.
type memory struct {
	data   uintptr
	length uintptr
}

// tensorInfo is OH_NN_TensorInfo.
type tensorInfo struct {
	name     [128]byte
	dataType int32
	rank     uint32
	dims     *int32
	format   int32
}

// extension is OH_NN_Extension.
type extension struct {
	name  [128]byte
	value *byte
	size  uintptr
}

// The return codes, as cases name them.
const (
	success  = ohnn.Success
	failed   = ohnn.Failed
	invalid  = ohnn.InvalidParameter
	memError = ohnn.MemoryError
	forbid   = ohnn.Forbidden
	nullPtr  = ohnn.NullPtr
	badFile  = ohnn.InvalidFile
	timedOut = ohnn.Timeout
	unsup    = ohnn.Unsupported
	saveErr  = ohnn.SaveCacheException
	dynamic  = ohnn.DynamicShape
	unavail  = ohnn.Unavailable
)

// Enumerators that the cases use.
const (
	boolean  = 1
	int8T    = 2
	int16T   = 3
	int32T   = 4
	int64T   = 5
	uint8T   = 6
	uint16T  = 7
	uint32T  = 8
	uint64T  = 9
	float16T = 10
	float32T = 11
	float64T = 12

	opAdd       = 1
	opGather    = 16
	opMatMul    = 19
	opMul       = 22
	opSlice     = 29
	opSub       = 38
	opTranspose = 41
	opCast      = 6
	opReshape   = 45
	opRelu      = 47

	addActivation = 1  // OH_NN_ADD_ACTIVATIONTYPE
	subActivation = 59 // OH_NN_SUB_ACTIVATIONTYPE
)

const maxBuffer = 1 << 30

var hugeSize = uint64(math.MaxUint64)
