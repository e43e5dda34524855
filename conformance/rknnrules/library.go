package rknnrules

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is the C API of one file, called by name. All parameters of this API are integers or pointers, so one way of
// calling serves every function.
type library struct {
	path      string
	symbols   map[string]uintptr
	called    map[string]bool // functions called since the last reset
	counters  [2]uintptr      // of the library's handles and buffers, 0 where it has none
	errorText uintptr         // of the message of the last call that failed, 0 where it has none
	setLog    uintptr         // hands log lines to a function, 0 where it has none
	lines     *logLines
}

// open binds every function of Functions that the file has.
func open(path string) (*library, error) {
	runtime.LockOSThread() // dlerror's text belongs to the thread
	defer runtime.UnlockOSThread()
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	l := &library{path: path, symbols: map[string]uintptr{}, called: map[string]bool{}}
	for _, name := range slices.Concat(Functions, Historical) {
		if symbol, err := purego.Dlsym(lib, name); err == nil {
			l.symbols[name] = symbol
		}
	}
	if l.symbols[prefix+"init"] == 0 {
		return nil, fmt.Errorf("%s: %sinit is missing", path, prefix)
	}
	for name, to := range map[string]*uintptr{
		"anynpu_live_handles": &l.counters[0], "anynpu_live_buffers": &l.counters[1],
		"anynpu_last_error": &l.errorText, "anynpu_set_log_callback": &l.setLog,
	} {
		if symbol, err := purego.Dlsym(lib, name); err == nil {
			*to = symbol
		}
	}
	l.lines = listen(l.setLog)
	return l, nil
}

// live counts the library's handles and buffers, 0 where it does not tell.
func (l *library) live() (counts [2]int) {
	for i, symbol := range l.counters {
		if symbol != 0 {
			n, _, _ := purego.SyscallN(symbol)
			counts[i] = int(n)
		}
	}
	return counts
}

// lastError is the message of this thread's last call that failed.
func (l *library) lastError() string {
	if l.errorText == 0 {
		return ""
	}
	p, _, _ := purego.SyscallN(l.errorText)
	return text(p)
}

// prefix begins the name of every function; cases leave it out.
const prefix = "rknn_"

// call calls a function by its name without the prefix. Arguments are nil, integers, strings (passed with a final 0),
// slices (passed as their first element's address) and pointers.
func (l *library) call(name string, args ...any) uintptr {
	full := name
	if !slices.Contains(Functions, full) {
		full = prefix + name
	}
	symbol := l.symbols[full]
	if symbol == 0 {
		panic(violation(full + " is missing"))
	}
	l.called[full] = true
	values := make([]uintptr, len(args))
	keep := slices.Clone(args)
	for i, a := range args {
		values[i], keep[i] = argument(a)
	}
	r, _, _ := purego.SyscallN(symbol, values...)
	runtime.KeepAlive(keep)
	return r
}

// argument returns the register value of a, and what must live as long as the call.
func argument(a any) (uintptr, any) {
	if a == nil {
		return 0, nil
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.String:
		b := append([]byte(v.String()), 0)
		return address(&b[0]), b
	case reflect.Int32:
		return uintptr(uint32(v.Int())), nil
	case reflect.Int:
		return uintptr(v.Int()), nil
	case reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return uintptr(v.Uint()), nil
	case reflect.Pointer, reflect.Slice, reflect.UnsafePointer:
		return v.Pointer(), a
	}
	panic(fmt.Sprintf("rknnrules: argument of type %T", a))
}

func address[E any](p *E) uintptr { return uintptr(unsafe.Pointer(p)) }

// at returns the value at an address that the library gave.
func at[E any](addr uintptr) *E { return *(**E)(unsafe.Pointer(&addr)) }

// span is memory of the library as a slice.
func span[E any](addr uintptr, n int) []E { return unsafe.Slice(at[E](addr), n) }

// text copies the string at an address that the library gave.
func text(addr uintptr) string {
	var b []byte
	for p := addr; p != 0; p++ {
		c := *at[byte](p)
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// bytesOf is the memory of a slice.
func bytesOf[E any](v []E) []byte {
	var e E
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(e)))
}

// as reads bytes as elements.
func as[E any](b []byte) []E {
	var e E
	out := make([]E, len(b)/int(unsafe.Sizeof(e)))
	copy(bytesOf(out), b)
	return out
}
