// Package ohnn has the data types, operators and parameters of the API OH_NN: the numbers and names of
// neural_network_runtime_type.h, and the operands of each operation. The façade reads programs by it, and the device
// behind a driver of the API writes models by it.
package ohnn

import (
	"fmt"

	"github.com/anynpu/anynpu/core/tensor"
)

// DataType is OH_NN_DataType. Programs pass any 32-bit value.
type DataType uint32

// The data types.
const (
	Unknown DataType = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	Float32
	Float64
	DataTypeEnd // the first number that is none
)

var dataTypes = [DataTypeEnd]struct {
	name  string
	dtype tensor.DType
	size  uint64
}{
	{"OH_NN_UNKNOWN", tensor.Invalid, 0}, {"OH_NN_BOOL", tensor.Bool, 1}, {"OH_NN_INT8", tensor.Int8, 1},
	{"OH_NN_INT16", tensor.Int16, 2},
	{"OH_NN_INT32", tensor.Int32, 4}, {"OH_NN_INT64", tensor.Int64, 8}, {"OH_NN_UINT8", tensor.Uint8, 1},
	{"OH_NN_UINT16", tensor.Uint16, 2},
	{"OH_NN_UINT32", tensor.Uint32, 4}, {"OH_NN_UINT64", tensor.Uint64, 8}, {"OH_NN_FLOAT16", tensor.Float16, 2},
	{"OH_NN_FLOAT32", tensor.Float32, 4}, {"OH_NN_FLOAT64", tensor.Float64, 8},
}

// Valid tells whether the API has the data type, OH_NN_UNKNOWN among them.
func (d DataType) Valid() bool { return d < DataTypeEnd }

// String returns the C name, or the number when there is none.
func (d DataType) String() string {
	if d.Valid() {
		return dataTypes[d].name
	}
	return fmt.Sprintf("data type %d", int32(d))
}

// DType returns core's element type of a valid data type, Invalid for Unknown.
func (d DataType) DType() tensor.DType { return dataTypes[d].dtype }

// Size returns the bytes of one element of a valid data type, 0 for Unknown.
func (d DataType) Size() uint64 { return dataTypes[d].size }

// DataTypeOf returns the API's data type for core's; Unknown for those the API has none for.
func DataTypeOf(d tensor.DType) DataType {
	for i, e := range dataTypes {
		if e.dtype == d {
			return DataType(i)
		}
	}
	return Unknown
}

// TensorType is OH_NN_TensorType: 0 for data, otherwise which operator parameter a tensor is.
type TensorType uint32

// The tensor types that stand in no rule.
const (
	DataTensor    TensorType = 0
	TensorTypeEnd TensorType = 163 // the first number that is none
)

// paramNames gives every parameter enumerator its C name.
var paramNames = func() map[TensorType]string {
	m := map[TensorType]string{DataTensor: "OH_NN_TENSOR", 69: "OH_NN_LAYER_NORM_ELEMENTWISE_AFFINE"}
	for _, r := range Rules {
		for _, p := range r.Params {
			m[p.Number] = "OH_NN_" + r.Name + "_" + p.Name
		}
	}
	return m
}()

// String returns the C name, or the number when there is none.
func (t TensorType) String() string {
	if n, ok := paramNames[t]; ok {
		return n
	}
	return fmt.Sprintf("tensor type %d", int32(t))
}

// OperationType is OH_NN_OperationType.
type OperationType uint32

// String returns the C name, or the number when there is none.
func (o OperationType) String() string {
	if r := RuleOf(o); r != nil {
		return "OH_NN_OPS_" + r.Name
	}
	return fmt.Sprintf("operation %d", int32(o))
}

// Fused activations: OH_NN_FuseType.
const (
	FusedNone  = 0
	FusedReLU  = 1
	FusedReLU6 = 2
)

// Values of a pad mode.
const (
	PadSame  = 0
	PadValid = 1
)

// MaxIndices is the length of the longest list of tensors that the API takes.
const MaxIndices = 200

// MaxRank is the largest rank of a tensor description.
const MaxRank = 10
