package boundary

/*
#include "boundary.h"
*/
import "C"

import "slices"

// maxSigns bounds the libraries that Brought looks at.
const maxSigns = 64

// Brought calls open, which opens a driver's file. Libraries that come into the process with it say nothing of the
// generation of an API that the program uses.
func Brought(open func()) {
	before := signs()
	open()
	for _, begin := range signs() {
		if !slices.Contains(before, begin) {
			C.anynpu_driver_brought(begin)
		}
	}
}

// Know has a driver's own calls of its exports, if they come by this library, go to its functions before the façade
// called component is decided: they decide nothing.
func Know(component string, address map[string]uintptr) {
	for _, funcs := range routes.funcs {
		for _, f := range funcs {
			if f.Component == component && address[f.Name] != 0 {
				C.anynpu_know_driver(C.uint32_t(f.Index), cPointer(address[f.Name]))
			}
		}
	}
}

// signs are the places of libraries whose names say that the program uses the newer generation of an API.
func signs() []C.uintptr_t {
	var begin [maxSigns]C.uintptr_t
	n := C.anynpu_signs(&begin[0], maxSigns)
	return slices.Clone(begin[:n])
}
