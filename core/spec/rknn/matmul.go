package rknn

// MatmulType is rknn_matmul_type: the element types of A, B and C.
type MatmulType uint32

// MatmulFloat16ToFloat32 is RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32.
const MatmulFloat16ToFloat32 MatmulType = 1

// Matmul is a kind of products.
type Matmul struct {
	Name    string
	A, B, C Type
}

// Matmuls are the products there are (docs/abi/rknn.md, matmul 2). The numbers 13 and 14 are not used.
var Matmuls = map[MatmulType]Matmul{
	MatmulFloat16ToFloat32: {"RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32", Float16, Float16, Float32},
	2:                      {"RKNN_INT8_MM_INT8_TO_INT32", Int8, Int8, Int32},
	3:                      {"RKNN_INT8_MM_INT8_TO_INT8", Int8, Int8, Int8},
	4:                      {"RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16", Float16, Float16, Float16},
	5:                      {"RKNN_FLOAT16_MM_INT8_TO_FLOAT32", Float16, Int8, Float32},
	6:                      {"RKNN_FLOAT16_MM_INT8_TO_FLOAT16", Float16, Int8, Float16},
	7:                      {"RKNN_FLOAT16_MM_INT4_TO_FLOAT32", Float16, Int4, Float32},
	8:                      {"RKNN_FLOAT16_MM_INT4_TO_FLOAT16", Float16, Int4, Float16},
	9:                      {"RKNN_INT8_MM_INT8_TO_FLOAT32", Int8, Int8, Float32},
	10:                     {"RKNN_INT4_MM_INT4_TO_INT16", Int4, Int4, Int16},
	11:                     {"RKNN_INT8_MM_INT4_TO_INT32", Int8, Int4, Int32},
	12:                     {"RKNN_FLOAT16_MM_INT4_TO_BFLOAT16", Float16, Int4, BFloat16},
	15:                     {"RKNN_INT8_MM_INT4_TO_FLOAT16", Int8, Int4, Float16},
}
