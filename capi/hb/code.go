package hb

import (
	"errors"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
)

// Code is a return code: hbDNN's own, which the newer generation translates.
type Code int32

// The return codes that are given (types notes, section 5).
const (
	Success           Code = 0
	BadArgument       Code = -6000001
	BadModel          Code = -6000002
	ManyModels        Code = -6000003
	BadPackedHandle   Code = -6000004
	BadModelHandle    Code = -6000005
	NoFile            Code = -6000006
	NoMemory          Code = -6000007
	Timeout           Code = -6000008
	ManyTasks         Code = -6000009
	ManyMembers       Code = -6000010
	BadTaskHandle     Code = -6000011
	RunFailed         Code = -6000012
	ModelRunning      Code = -6000013
	IncompatibleModel Code = -6000014
	BadUse            Code = -6000015
	ManyProcesses     Code = -6000016
	BadSysArgument    Code = -6000129
	NoSysMemory       Code = -6000130
	NotRegistered     Code = -6000131
)

// An API is a generation in the words of its messages.
type API struct {
	Component string // in the log
	Alloc     string // the function that makes memory
	Flush     string // a call that flushes memory, with %s for the operation
	Flusher   string // the function of that call
	Read      string // the function that reads memory, "" if there is none
	Release   string // the function that ends a task
	Wait      string // the function that waits for one
	Pack      string // the parameter that is a pack
	Wanted    string // a task that gets another member
	Closed    string // why a task gets none
	Unfilled  string // why a task cannot be waited for
	Compiled  Code   // of a model for a board, for which no ONNX file is found
	Status    func(error) int32
	Funcs     []boundary.Func // what the glue knows of its functions
}

// Refuse returns an error with a code. The message names the argument, its value and a value that would fit.
//
//go:noinline
func Refuse(code Code, format string, args ...any) error {
	return boundary.Refuse(code, format, args...)
}

// RefuseFor is Refuse with a cause. Want of memory has its own code, whatever was being done.
func RefuseFor(code Code, err error, format string, args ...any) error {
	if errors.Is(err, mem.ErrExhausted) && code != NoSysMemory {
		code = NoMemory
	}
	return boundary.RefuseFor(code, err, format, args...)
}

// Invalid refuses an argument.
//
//go:noinline
func Invalid(format string, args ...any) error { return Refuse(BadArgument, format, args...) }

// Misused refuses a call that comes at the wrong time.
//
//go:noinline
func Misused(format string, args ...any) error { return Refuse(BadUse, format, args...) }

// KindCodes are the codes of errors that name none.
var KindCodes = boundary.Codes[Code]{
	fault.Internal:    RunFailed,
	fault.Argument:    BadArgument,
	fault.Shape:       BadArgument,
	fault.Type:        BadArgument,
	fault.State:       BadUse,
	fault.Unsupported: BadUse,
	fault.Memory:      NoMemory,
	fault.Device:      RunFailed,
	fault.Timeout:     Timeout,
	fault.Canceled:    RunFailed,
	fault.File:        BadModel,
	fault.Data:        RunFailed,
}

// Status returns the return code of err.
func Status(err error) Code { return KindCodes.Of(err) }

// Guarded calls f, which touches memory of the program: what says whose. Memory that has vanished is an error of the
// call with this code.
func Guarded(code Code, what string, f func() error) error {
	return io.Guarded(f, func(addr uintptr) error {
		return Refuse(code, "%s cannot be used at address %#x: the program has freed, unmapped or cut it "+
			"[hb-used-address-program]", what, addr)
	})
}
