package rknn

import (
	"errors"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// refuse returns an error that status turns into code. The message names the argument, its value and what would fit.
//
//go:noinline
func refuse(code spec.Code, format string, args ...any) error {
	return boundary.Refuse(code, format, args...)
}

// refuseFor is refuse with a cause. Want of memory has its own code, whatever was being done.
func refuseFor(code spec.Code, err error, format string, args ...any) error {
	if errors.Is(err, mem.ErrExhausted) {
		code = spec.ErrMalloc
	}
	return boundary.RefuseFor(code, err, format, args...)
}

// invalid refuses an argument with RKNN_ERR_PARAM_INVALID.
//
//go:noinline
func invalid(format string, args ...any) error { return refuse(spec.ErrParam, format, args...) }

// failed refuses a call that comes at the wrong time or asks for something impossible.
//
//go:noinline
func failed(format string, args ...any) error { return refuse(spec.ErrFail, format, args...) }

var kindCodes = boundary.Codes[spec.Code]{
	fault.Internal:    spec.ErrFail,
	fault.Argument:    spec.ErrParam,
	fault.Shape:       spec.ErrParam,
	fault.Type:        spec.ErrParam,
	fault.State:       spec.ErrFail,
	fault.Unsupported: spec.ErrFail,
	fault.Memory:      spec.ErrMalloc,
	fault.Device:      spec.ErrFail,
	fault.Timeout:     spec.ErrTimeout,
	fault.Canceled:    spec.ErrFail,
	fault.File:        spec.ErrModel,
	fault.Data:        spec.ErrFail,
}

// status returns the return code of err: its own where the API prescribes one, RKNN_ERR_CTX_INVALID for a value that is
// no context, else that of its kind.
func status(err error) spec.Code {
	if code, ok := boundary.Prescribed[spec.Code](err); ok || err == nil {
		return code
	}
	if errors.Is(err, boundary.ErrNullPointer) {
		return kindCodes.Of(err)
	}
	for _, bad := range []error{handle.ErrNull, handle.ErrForeign, handle.ErrStale, handle.ErrKind, handle.ErrBusy} {
		if errors.Is(err, bad) {
			return spec.ErrContext
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

// runCode is the code of a failed run. Only one that ANYNPU_RUN_TIMEOUT limits ends by time, and only one whose context
// is being destroyed is stopped.
func runCode(err error) spec.Code {
	if errors.Is(err, mem.ErrExhausted) {
		return spec.ErrMalloc
	}
	switch fault.KindOf(err) {
	case fault.Timeout:
		return spec.ErrTimeout
	case fault.Canceled:
		return spec.ErrContext
	}
	return spec.ErrFail
}
