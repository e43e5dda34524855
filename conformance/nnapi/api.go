// Package nnapi describes Android's Neural Networks C API to the suites that judge a library of it.
package nnapi

import "github.com/anynpu/anynpu/conformance/suite"

// API is the C API of NNAPI up to feature level 8: the functions of its two headers.
var API = &suite.API{
	Name:      "nnapi",
	Title:     "Neural Networks API of Android",
	Soname:    "libneuralnetworks.so",
	Variable:  "ANYNPU_NNAPI_LIBRARY",
	Prefix:    "ANeuralNetworks",
	Functions: functions,
	Essential: []string{"ANeuralNetworksModel_create"},
	Success:   NoError,
	BadParam:  BadData,
	Codes:     codes,
	Headers:   headers,
	Compiler:  &suite.Compiler{Function: "Compilation_finish"},
}

// Return codes of the API.
const (
	NoError                = 0
	UnexpectedNull         = 3
	BadData                = 4
	OpFailed               = 5
	BadState               = 6
	OutputInsufficientSize = 8
	MissedTransient        = 10
	MissedPersistent       = 11
)

// Values of OperandCode.
const (
	Float32 int32 = iota
	Int32
	Uint32
	TensorFloat32
	TensorInt32
	TensorQuant8Asymm
	Bool
	TensorQuant16Symm
	TensorFloat16
	TensorBool8
	Float16
	TensorQuant8SymmPerChannel
	TensorQuant16Asymm
	TensorQuant8Symm
	TensorQuant8AsymmSigned
	ModelOperand
)
