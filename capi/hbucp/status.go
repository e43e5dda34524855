package hbucp

import (
	"errors"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
)

// Codes of this generation that the older one lacks; status gives them as they are.
const (
	errFree       hb.Code = -400002
	errFlush      hb.Code = -400003
	errInvalidate hb.Code = -400004
)

// codes are this generation's for those of the older one (section 4).
var codes = map[hb.Code]hb.Code{
	hb.Success:           0,
	hb.BadArgument:       -100001,
	hb.BadPackedHandle:   -100001,
	hb.BadModelHandle:    -100001,
	hb.BadSysArgument:    -100001,
	hb.BadUse:            -100002,
	hb.ManyProcesses:     -100002,
	hb.ManyTasks:         -200001,
	hb.ManyMembers:       -200001,
	hb.Timeout:           -200002,
	hb.RunFailed:         -200003,
	hb.BadTaskHandle:     -200004,
	hb.NoMemory:          -400001,
	hb.NoSysMemory:       -400001,
	hb.NotRegistered:     -400005,
	hb.NoFile:            -500001,
	hb.ManyModels:        -600001,
	hb.BadModel:          -600002,
	hb.ModelRunning:      -600003,
	hb.IncompatibleModel: -600004,
}

// status returns the return code of err. A task's handle that is NULL is an argument like others; one that is no task's
// is not.
func status(err error) hb.Code {
	code := hb.Status(err)
	if code == hb.BadTaskHandle && errors.Is(err, handle.ErrNull) {
		code = hb.BadArgument
	}
	if own, ok := codes[code]; ok {
		return own
	}
	return code
}

// api are this generation's words.
var api = &hb.API{
	Component: "hbucp",
	Alloc:     "hbUCPMalloc",
	Flush:     "hbUCPMemFlush(mem, HB_SYS_MEM_CACHE_%s)",
	Flusher:   "hbUCPMemFlush",
	Release:   "hbUCPReleaseTask",
	Wait:      "hbUCPWaitTaskDone",
	Pack:      "dnnPackedHandle",
	Wanted:    "a task that is not submitted",
	Closed:    "submitted",
	Unfilled:  "is not submitted: hbUCPSubmitTask comes before",
	Compiled:  hb.IncompatibleModel,
	Status:    func(err error) int32 { return int32(status(err)) },
}

// descriptions are the texts of the functions for errors.
var descriptions = map[int32]string{
	0:       "success",
	-100001: "invalid argument",
	-100002: "wrong use of the API",
	-100003: "UCP could not start",
	-100004: "unknown error",
	-200001: "too many tasks that are not released, or members of one",
	-200002: "timeout",
	-200003: "task failed",
	-200004: "invalid handle of a task",
	-300001: "too many operators",
	-300002: "operator is not registered",
	-300003: "command of the operator is not available",
	-400001: "out of memory",
	-400002: "memory cannot be freed",
	-400003: "memory cannot be flushed",
	-400004: "memory cannot be invalidated",
	-400005: "memory is not valid",
	-400006: "memory cannot be mapped",
	-400007: "memory cannot be unmapped",
	-500001: "file cannot be opened",
	-600001: "too many models",
	-600002: "invalid model",
	-600003: "model is in use by tasks that are not released",
	-600004: "model for another processor or version",
	-700001: "DSP is not available",
	-700002: "memory of the DSP cannot be allocated",
	-700003: "memory of the DSP cannot be freed",
	-700004: "the DSP's copy failed",
	-700005: "the DSP's copy could not be set up",
	-700006: "memory of the DSP cannot be mapped",
	-700007: "scale that the DSP cannot do",
	-700008: "memory of the DSP cannot be unmapped",
	-700009: "DSP is offline",
	-800001: "the codec does not allow that now",
	-800002: "the codec lacks resources",
	-800003: "the codec has no free instance",
	-800004: "invalid instance of a codec",
	-800005: "timeout of a codec's buffer",
	-800006: "codec is in use",
	-900001: "the ISP has no free slot",
	-900002: "context of the ISP is in use",
}

func ucpGetErrorDesc(code int32) (uintptr, error) {
	text, ok := descriptions[code]
	if !ok {
		text = "unknown error"
	}
	return hb.Forever(text), nil
}

func dnnGetErrorDesc(code int32) (uintptr, error) { return ucpGetErrorDesc(code) }

// refused is the error of a function that is not served.
func refused(why string) error { return hb.Misused("%s [hbucp-not-served]", why) }
