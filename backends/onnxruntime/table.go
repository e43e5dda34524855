package onnxruntime

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// LeastVersion is the first API version whose libraries can be used, and lastVersion the one whose functions are
// listed: a newer one is not asked for.
const (
	LeastVersion = 24
	lastVersion  = 29
)

// table is the functions of a library.
type table struct {
	version string   // of the library, "1.24.1"
	api     *uintptr // OrtApi
}

// base is OrtApiBase.
type base struct{ getAPI, version uintptr }

// newTable asks a library for its table by the result of OrtGetApiBase. Kind fault.Unsupported for an older library.
func newTable(file string, apiBase uintptr) (*table, error) {
	if apiBase == 0 {
		return nil, fault.New(fault.Unsupported, "%s: it lacks the symbol OrtGetApiBase", file)
	}
	at, _, _ := purego.SyscallN(apiBase)
	if at == 0 {
		return nil, fault.New(fault.Device, "%s: OrtGetApiBase gives nothing", file)
	}
	b := (*base)(driver.Pointer(at))
	text, _, _ := purego.SyscallN(b.version)
	version, err := driver.Text(text)
	if err != nil {
		return nil, fault.Wrap(err, "%s: its version", file)
	}
	n, ok := minor(version)
	if !ok || n < LeastVersion {
		return nil, fault.New(fault.Unsupported, "%s: ONNX Runtime %s, want 1.%d.0 or newer", file, version, LeastVersion)
	}
	t := &table{version: version}
	// GetApi writes to stderr by itself when it is asked for more than the library has
	api, _, _ := purego.SyscallN(b.getAPI, uintptr(min(n, lastVersion)))
	if api == 0 {
		return nil, fault.New(fault.Device, "%s: ONNX Runtime %s has no API of version %d", file, version,
			min(n, lastVersion))
	}
	t.api = (*uintptr)(driver.Pointer(api))
	return t, nil
}

// minor is N of a version 1.N.p.
func minor(version string) (n int, ok bool) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 || parts[0] != "1" {
		return 0, false
	}
	n, err := strconv.Atoi(parts[1])
	return n, err == nil
}

// raw calls a function of OrtApi and returns its result.
//
//go:uintptrescapes
func (t *table) raw(fn int, arguments ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(entry(t.api, fn), arguments...)
	return r
}

// call calls a function of OrtApi that returns an OrtStatus. Results that it writes through pointers must be on the
// heap: the function may log, which comes back into Go and may move the stack.
//
//go:uintptrescapes
func (t *table) call(fn int, arguments ...uintptr) error {
	r, _, _ := purego.SyscallN(entry(t.api, fn), arguments...)
	return t.status(r)
}

func entry(table *uintptr, fn int) uintptr {
	return *(*uintptr)(unsafe.Add(unsafe.Pointer(table), fn*int(unsafe.Sizeof(uintptr(0)))))
}

// made is an object that a function gives through its last argument.
//
//go:uintptrescapes
func (t *table) made(fn int, arguments ...uintptr) (uintptr, error) {
	out := new(uintptr)
	var pin runtime.Pinner
	pin.Pin(out)
	defer pin.Unpin()
	if err := t.call(fn, append(arguments, uintptr(unsafe.Pointer(out)))...); err != nil {
		return 0, err
	}
	return *out, nil
}

// list is an array of pointers that a function gives through its last two arguments.
func (t *table) list(fn int, of uintptr) ([]uintptr, error) {
	out := new([2]uintptr) // address, count
	var pin runtime.Pinner
	pin.Pin(out)
	defer pin.Unpin()
	if err := t.call(fn, of, uintptr(unsafe.Pointer(&out[0])), uintptr(unsafe.Pointer(&out[1]))); err != nil {
		return nil, err
	}
	if out[1] == 0 {
		return nil, nil
	}
	return append([]uintptr(nil), unsafe.Slice((*uintptr)(driver.Pointer(out[0])), out[1])...), nil
}

// text is a string that a function returns.
func (t *table) text(fn int, of uintptr) string { return cText(t.raw(fn, of)) }

// Numbers of OrtErrorCode.
const (
	codeEngine = 5 // a provider has lost its device
)

// status is the error of an OrtStatus, which it frees. Kinds: fault.Memory where the runtime says that it has no
// memory, else fault.Device; with device.ErrDied in its chain when a provider has lost its device.
func (t *table) status(at uintptr) error {
	if at == 0 {
		return nil
	}
	code, text := int32(t.raw(fnGetErrorCode, at)), oneLine(t.text(fnGetErrorMessage, at))
	t.raw(fnReleaseStatus, at)
	switch {
	case code == codeEngine:
		return fault.As(fault.Device, device.ErrDied, "ONNX Runtime's code is %d: %s", code, text)
	case strings.Contains(text, "Failed to allocate memory"), strings.Contains(text, "bad_alloc"):
		return fault.As(fault.Memory, mem.ErrExhausted, "ONNX Runtime's code is %d: %s", code, text)
	}
	return fault.New(fault.Device, "ONNX Runtime's code is %d: %s", code, text)
}

// refused makes an error of a function by which a provider judges a model a refusal, but for want of memory and a
// device that is lost.
func refused(err error) error {
	if err == nil || fault.KindOf(err) == fault.Memory || isDead(err) {
		return err
	}
	return fault.New(fault.Unsupported, "%v", err)
}

func isDead(err error) bool { return errors.Is(err, device.ErrDied) }
