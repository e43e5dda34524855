// Package hbucp describes Horizon's UCP C API, the newest generation of hbDNN, to the suites that judge a library of
// it.
package hbucp

import (
	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite"
)

// API is the C API of UCP: the functions of its five headers. Those of models are in libdnn.so, which is found through
// what the library of tasks needs.
var API = &suite.API{
	Name:      "hbucp",
	Title:     "UCP C API",
	Soname:    "libhbucp.so",
	Variable:  "ANYNPU_HBUCP_LIBRARY",
	Prefix:    "hb",
	Functions: functions,
	Essential: []string{"hbUCPSubmitTask"},
	Success:   Success,
	BadParam:  InvalidArgument,
	Codes:     codes,
	Headers:   headers,
	Models:    hbdnn.Handover(free, ".hbm", ".bin"),
}

// Return codes of the API.
const (
	Success           = 0
	InvalidArgument   = -100001
	APIUseError       = -100002
	TooManyTasks      = -200001
	Timeout           = -200002
	RunFailed         = -200003
	InvalidTask       = -200004
	AllocFailed       = -400001
	FreeFailed        = -400002
	FlushFailed       = -400003
	InvalidateFailed  = -400004
	FileOpenFailed    = -500001
	ModelInvalid      = -600002
	ModelInUse        = -600003
	ModelIncompatible = -600004
)
