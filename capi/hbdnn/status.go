package hbdnn

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
)

// Code is a return code of the API.
type Code = hb.Code

// The return codes that are given (types notes, section 5).
const (
	success           = hb.Success
	errArgument       = hb.BadArgument
	errModel          = hb.BadModel
	errModelNumber    = hb.ManyModels
	errPackedHandle   = hb.BadPackedHandle
	errModelHandle    = hb.BadModelHandle
	errOpen           = hb.NoFile
	errMemory         = hb.NoMemory
	errTimeout        = hb.Timeout
	errTasks          = hb.ManyTasks
	errBatch          = hb.ManyMembers
	errTaskHandle     = hb.BadTaskHandle
	errRun            = hb.RunFailed
	errRunning        = hb.ModelRunning
	errIncompatible   = hb.IncompatibleModel
	errUse            = hb.BadUse
	errMultiProcesses = hb.ManyProcesses
	errSysArgument    = hb.BadSysArgument
	errSysMemory      = hb.NoSysMemory
	errSysRegister    = hb.NotRegistered
)

// api are this generation's words.
var api = &hb.API{
	Component: "hbdnn",
	Alloc:     "hbSysAllocMem",
	Flush:     "hbSysFlushMem(mem, HB_SYS_MEM_CACHE_%s)",
	Flusher:   "hbSysFlushMem",
	Release:   "hbDNNReleaseTask",
	Wait:      "hbDNNWaitTaskDone",
	Pack:      "packedDNNHandle",
	Wanted:    "a task whose last member had more = 1",
	Closed:    "a task whose last member had more = 0",
	Unfilled:  "has no last member: its last one had more = 1, so that it waits for another",
	Compiled:  errModel,
	Status:    func(err error) int32 { return int32(status(err)) },
}

// descriptions are the texts of hbDNNGetErrorDesc.
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

// refuse returns an error that status turns into code. The message names the argument, its value and a value that would
// fit.
func refuse(code Code, format string, args ...any) error { return hb.Refuse(code, format, args...) }

// refuseFor is refuse with a cause. Want of memory has its own code, whatever was being done.
func refuseFor(code Code, err error, format string, args ...any) error {
	return hb.RefuseFor(code, err, format, args...)
}

// invalid refuses an argument with HB_DNN_INVALID_ARGUMENT.
func invalid(format string, args ...any) error { return hb.Invalid(format, args...) }

// misused refuses a call that comes at the wrong time.
func misused(format string, args ...any) error { return hb.Misused(format, args...) }

// status returns the return code of err.
func status(err error) Code { return hb.Status(err) }

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
func warn(message string, pairs ...any) { api.Warn(message, pairs...) }

// caution writes a warning on which it depends whether results are right.
func caution(message string, pairs ...any) { api.Caution(message, pairs...) }
