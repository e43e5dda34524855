package rknn

import (
	"errors"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// Code is a return code of the API.
type Code int32

// The return codes that are given.
const (
	succ            Code = 0
	errFail         Code = -1
	errTimeout      Code = -2
	errDevice       Code = -3
	errMalloc       Code = -4
	errParam        Code = -5
	errModel        Code = -6
	errContext      Code = -7
	errInput        Code = -8
	errOutput       Code = -9
	errTargetMisfit Code = -13
)

// refuse returns an error that status turns into code. The message names the argument, its value and what would fit.
func refuse(code Code, format string, args ...any) error {
	return boundary.Refuse(code, format, args...)
}

// refuseFor is refuse with a cause.
func refuseFor(code Code, err error, format string, args ...any) error {
	return boundary.RefuseFor(code, err, format, args...)
}

// invalid refuses an argument with RKNN_ERR_PARAM_INVALID.
func invalid(format string, args ...any) error { return refuse(errParam, format, args...) }

// failed refuses a call that comes at the wrong time or asks for what cannot be done.
func failed(format string, args ...any) error { return refuse(errFail, format, args...) }

var kindCodes = boundary.Codes[Code]{
	fault.Internal:    errFail,
	fault.Argument:    errParam,
	fault.Shape:       errParam,
	fault.Type:        errParam,
	fault.State:       errFail,
	fault.Unsupported: errFail,
	fault.Memory:      errMalloc,
	fault.Device:      errFail,
	fault.Timeout:     errTimeout,
	fault.Canceled:    errFail,
	fault.File:        errModel,
	fault.Data:        errFail,
}

// status returns the return code of err: its own where the API prescribes one, RKNN_ERR_CTX_INVALID for what is no
// context, else that of its kind.
func status(err error) Code {
	if code, ok := boundary.Prescribed[Code](err); ok {
		return code
	}
	if errors.Is(err, boundary.ErrNullPointer) {
		return kindCodes.Of(err)
	}
	for _, bad := range []error{handle.ErrNull, handle.ErrForeign, handle.ErrStale, handle.ErrKind, handle.ErrBusy} {
		if errors.Is(err, bad) {
			return errContext
		}
	}
	return kindCodes.Of(err)
}

// warn writes a warning of this API.
func warn(message string, pairs ...any) {
	boundary.Log(boundary.LevelWarn, "rknn", message, pairs...)
}

// caution writes a warning on which it depends whether results are right.
func caution(message string, pairs ...any) { boundary.Caution("rknn", message, pairs...) }
