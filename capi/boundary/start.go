// Package boundary is what stands between C callers and Go behaviour: the start of Go at the first call, the routing of calls, forked
// children, the checks of arguments, panics, status, log and trace. The generated glue of every façade is written against it.
//
// It knows handles and errors but no API. It must not import a façade, core beyond core/fault, or a device.
package boundary

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra
#include "boundary.h"
*/
import "C"

import (
	"time"

	"github.com/anynpu/anynpu/capi/handle"
)

func init() {
	// A timer makes Go open its poller now, which start.c has made sure of: later the program may have no descriptors left.
	time.AfterFunc(time.Hour, func() {}).Stop()
	base, size, _ := handle.Window()
	C.anynpu_set_window(C.uintptr_t(base), C.uintptr_t(size))
	if logger.enabled(LevelError, "boundary") {
		C.anynpu_set_report(C.int(logger.fd))
	}
}

//export nnc_boundary_started
func nnc_boundary_started() {}
