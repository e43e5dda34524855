package main

/*
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "boundary/boundary.h"

// Opening a driver runs functions of its own.
static void *open_driver(const char *file)
{
	int inside = anynpu_out();
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	anynpu_back(inside);
	return lib;
}

static uintptr_t lookup(void *lib, const char *symbol) { return (uintptr_t)dlsym(lib, symbol); }
*/
import "C"

import (
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/spec"
)

// The library of ctest/drivers: the file that FAKE_DRIVER names is the driver of the API whose functions it has, and
// gets all creating calls but those that are made with FAKE_OURS set.
func init() {
	for _, api := range []string{"ohnn", "rknn", "hbdnn", "hbucp", "nnapi"} {
		boundary.Decide(api, func() (boundary.State, error) {
			file := boundary.Getenv("FAKE_DRIVER")
			path := C.CString(file)
			defer C.free(unsafe.Pointer(path))
			lib := C.open_driver(path)
			if lib == nil {
				return boundary.CPU, fault.New(fault.File, "%s: cannot be opened", file)
			}
			functions := driver.Bind(file, spec.Functions(api), func(symbol string) uintptr {
				name := C.CString(symbol)
				defer C.free(unsafe.Pointer(name))
				return uintptr(C.lookup(lib, name))
			})
			if len(functions.Addresses()) == 0 {
				return boundary.CPU, nil
			}
			boundary.SetDriver(api, file, functions.Addresses())
			return boundary.PassThrough, nil
		})
		boundary.Choose(api, func(string) bool { return boundary.Getenv("FAKE_OURS") == "" }, nil)
	}
}
