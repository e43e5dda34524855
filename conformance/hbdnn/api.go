// Package hbdnn describes Horizon's hbDNN and hbSys C API to the suites that judge a library of it.
package hbdnn

import "github.com/anynpu/anynpu/conformance/suite"

// API is the C API of hbDNN and hbSys: the functions of its four headers.
var API = &suite.API{
	Name:      "hbdnn",
	Title:     "hbDNN C API",
	Soname:    "libdnn.so",
	Variable:  "ANYNPU_HBDNN_LIBRARY",
	Prefix:    "hb",
	Functions: functions,
	Essential: []string{"hbDNNInitializeFromFiles"},
	Success:   Success,
	BadParam:  InvalidArgument,
	Codes:     codes,
	Headers:   headers,
	Models:    Handover(free, ".bin"),
}

// Return codes of the API.
const (
	Success             = 0
	InvalidArgument     = -6000001
	InvalidModel        = -6000002
	InvalidPackedHandle = -6000004
	InvalidHandle       = -6000005
	CanNotOpenFile      = -6000006
	Timeout             = -6000008
	TooManyTasks        = -6000009
	TooManyMembers      = -6000010
	InvalidTaskHandle   = -6000011
	RunFailed           = -6000012
	ModelIsRunning      = -6000013
	APIUseError         = -6000015
	SysInvalidArgument  = -6000129
	SysRegisterFailed   = -6000131
)
