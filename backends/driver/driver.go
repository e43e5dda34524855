// Package driver calls the functions of a vendor's library. Each API with drivers has a generated package beside it,
// such as backends/rknn, with a method per function; what the API's numbers mean is for its callers.
package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
)

// MaxArguments is how many arguments a function can have: pointers and integers, no floating-point number and no
// struct.
const MaxArguments = 8

// A Library is the functions of an open library. It is safe for concurrent use once bound.
type Library struct {
	file    string
	symbols []string
	address []uintptr
	through uintptr
	facade  uintptr
	alive   func() error // nil: always
}

// Bind looks up every symbol in the library called file. lookup returns the address of one, 0 if the library lacks it.
func Bind(file string, symbols []string, lookup func(symbol string) uintptr) *Library {
	l := &Library{file: file, symbols: symbols, address: make([]uintptr, len(symbols))}
	for i, s := range symbols {
		l.address[i] = lookup(s)
	}
	return l
}

// File returns the name of the library's file.
func (l *Library) File() string { return l.file }

// Missing returns the symbols that the library lacks.
func (l *Library) Missing() []string {
	var out []string
	for i, s := range l.symbols {
		if l.address[i] == 0 {
			out = append(out, s)
		}
	}
	return out
}

// Has says whether the library has a symbol.
func (l *Library) Has(symbol string) bool {
	for i, s := range l.symbols {
		if s == symbol {
			return l.address[i] != 0
		}
	}
	return false
}

// Needs is an error of kind fault.Unsupported, which names the first of the symbols that the library lacks, if any.
func (l *Library) Needs(symbols []string) error {
	for _, s := range symbols {
		if !l.Has(s) {
			return fault.New(fault.Unsupported, "%s has no function %s", l.file, s)
		}
	}
	return nil
}

// Sum is the SHA-256 of the library's file in hexadecimal. Kind fault.File when it cannot be read.
func (l *Library) Sum() (string, error) {
	f, err := os.Open(l.file)
	if err != nil {
		return "", fault.As(fault.File, err, "the driver")
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fault.As(fault.File, err, "the driver")
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Addresses returns the addresses of the functions that the library has, by symbol.
func (l *Library) Addresses() map[string]uintptr {
	out := map[string]uintptr{}
	for i, s := range l.symbols {
		if l.address[i] != 0 {
			out[s] = l.address[i]
		}
	}
	return out
}

// Through lets every later call go by the C function at address caller,
//
//	uintptr_t caller(uintptr_t facade, void *function, const uintptr_t arguments[MaxArguments]);
//
// which marks the thread as being in the driver of a façade. A library that is used before has no such mark. Must not
// be called while a function runs.
func (l *Library) Through(caller, facade uintptr) { l.through, l.facade = caller, facade }

// While has every later call ask whether the driver lives: no function is called any more once alive has an error,
// which is the call's. Must not be called while a function runs.
func (l *Library) While(alive func() error) { l.alive = alive }

// Bool is a truth value as an argument.
func Bool(v bool) uintptr {
	if v {
		return 1
	}
	return 0
}

// Call calls the function with number i. A function that the library lacks is an error that names file and symbol, and
// nothing is called; nor is it after the driver's death (While). Arguments that are addresses of Go memory are written
// as conversions in the call itself.
//
//go:uintptrescapes
func (l *Library) Call(i int, arguments ...uintptr) (uintptr, error) {
	if l.address[i] == 0 {
		return 0, fault.New(fault.Unsupported, "%s has no function %s", l.file, l.symbols[i])
	}
	if l.alive != nil {
		if err := l.alive(); err != nil {
			return 0, err
		}
	}
	if l.through == 0 {
		r := callC(l.address[i], arguments...)
		return r, nil
	}
	all := new([MaxArguments]uintptr)
	copy(all[:], arguments)
	r := callC(l.through, l.facade, l.address[i], uintptr(unsafe.Pointer(all)))
	return r, nil
}
