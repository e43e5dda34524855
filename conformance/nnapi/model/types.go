package model

import (
	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// Type is what the suites need to know of an operand type.
type Type struct {
	Code   int32
	DType  tensor.DType
	Scalar bool
}

// Types are the types of operands by the words that cases use, those of the notes on NNAPI's operations.
var Types = map[string]Type{
	"F32":  {nnapi.TensorFloat32, tensor.Float32, false},
	"F16":  {nnapi.TensorFloat16, tensor.Float16, false},
	"I32":  {nnapi.TensorInt32, tensor.Int32, false},
	"Q8":   {nnapi.TensorQuant8Asymm, tensor.Uint8, false},
	"Q8S":  {nnapi.TensorQuant8AsymmSigned, tensor.Int8, false},
	"Q8Y":  {nnapi.TensorQuant8Symm, tensor.Int8, false},
	"Q8C":  {nnapi.TensorQuant8SymmPerChannel, tensor.Int8, false},
	"Q16A": {nnapi.TensorQuant16Asymm, tensor.Uint16, false},
	"Q16Y": {nnapi.TensorQuant16Symm, tensor.Int16, false},
	"B8":   {nnapi.TensorBool8, tensor.Bool, false},
	"f32":  {nnapi.Float32, tensor.Float32, true},
	"f16":  {nnapi.Float16, tensor.Float16, true},
	"i32":  {nnapi.Int32, tensor.Int32, true},
	"bool": {nnapi.Bool, tensor.Bool, true},

	"model": {Code: nnapi.ModelOperand},
}
