package ohnn

import (
	"errors"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// refuse returns an error that status turns into code. The message names the argument, its value and what would fit.
//
//go:noinline
func refuse(code ReturnCode, format string, args ...any) error {
	return boundary.Refuse(code, format, args...)
}

// refuseFor is refuse with a cause. Want of memory has its own code, whatever was being done; but a model that is
// compiled and not cached stays one.
func refuseFor(code ReturnCode, err error, format string, args ...any) error {
	if errors.Is(err, mem.ErrExhausted) && code != SaveCacheException && !settings().reference {
		code = MemoryError
	}
	return boundary.RefuseFor(code, err, format, args...)
}

// invalid refuses an argument with InvalidParameter, by far the commonest code of this API.
//
//go:noinline
func invalid(format string, args ...any) error { return refuse(InvalidParameter, format, args...) }

// forbidden refuses a call that comes at the wrong time or asks for an ability that the device lacks.
//
//go:noinline
func forbidden(format string, args ...any) error { return refuse(OperationForbidden, format, args...) }

var kindCodes = boundary.Codes[ReturnCode]{
	fault.Internal:    Failed,
	fault.Argument:    InvalidParameter,
	fault.Shape:       InvalidParameter,
	fault.Type:        InvalidParameter,
	fault.State:       OperationForbidden,
	fault.Unsupported: Failed,
	fault.Memory:      MemoryError,
	fault.Device:      UnavailableDevice,
	fault.Timeout:     Timeout,
	fault.Canceled:    Failed,
	fault.File:        InvalidFile,
	fault.Data:        UnavailableDevice,
}

// status returns the return code of err: its own where the API prescribes one, else that of its kind.
func status(err error) ReturnCode { return kindCodes.Of(err) }
