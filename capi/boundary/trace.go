package boundary

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// An Arg is an argument of a traced call. It is written after the call, so that what the call stored can be shown.
type Arg func(ok bool) string

// Traced says whether the calls of a component are to be written, each with its arguments and result.
func Traced(f *Func) bool { return logger.enabled(LevelTrace, f.Component) }

// Value is an argument passed by value.
func Value[T any](v T) Arg { return func(bool) string { return fmt.Sprint(v) } }

// Address is a handle, or a pointer of which only the address is shown.
func Address[T uintptr | unsafe.Pointer](p T) Arg {
	return func(bool) string {
		if uintptr(p) == 0 {
			return "NULL"
		}
		return fmt.Sprintf("%#x", uintptr(p))
	}
}

// Text is a string argument; its contents are shown unless the call was refused.
func Text(p unsafe.Pointer) Arg {
	return func(ok bool) string {
		if p == nil || !ok {
			return Address(p)(ok)
		}
		s := goString(p)
		if len(s) == maxShown {
			return strconv.Quote(s) + "..."
		}
		return strconv.Quote(s)
	}
}

// Out is a pointer through which the call stores a value; the value is shown unless the call was refused.
func Out[T any](p unsafe.Pointer) Arg {
	return func(ok bool) string {
		if p == nil || !ok {
			return Address(p)(ok)
		}
		return fmt.Sprintf("%#x->%v", uintptr(p), *(*T)(p))
	}
}

// logged says whether report may write a line: informations are written only where errors are.
func (c *Call) logged() bool { return c.Args != nil || logger.enabled(LevelError, c.Func.Component) }

// report writes the line of a refused call and the line of a traced one.
func (c *Call) report(result string) {
	if c.Err != nil {
		setLastError(c.Func, c.Err)
		c.record()
	}
	if c.Err != nil && c.logged() {
		level := LevelError
		var n note
		if errors.As(c.Err, &n) {
			level = LevelInfo
		}
		if logger.enabled(level, c.Func.Component) {
			pairs := []any{"function", c.Func.Name}
			if result != "" {
				pairs = append(pairs, "result", result)
			}
			logger.emit(level, c.Func.Component, "call failed", append(pairs, "error", c.Err)...)
		}
	}
	if c.Args != nil {
		args := make([]string, len(c.Args))
		for i, a := range c.Args {
			args[i] = c.Func.Params[i] + "=" + a(c.Err == nil)
		}
		line := c.Func.Name + "(" + strings.Join(args, ", ") + ")"
		if result != "" {
			line += " = " + result
		}
		logger.write(LevelTrace, c.Func.Component, line)
	}
}

// took takes note of how long the call was.
func (c *Call) took() {
	if c.Began != 0 {
		recorder.Took(int(c.Func.Index), c.Func.Name, time.Since(clock)+1-time.Duration(c.Began))
	}
}

// maxShown is how much of a string a traced call shows.
const maxShown = 4096

// goString copies the beginning of a C string.
func goString(p unsafe.Pointer) string {
	n := 0
	for n < maxShown && *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
