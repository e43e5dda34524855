package model

import "github.com/anynpu/anynpu/core/tensor"

// A DataType is an OH_NN_DataType: its number and what it is.
type DataType struct {
	Number int32
	DType  tensor.DType
}

// DataTypes are the element types by the names that cases use.
var DataTypes = map[string]DataType{
	"bool": {1, tensor.Bool}, "int8": {2, tensor.Int8}, "int16": {3, tensor.Int16}, "int32": {4, tensor.Int32},
	"int64": {5, tensor.Int64},
	"uint8": {6, tensor.Uint8}, "uint16": {7, tensor.Uint16}, "uint32": {8, tensor.Uint32}, "uint64": {9, tensor.Uint64},
	"float16": {10, tensor.Float16}, "float32": {11, tensor.Float32}, "float64": {12, tensor.Float64},
}
