// Package ohnn describes the OH_NN C API to the suites that judge a library of it: rules and operators.
package ohnn

import (
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// API is the OH_NN C API.
var API = &suite.API{
	Name:      "ohnn",
	Title:     "OH_NN C API",
	Soname:    "libneural_network_core.so",
	Variable:  "ANYNPU_CTS_LIBRARY",
	Prefix:    "OH_NN",
	Functions: functions,
	Essential: functions,
	Success:   Success,
	BadParam:  InvalidParameter,
	Codes:     codes,
	Headers:   headers,
	Device:    device,
	Compiler:  &suite.Compiler{Function: "Compilation_Build"},
}

// device is the name of device 0, the default one.
func device(l *suite.Library) string {
	var name uintptr
	if l.Code("Device_GetName", 0, &name) != Success {
		return ""
	}
	return cmem.Text(name)
}

// The modes: two descriptions of the API, which differ.
const (
	Manual    = "manual"    // the manual, where no upstream test contradicts it
	Reference = "reference" // the reference implementation
)

// ModeVariable tells a library under test which description it is held to.
const ModeVariable = "ANYNPU_OHNN_COMPAT"

// Modes are both modes. Where an upstream test asserts nothing, the manual is expected by default.
var Modes = []suite.Mode{
	{Name: Manual, Environ: []string{ModeVariable + "="}},
	{Name: Reference, Environ: []string{ModeVariable + "=" + Reference}},
}
