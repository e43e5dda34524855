// Package rknn describes Rockchip's RKNN runtime C API to the suites that judge a library of it.
package rknn

import "github.com/anynpu/anynpu/conformance/suite"

// API is the RKNN runtime's C API: the functions of its three headers, and names of older ones.
var API = &suite.API{
	Name:       "rknn",
	Title:      "RKNN runtime's C API",
	Soname:     "librknnrt.so",
	Variable:   "ANYNPU_RKNN_LIBRARY",
	Prefix:     "rknn_",
	Functions:  functions,
	Historical: []string{"rknn_destory_mem", "rknn_matmul_create_dyn_shape"},
	Essential:  []string{"rknn_init"},
	Success:    Success,
	BadParam:   ParamInvalid,
	Codes:      codes,
	Headers:    headers,
	Models:     handover,
	Compiler:   &suite.Compiler{Function: "init", Made: true},
	Board:      TargetVariable,
}

// Return codes of the API.
const (
	Success       = 0
	Fail          = -1
	ParamInvalid  = -5
	ModelInvalid  = -6
	CtxInvalid    = -7
	InputInvalid  = -8
	OutputInvalid = -9
	SkipCompute   = -14
)

// TargetVariable tells a library under test the board whose answers are expected.
const TargetVariable = "ANYNPU_RKNN_TARGET"

// Boards are the boards that a library can be held to. The default is the first.
var Boards = []string{"rk3588", "rk3576", "rk3562", "rk3566", "rk3568"}

// On is the setting of a case whose expected answers are a board's.
func On(board string) string { return TargetVariable + "=" + board }
