//go:build !cgo && !drivers

package driver

import "errors"

const (
	rtldNow     = 0x2
	rtldLazy    = 0x1
	rtldLocal   = 0x0
	rtldDefault = uintptr(0)
)

// errNoLoader is the answer of a program that is built without C: no library of a vendor runs in it.
var errNoLoader = errors.New("this program is built without C and opens no libraries")

func dlopen(string, int) (lib uintptr, err error) { return 0, errNoLoader }

func dlclose(uintptr) {}

func dlsym(uintptr, string) (uintptr, error) { return 0, errNoLoader }

// callC is not reached: dlsym finds no function.
func callC(uintptr, ...uintptr) uintptr { panic("driver: a call into C in a program without it") }
