// Package toy is the behaviour of a made-up API of four functions: a context adds numbers. Its driver is the library that
// TOY_DRIVER names; a context called "ours" stays here in any case.
package toy

/*
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "../boundary/boundary.h"

// Opening a driver runs functions of its own.
static uintptr_t lookup(const char *file, const char *symbol)
{
	int inside = anynpu_out();
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	anynpu_back(inside);
	return lib ? (uintptr_t)dlsym(lib, symbol) : 0;
}
*/
import "C"

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
)

// Status is toy_status.
type Status int32

func status(err error) Status {
	if err != nil {
		return -1
	}
	return 0
}

// A Context is a toy_context.
type Context struct{ handle.Ref }

var library boundary.Block

func init() {
	library.SetString("library")
	boundary.Decide("toy", func() (boundary.State, error) {
		file := boundary.Getenv("TOY_DRIVER")
		if file == "" {
			return boundary.CPU, nil
		}
		path := C.CString(file)
		defer C.free(unsafe.Pointer(path))
		functions := map[string]uintptr{}
		for _, name := range []string{"toy_open", "toy_add", "toy_close", "toy_who"} {
			symbol := C.CString(name)
			functions[name] = uintptr(C.lookup(path, symbol))
			C.free(unsafe.Pointer(symbol))
		}
		boundary.SetDriver("toy", functions)
		return boundary.PassThrough, nil
	})
}

// open is toy_open.
func open(name string) (*Context, error) {
	if name == "panic" {
		panic("asked for")
	}
	if name != "ours" && boundary.HasDriver("toy") {
		return nil, boundary.ErrPassOn
	}
	return &Context{}, nil
}

// add is toy_add.
func add(_ *Context, a int32, b float64, c int32, sum *int32) error {
	*sum = a + int32(b) + c
	return nil
}

// close is toy_close.
func close(*Context) error { return nil }

// who is toy_who.
func who() (uintptr, error) { return library.Addr(), nil }
