package hbdnn

import (
	"errors"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Code is a return code of the API.
type Code int32

// The return codes that are given (types notes, section 5).
const (
	success           Code = 0
	errArgument       Code = -6000001
	errModel          Code = -6000002
	errPackedHandle   Code = -6000004
	errModelHandle    Code = -6000005
	errOpen           Code = -6000006
	errMemory         Code = -6000007
	errTimeout        Code = -6000008
	errTasks          Code = -6000009
	errBatch          Code = -6000010
	errTaskHandle     Code = -6000011
	errRun            Code = -6000012
	errRunning        Code = -6000013
	errIncompatible   Code = -6000014
	errUse            Code = -6000015
	errSysArgument    Code = -6000129
	errSysMemory      Code = -6000130
	errSysRegister    Code = -6000131
	errModelNumber    Code = -6000003
	errMultiProcesses Code = -6000016
)

// descriptions are what hbDNNGetErrorDesc says.
var descriptions = map[Code]string{
	success:           "success",
	errArgument:       "invalid argument",
	errModel:          "invalid model",
	errModelNumber:    "too many models",
	errPackedHandle:   "invalid handle of a pack of models",
	errModelHandle:    "invalid handle of a model",
	errOpen:           "file cannot be opened",
	errMemory:         "out of memory",
	errTimeout:        "timeout",
	errTasks:          "too many tasks that are not released",
	errBatch:          "too many members of a task",
	errTaskHandle:     "invalid handle of a task",
	errRun:            "task failed",
	errRunning:        "model is running",
	errIncompatible:   "model for another processor or version",
	errUse:            "wrong use of the API",
	errMultiProcesses: "wrong use by several processes",
	errSysArgument:    "invalid argument of a memory function",
	errSysMemory:      "out of memory in a memory function",
	errSysRegister:    "memory cannot be registered",
}

// refuse returns an error that status turns into code. The message names the argument, its value and what would fit.
func refuse(code Code, format string, args ...any) error {
	return boundary.Refuse(code, format, args...)
}

// refuseFor is refuse with a cause. Want of memory has its own code, whatever was being done.
func refuseFor(code Code, err error, format string, args ...any) error {
	if errors.Is(err, mem.ErrExhausted) && code != errSysMemory {
		code = errMemory
	}
	return boundary.RefuseFor(code, err, format, args...)
}

// invalid refuses an argument with HB_DNN_INVALID_ARGUMENT.
func invalid(format string, args ...any) error { return refuse(errArgument, format, args...) }

// misused refuses a call that comes at the wrong time.
func misused(format string, args ...any) error { return refuse(errUse, format, args...) }

var kindCodes = boundary.Codes[Code]{
	fault.Internal:    errRun,
	fault.Argument:    errArgument,
	fault.Shape:       errArgument,
	fault.Type:        errArgument,
	fault.State:       errUse,
	fault.Unsupported: errUse,
	fault.Memory:      errMemory,
	fault.Device:      errRun,
	fault.Timeout:     errTimeout,
	fault.Canceled:    errRun,
	fault.File:        errModel,
	fault.Data:        errRun,
}

// status returns the return code of err.
func status(err error) Code { return kindCodes.Of(err) }

// sysStatus returns that of a memory function.
func sysStatus(err error) Code {
	if code, ok := boundary.Prescribed[Code](err); ok || err == nil {
		return code
	}
	if fault.KindOf(err) == fault.Memory {
		return errSysMemory
	}
	return errSysArgument
}

// warn writes a warning of this API.
func warn(message string, pairs ...any) {
	boundary.Log(boundary.LevelWarn, "hbdnn", message, pairs...)
}

// caution writes a warning on which it depends whether results are right.
func caution(message string, pairs ...any) { boundary.Caution("hbdnn", message, pairs...) }

// texts are strings that live as long as the process.
var texts = struct {
	mu    sync.Mutex
	known map[string]uintptr
}{known: map[string]uintptr{}}

// forever returns the address of a C string that is never freed. It is for the few texts that do not depend on a
// program's input.
func forever(s string) uintptr {
	texts.mu.Lock()
	defer texts.mu.Unlock()
	addr := texts.known[s]
	if addr == 0 {
		var b boundary.Block
		b.SetString(s)
		b.Keep()
		addr = b.Addr()
		texts.known[s] = addr
	}
	return addr
}
