package boundary

/*
#include <stdlib.h>

#include "boundary.h"
*/
import "C"

import (
	"syscall"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
)

// A HelperEnd is how a helper program ended: by its exit code, by a signal, or when its time was over.
type HelperEnd struct {
	Exit     int // -1: by a signal or its time
	Signal   int // 0: by no signal
	TimedOut bool
	Output   string // of descriptor 3
}

// maxHelperOutput bounds the output that is kept.
const maxHelperOutput = 64 << 10

// RunHelper starts the program at the absolute path argv[0] with the process's environment, less LD_PRELOAD, and more
// of it, NAME=VALUE, and waits for its end, at most for the given time. The program that this library is a guest of
// sees nothing of it. An error means that it was not started.
func RunHelper(argv, environment []string, limit time.Duration) (HelperEnd, error) {
	args, freeArgs := cStrings(argv)
	defer freeArgs()
	more, freeMore := cStrings(environment)
	defer freeMore()
	text := make([]byte, maxHelperOutput)
	var end C.struct_anynpu_helper
	rc := C.anynpu_run_helper(args, more, C.int(limit.Milliseconds()), (*C.char)(unsafe.Pointer(&text[0])),
		C.size_t(len(text)), &end)
	if rc != 0 {
		return HelperEnd{}, fault.New(fault.File, "%s: %v [boundary-helper-not-started]", argv[0], syscall.Errno(rc))
	}
	return HelperEnd{Exit: int(end.exit), Signal: int(end.signal), TimedOut: end.timed_out != 0,
		Output: string(text[:end.output])}, nil
}

// StartHelper starts the program at the absolute path argv[0] with the process's environment, less LD_PRELOAD, and fd
// as its descriptor 3, and waits for nothing. The program that this library is a guest of sees no child, unless it is a
// subreaper, which inherits the helper when that ends.
func StartHelper(argv []string, fd uintptr) error {
	args, freeArgs := cStrings(argv)
	defer freeArgs()
	none, freeNone := cStrings(nil)
	defer freeNone()
	if rc := C.anynpu_start_helper(args, none, C.int(fd)); rc != 0 {
		return fault.New(fault.File, "%s: %v [boundary-helper-not-started]", argv[0], syscall.Errno(rc))
	}
	return nil
}

// cStrings makes an array of C strings that ends with NULL.
func cStrings(list []string) (**C.char, func()) {
	array := C.malloc(C.size_t(len(list)+1) * C.size_t(unsafe.Sizeof(uintptr(0))))
	all := unsafe.Slice((**C.char)(array), len(list)+1)
	for i, s := range list {
		all[i] = C.CString(s)
	}
	all[len(list)] = nil
	return (**C.char)(array), func() {
		for _, s := range all {
			C.free(unsafe.Pointer(s))
		}
		C.free(array)
	}
}

// OwnFile returns the file that this library was loaded from, as the loader names it.
func OwnFile() string { return C.GoString(C.anynpu_own_file()) }
