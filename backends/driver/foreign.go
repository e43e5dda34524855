//go:build cgo || drivers

package driver

import "github.com/ebitengine/purego"

// The loader's functions, and calls of the functions that it finds. A program that is built without C and without the
// tag "drivers" has those of foreign_none.go, so that it needs no loader itself.
const (
	rtldNow     = purego.RTLD_NOW
	rtldLazy    = purego.RTLD_LAZY
	rtldLocal   = purego.RTLD_LOCAL
	rtldDefault = uintptr(purego.RTLD_DEFAULT)
)

func dlopen(file string, flags int) (lib uintptr, err error) { return purego.Dlopen(file, flags) }

func dlclose(lib uintptr) { _ = purego.Dlclose(lib) }

func dlsym(lib uintptr, symbol string) (uintptr, error) { return purego.Dlsym(lib, symbol) }

// callC calls a function of C and returns its result.
//
//go:uintptrescapes
func callC(function uintptr, arguments ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, arguments...)
	return r
}
