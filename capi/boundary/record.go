package boundary

/*
#include "boundary.h"

static inline uint32_t anynpu_functions(void) { return &anynpu_image ? anynpu_image.functions : 0; }
static inline const char *anynpu_name(uint32_t i) { return anynpu_image.name[i]; }
*/
import "C"

import (
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/logging"
	"github.com/anynpu/anynpu/core/record"
)

// recorder writes what becomes a report; nil unless ANYNPU_REPORT names a folder. It is set before the first call.
var recorder *record.Recorder

// atEnd completes the record when the program ends.
var atEnd func(*record.Recorder)

// Recorder returns the record of this process, nil if there is none. It is known once package boundary is initialized.
func Recorder() *record.Recorder { return recorder }

// AtEnd sets what completes the record when the program ends.
func AtEnd(f func(*record.Recorder)) { atEnd = f }

// openRecord begins a record in the folder, and has calls counted.
func openRecord(folder string) {
	n := C.anynpu_functions()
	if folder == "" || n == 0 {
		return
	}
	names := make([]string, n)
	for i := range names {
		names[i] = C.GoString(C.anynpu_name(C.uint32_t(i)))
	}
	r, err := record.Create(folder, names)
	if err != nil {
		Log(LevelError, "boundary", "no report [boundary-no-report]", "ANYNPU_REPORT", folder, "error", err)
		return
	}
	r.Failed = func(err error) {
		Log(LevelError, "boundary", "the report is incomplete "+
			"[boundary-report-incomplete]", "ANYNPU_REPORT", folder, "error", err)
	}
	recorder = r
	calls, refusals := r.Calls(), r.Refusals() // memory that Go does not manage
	C.anynpu_refusals = (*C.uint64_t)(unsafe.Pointer(&refusals[0]))
	C.anynpu_calls = (*C.uint64_t)(unsafe.Pointer(&calls[0]))
}

// closeRecord ends the record.
func closeRecord() {
	if atEnd != nil && recorder != nil {
		atEnd(recorder)
	}
}

// recordMessage records messages of the log, down to information.
func recordMessage(level Level, component, message string, pairs []any) {
	if recorder != nil && level <= LevelInfo {
		recorder.Message(level.String(), component, logging.Text(message, pairs))
	}
}

// clock is the origin of the times that calls have.
var clock = time.Now()

// record takes note of a refused call: one that returns an error, also where that is an ordinary answer.
func (c *Call) record() {
	if recorder != nil {
		recorder.Refused(int(c.Func.Index), c.Func.Name, c.Err.Error(), fault.IDOf(c.Err))
	}
}
