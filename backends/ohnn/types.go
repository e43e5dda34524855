package ohnn

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Return codes that mean something of their own: OH_NN_ReturnCode.
const (
	codeInvalid     = 2
	codeMemory      = 3
	codeForbidden   = 4
	codeTimeout     = 9
	codeUnsupported = 10
)

// formatNHWC is OH_NN_FORMAT_NHWC, which operators that know images want.
const formatNHWC = 2

// uint32Array is OH_NN_UInt32Array.
type uint32Array struct {
	data *uint32
	size uint32
}

// call is the error of a driver's function.
func call(function string, code uint32, err error) error {
	switch {
	case err != nil || code == 0:
		return err
	case code == codeMemory:
		return fault.As(fault.Memory, mem.ErrExhausted, "%s: the driver has no memory", function)
	case code == codeTimeout:
		return fault.New(fault.Timeout, "%s: the driver's time has run out", function)
	}
	return fault.New(fault.Device, "%s: the driver's code is %d", function, code)
}

// judged is the error of a function by which the driver judges what is asked for: a refusal is no fault of the driver.
func judged(function string, code uint32, err error) error {
	switch code {
	case codeInvalid, codeForbidden, codeUnsupported:
		return fault.New(fault.Unsupported, "%s: the driver refuses it with code %d", function, code)
	}
	return call(function, code, err)
}

// made is the error of a function that gives an object.
func made(function string, object uintptr, err error) error {
	if err == nil && object == 0 {
		err = fault.New(fault.Memory, "%s: the driver gives none", function)
	}
	return err
}
