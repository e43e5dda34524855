package nnapi

import (
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// operandType is ANeuralNetworksOperandType.
type operandType struct {
	code      int32
	rank      uint32
	dims      *uint32
	scale     float32
	zeroPoint int32
}

// channelScales is ANeuralNetworksSymmPerChannelQuantParams.
type channelScales struct {
	dim, count uint32
	scales     *float32
}

// call is the error of a driver's function. DEAD_OBJECT has device.ErrDied in its chain.
func call(function string, code int32, err error) error {
	if err != nil {
		return err
	}
	switch spec.ResultCode(code) {
	case spec.NoError:
		return nil
	case spec.OutOfMemory, spec.ResourceExhaustedTransient, spec.ResourceExhaustedPersistent:
		return fault.As(fault.Memory, mem.ErrExhausted, "%s: the driver has no memory, it answers %d", function, code)
	case spec.MissedDeadlineTransient, spec.MissedDeadlinePersistent:
		return fault.New(fault.Timeout, "%s: the driver's time has run out", function)
	case spec.DeadObject:
		return fault.As(fault.Device, device.ErrDied, "%s: the driver answers DEAD_OBJECT", function)
	}
	return fault.New(fault.Device, "%s: the driver's code is %d", function, code)
}

// judged is the error of a function by which the driver judges what is asked for: a refusal is no fault of the driver.
func judged(function string, code int32, err error) error {
	switch spec.ResultCode(code) {
	case spec.BadData, spec.OpFailed, spec.UnavailableDevice:
		return fault.New(fault.Unsupported, "%s: the driver refuses it with code %d", function, code)
	}
	return call(function, code, err)
}

// made is the error of a function that gives an object.
func made(function string, code int32, err error, object uintptr) error {
	if err = call(function, code, err); err == nil && object == 0 {
		err = fault.New(fault.Device, "%s: the driver gives none", function)
	}
	return err
}
