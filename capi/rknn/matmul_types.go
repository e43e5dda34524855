package rknn

import "github.com/anynpu/anynpu/core/tensor"

// MatmulType is rknn_matmul_type: the element types of A, B and C.
type MatmulType uint32

// matmulTypes are the products there are (matmul notes, section 2). The numbers 13 and 14 are not used.
var matmulTypes = map[MatmulType]struct {
	name    string
	a, b, c Type
}{
	1:  {"RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32", Float16, Float16, Float32},
	2:  {"RKNN_INT8_MM_INT8_TO_INT32", Int8, Int8, Int32},
	3:  {"RKNN_INT8_MM_INT8_TO_INT8", Int8, Int8, Int8},
	4:  {"RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16", Float16, Float16, Float16},
	5:  {"RKNN_FLOAT16_MM_INT8_TO_FLOAT32", Float16, Int8, Float32},
	6:  {"RKNN_FLOAT16_MM_INT8_TO_FLOAT16", Float16, Int8, Float16},
	7:  {"RKNN_FLOAT16_MM_INT4_TO_FLOAT32", Float16, Int4, Float32},
	8:  {"RKNN_FLOAT16_MM_INT4_TO_FLOAT16", Float16, Int4, Float16},
	9:  {"RKNN_INT8_MM_INT8_TO_FLOAT32", Int8, Int8, Float32},
	10: {"RKNN_INT4_MM_INT4_TO_INT16", Int4, Int4, Int16},
	11: {"RKNN_INT8_MM_INT4_TO_INT32", Int8, Int4, Int32},
	12: {"RKNN_FLOAT16_MM_INT4_TO_BFLOAT16", Float16, Int4, BFloat16},
	15: {"RKNN_INT8_MM_INT4_TO_FLOAT16", Int8, Int4, Float16},
}

// Values of rknn_matmul_layout and rknn_matmul_quant_type.
const (
	layoutNormal     = 0
	layoutNative     = 1
	layoutTransposed = 2

	quantGroupSym  = 4
	quantGroupAsym = 5
)

// defaultGroup is the group size of a program that leaves it 0.
const defaultGroup = 32

// MatmulInfo is rknn_matmul_info. Programs of the headers before 2.0 pass the first 24 bytes only, with layouts of 32
// bits: what lies behind AC_quant_type is looked at for group quantization only, and the device address space never.
type MatmulInfo struct {
	m, k, n  int32
	kind     MatmulType
	bLayout  int16
	bQuant   int16
	acLayout int16
	acQuant  int16
	_        int32 // iommu_domain_id
	group    int16
	_        [34]int8
}

// MatmulShape is rknn_matmul_shape.
type MatmulShape struct{ m, k, n int32 }

// MatmulTensorAttr is rknn_matmul_tensor_attr.
type MatmulTensorAttr struct {
	name [maxNameLen]byte
	rank uint32
	dims [maxDims]uint32
	size uint32
	kind Type
}

// MatmulIOAttr is rknn_matmul_io_attr.
type MatmulIOAttr struct{ a, b, c MatmulTensorAttr }

// QuantParams is rknn_quant_params.
type QuantParams struct {
	name   [maxNameLen]byte
	scale  uintptr
	scales int32
	zp     uintptr
	zps    int32
}

// matrixType is core's type of the elements of a matrix.
func (t Type) matrixType() tensor.DType {
	if t == Int4 {
		return tensor.Int4
	}
	return t.dtype()
}
