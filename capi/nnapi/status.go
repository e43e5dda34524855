package nnapi

import (
	"context"
	"errors"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// ResultCode is a value of ResultCode in NeuralNetworksTypes.h.
type ResultCode = nnapi.ResultCode

// Result codes that the library returns.
const (
	OutOfMemory             = nnapi.OutOfMemory
	UnexpectedNull          = nnapi.UnexpectedNull
	BadData                 = nnapi.BadData
	OpFailed                = nnapi.OpFailed
	BadState                = nnapi.BadState
	Unmappable              = nnapi.Unmappable
	OutputInsufficientSize  = nnapi.OutputInsufficientSize
	UnavailableDevice       = nnapi.UnavailableDevice
	MissedDeadlineTransient = nnapi.MissedDeadlineTransient
	DeadObject              = nnapi.DeadObject
)

// refuse returns an error that status turns into code. The message names the argument, its value and what would fit.
//
//go:noinline
func refuse(code ResultCode, format string, args ...any) error {
	return boundary.Refuse(code, format, args...)
}

// refuseFor is refuse with a cause. Want of memory has its own code, whatever was being done.
func refuseFor(code ResultCode, err error, format string, args ...any) error {
	if errors.Is(err, mem.ErrExhausted) {
		code = OutOfMemory
	}
	return boundary.RefuseFor(code, err, format, args...)
}

// badData refuses a value.
//
//go:noinline
func badData(format string, args ...any) error { return refuse(BadData, format, args...) }

// badState refuses a call that comes at the wrong time.
//
//go:noinline
func badState(format string, args ...any) error { return refuse(BadState, format, args...) }

// null refuses a NULL that the glue lets through.
func null(name string) error { return refuse(UnexpectedNull, "%s: NULL [nnapi-null]", name) }

var kindCodes = boundary.Codes[ResultCode]{
	fault.Internal:    OpFailed,
	fault.Argument:    BadData,
	fault.Shape:       BadData,
	fault.Type:        BadData,
	fault.State:       BadState,
	fault.Unsupported: BadData,
	fault.Memory:      OutOfMemory,
	fault.Device:      UnavailableDevice,
	fault.Timeout:     MissedDeadlineTransient,
	fault.Canceled:    OpFailed,
	fault.File:        OpFailed,
	fault.Data:        OpFailed,
}

// status returns the return code of err: its own where the API prescribes one, else that of its kind. NULL has one of
// its own.
func status(err error) ResultCode {
	if err == nil {
		return nnapi.NoError
	}
	if _, ok := boundary.Prescribed[ResultCode](err); !ok && errors.Is(err, handle.ErrNull) {
		return UnexpectedNull
	}
	return kindCodes.Of(err)
}

// runCode is the code of a computation or compilation that has failed: OP_FAILED unless time, memory or the device ran
// out.
func runCode(err error) ResultCode {
	switch {
	case errors.Is(err, mem.ErrExhausted):
		return OutOfMemory
	case errors.Is(err, device.ErrDied):
		return DeadObject
	case fault.KindOf(err) == fault.Timeout, errors.Is(err, context.DeadlineExceeded):
		return MissedDeadlineTransient
	case fault.KindOf(err) == fault.Device:
		return UnavailableDevice
	}
	return OpFailed
}

// warn logs what is probably not what the program wants.
func warn(message string, pairs ...any) {
	boundary.Log(boundary.LevelWarn, "nnapi", message, pairs...)
}

// caution writes a warning on which it depends whether results are right.
func caution(message string, pairs ...any) { boundary.Caution("nnapi", message, pairs...) }
