package ohnn

import (
	"errors"
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
)

// ReturnCode is OH_NN_ReturnCode.
type ReturnCode uint32

// The codes that the library returns.
const (
	success            ReturnCode = 0
	failed             ReturnCode = 1
	invalidParameter   ReturnCode = 2
	memoryError        ReturnCode = 3
	operationForbidden ReturnCode = 4
	invalidFile        ReturnCode = 6
	timeout            ReturnCode = 9
	unsupported        ReturnCode = 10
	dynamicShape       ReturnCode = 13
	unavailableDevice  ReturnCode = 14
)

// A codeError is an error whose code the API prescribes, whatever its kind.
type codeError struct {
	code ReturnCode
	msg  string
}

func (e *codeError) Error() string { return e.msg }

// refuse returns an error with a code that the API prescribes.
func refuse(code ReturnCode, format string, args ...any) error {
	return &codeError{code: code, msg: fmt.Sprintf(format, args...)}
}

// codes maps the kinds of core's errors.
var codes = map[fault.Kind]ReturnCode{
	fault.Internal:    failed,
	fault.Argument:    invalidParameter,
	fault.Shape:       invalidParameter,
	fault.Type:        invalidParameter,
	fault.State:       operationForbidden,
	fault.Unsupported: unsupported,
	fault.Memory:      memoryError,
	fault.Device:      unavailableDevice,
	fault.Timeout:     timeout,
	fault.Canceled:    failed,
	fault.File:        invalidFile,
	fault.Data:        failed,
}

// status turns the outcome of a call into its code.
func status(err error) ReturnCode {
	if err == nil {
		return success
	}
	var e *codeError
	if errors.As(err, &e) {
		return e.code
	}
	if code, ok := codes[fault.KindOf(err)]; ok {
		return code
	}
	return failed
}
