// Package boundary stands between C callers and Go behaviour: the start of Go at the first call, the routing of calls,
// forked children, the checks of arguments, panics, status, log and trace. The generated glue of every façade is
// written against it.
//
// It knows handles and errors but no API. It must not import a façade, core beyond core/fault, or a device.
package boundary

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra
#include "boundary.h"
*/
import "C"

import (
	"runtime"
	"time"

	"github.com/anynpu/anynpu/capi/handle"
)

func init() {
	if most := ComputeThreads(); most > 0 {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), most+SpareProcs))
	}
	// A timer makes Go open its poller now, which start.c has made sure of: later the program may have no descriptors
	// left.
	time.AfterFunc(time.Hour, func() {}).Stop()
	base, size, _ := handle.Window()
	if checkPointers {
		C.anynpu_probing = 1
	}
	C.anynpu_set_window(C.uintptr_t(base), C.uintptr_t(size))
	if logger.enabled(LevelError, "boundary") {
		C.anynpu_set_report(C.int(logger.fd))
	}
	openRecord(Getenv("ANYNPU_REPORT"))
}

// SpareProcs is how many goroutines run beside the compute threads, so that a host thread's small call never waits
// behind kernels. grant.c makes sure of their threads.
const SpareProcs = 8

// ComputeThreads is how many threads may compute at once: the system granted as many, and SpareProcs more, when Go was
// started. 0 means that nothing is known, as in a program that Go started.
func ComputeThreads() int { return int(C.anynpu_compute_threads()) }

//export nnc_boundary_started
func nnc_boundary_started() {}

// exits are called when the program ends.
var exits []func()

// AtExit has f called when the program ends by itself: by exit or its return from main, not by a signal, _exit or in a
// forked child. Only package initializers may call it.
func AtExit(f func()) {
	exits = append(exits, f)
	C.anynpu_ending = 1
}

//export nnc_boundary_ended
func nnc_boundary_ended() {
	for _, f := range exits {
		ending(f)
	}
	ending(closeRecord)
}

// ending calls f, which is not to disturb the program's end.
func ending(f func()) {
	defer func() { _ = recover() }()
	f()
}
