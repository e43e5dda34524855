package boundary

/*
#include "boundary.h"
*/
import "C"

import (
	"maps"
	"slices"
)

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

// DriverFiles has the calls that come from the files of a driver's functions known as the driver's own, before the
// façade called component is decided.
func DriverFiles(component string, address map[string]uintptr) {
	for facade, funcs := range routes.funcs {
		if funcs[0].Component != component {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(address)) {
			C.anynpu_know_driver(C.uint32_t(facade), cPointer(address[name]))
		}
	}
}

// signs are the places of libraries whose names say that the program uses the newer generation of an API.
func signs() []C.uintptr_t {
	var begin [maxSigns]C.uintptr_t
	n := C.anynpu_signs(&begin[0], maxSigns)
	return slices.Clone(begin[:n])
}
