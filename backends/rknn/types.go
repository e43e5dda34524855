package rknn

import (
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

// Limits of rknn_api.h.
const (
	maxDims = 16
	maxName = 256
)

// Queries of rknn_query.
const (
	queryInOutNum   = 0
	queryInputAttr  = 1
	queryOutputAttr = 2
	queryPerfRun    = 4
)

// What rknn_mem_sync is asked for.
const (
	syncToDevice   = 1
	syncFromDevice = 2
)

// Codes of rknn_init that say that the model is at fault, not the driver.
var modelCodes = map[int32]string{-6: "RKNN_ERR_MODEL_INVALID", -10: "RKNN_ERR_DEVICE_UNMATCH",
	-11: "RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL", -12: "RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION",
	-13: "RKNN_ERR_TARGET_PLATFORM_UNMATCH"}

const codeMallocFail = -4

// The formats of a tensor.
const (
	formatNCHW = iota
	formatNHWC
	formatNC1HWC2
	formatUndefined
)

// The kinds of quantization.
const (
	quantNone   = 0
	quantDFP    = 1
	quantAffine = 2
)

// The structs of rknn_api.h; pointers are numbers.

type inOutNum struct{ inputs, outputs uint32 }

type tensorAttr struct {
	index, rank    uint32
	dims           [maxDims]uint32
	name           [maxName]byte
	elems, size    uint32
	format         uint32
	kind           uint32
	quant          uint32
	fl             int8
	zero           int32
	scale          float32
	wStride        uint32
	sizeWithStride uint32
	passThrough    uint8
	hStride        uint32
}

type tensorMem struct {
	virt   uintptr
	phys   uint64
	fd     int32
	offset int32
	size   uint32
	flags  uint32
	priv   uintptr
}

// productF32 is RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32.
const productF32 = 1

type matmulInfo struct {
	m, k, n           int32
	kind              int32
	bLayout, bQuant   int16
	acLayout, acQuant int16
	domain            int32
	group             int16
	_                 [34]int8
}

type matmulAttr struct {
	name [maxName]byte
	rank uint32
	dims [maxDims]uint32
	size uint32
	kind uint32
}

type matmulIO struct{ a, b, c matmulAttr }

// dtypes are core's types for rknn_tensor_type, Invalid for what has no whole bytes.
var dtypes = [...]tensor.DType{tensor.Float32, tensor.Float16, tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16,
	tensor.Int32, tensor.Uint32, tensor.Int64, tensor.Bool, tensor.Invalid, tensor.BFloat16}

// number is a scale that can be one.
func number(f float32) bool {
	return f > 0 && !math.IsInf(float64(f), 0)
}
