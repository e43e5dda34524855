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
// The functions that make one are not inlined: each of some thousand places would have a copy of their closures.
type Arg func(ok bool) string

// Traced says whether the calls of a component are to be written, each with its arguments and result.
func Traced(f *Func) bool { return logger.enabled(LevelTrace, f.Component) }

// Value is an argument passed by value.
//
//go:noinline
func Value[T any](v T) Arg { return func(bool) string { return fmt.Sprint(v) } }

// Named is a number passed by value that has a name.
//
//go:noinline
func Named[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](v T, e *Enum) Arg {
	return func(bool) string { return e.text(int64(v)) }
}

// Address is a handle, or a pointer of which only the address is shown.
//
//go:noinline
func Address[T uintptr | unsafe.Pointer](p T) Arg {
	return func(bool) string { return addressText(uintptr(p)) }
}

// Text is a string argument; its contents are shown unless the call was refused.
//
//go:noinline
func Text(p unsafe.Pointer) Arg {
	return func(ok bool) string {
		if p == nil || !ok {
			return addressText(uintptr(p))
		}
		s := goString(p)
		if len(s) == maxShown {
			return strconv.Quote(s) + "..."
		}
		return strconv.Quote(s)
	}
}

// Out is a pointer through which the call stores a value; the value is shown unless the call was refused.
//
//go:noinline
func Out[T any](p unsafe.Pointer) Arg {
	return func(ok bool) string {
		if p == nil || !ok {
			return addressText(uintptr(p))
		}
		v := any(*(*T)(p))
		if address, is := v.(uintptr); is {
			v = addressText(address)
		}
		return fmt.Sprintf("%#x->%v", uintptr(p), v)
	}
}

// OutNamed is Out of a number that has a name.
//
//go:noinline
func OutNamed(p unsafe.Pointer, size uintptr, e *Enum) Arg {
	return func(ok bool) string {
		data, readable := memoryAt(uintptr(p), size)
		if !ok || !readable {
			return addressText(uintptr(p))
		}
		return fmt.Sprintf("%#x->%s", uintptr(p), e.text(signed(data)))
	}
}

// OutText is Out of a pointer to a string.
//
//go:noinline
func OutText(p unsafe.Pointer) Arg {
	return func(ok bool) string {
		data, readable := memoryAt(uintptr(p), 8)
		if !ok || !readable {
			return addressText(uintptr(p))
		}
		at := uintptr(signed(data))
		if text, readable := ReadableText(cPointer(at)); readable && at != 0 {
			return fmt.Sprintf("%#x->%s", uintptr(p), quoted(append([]byte(text), 0)))
		}
		return fmt.Sprintf("%#x->%s", uintptr(p), addressText(at))
	}
}

// Struct is a pointer to a struct, which is shown by its fields as the call has left it. A refused call shows
// it only if the call reads it: a refused call has stored nothing.
//
//go:noinline
func Struct(p unsafe.Pointer, l *Layout, reads bool) Arg {
	return func(ok bool) string {
		if !ok && !reads {
			return addressText(uintptr(p))
		}
		return l.text(uintptr(p), deepest)
	}
}

// StructArray is Struct for n structs in a row.
//
//go:noinline
func StructArray(p unsafe.Pointer, n uint64, l *Layout, reads bool) Arg {
	return func(ok bool) string {
		if !ok && !reads {
			return addressText(uintptr(p))
		}
		return l.texts(uintptr(p), n)
	}
}

// NumberArray is an array of n numbers.
//
//go:noinline
func NumberArray(p unsafe.Pointer, n uint64, kind Kind, size uintptr, e *Enum, reads bool) Arg {
	return func(ok bool) string {
		if !ok && !reads {
			return addressText(uintptr(p))
		}
		return numbersText(uintptr(p), n, kind, size, e)
	}
}

// ChosenStruct is one of n bytes whose layout the number of another argument chooses. Others are addresses.
//
//go:noinline
func ChosenStruct(p unsafe.Pointer, n uint64, number int64, layouts []Choice) Arg {
	return func(ok bool) string {
		for _, c := range layouts {
			if c.Number == number && ok && n >= uint64(c.Layout.Size) {
				return c.Layout.text(uintptr(p), deepest)
			}
		}
		return addressText(uintptr(p))
	}
}

// A Choice is the struct that a number stands for.
type Choice struct {
	Number int64
	Layout *Layout
}

// logged says whether report may write a line: informations are written only where errors are.
func (c *Call) logged() bool { return c.Args != nil || logger.enabled(LevelError, c.Func.Component) }

// report writes the line of a refused call and the line of a traced one, which has the result as shown.
func (c *Call) report(result, shown string) {
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
		if shown != "" {
			line += " = " + shown
		}
		line += fmt.Sprintf(" in %.3f ms", c.long.Seconds()*1e3)
		logger.write(LevelTrace, c.Func.Component, line)
	}
}

// Began is when a call begins, in nanoseconds from 1, for a record or the trace; 0 where there is neither.
func Began(f *Func) int64 {
	if recorder == nil && !Traced(f) {
		return 0
	}
	return int64(time.Since(clock)) + 1
}

// took takes note of how long the call was.
func (c *Call) took() {
	if c.Began == 0 {
		return
	}
	c.long = time.Since(clock) + 1 - time.Duration(c.Began)
	if recorder != nil {
		recorder.Took(int(c.Func.Index), c.Func.Name, c.long)
	}
}

// resultText is a result as the trace shows it: by name, a string by its text, another pointer by its address.
func resultText[R any](f *Func, result R) string {
	switch v := any(result).(type) {
	case int32:
		if f.Result != nil {
			return f.Result.text(int64(v))
		}
	case uint32:
		if f.Result != nil {
			return f.Result.text(int64(v))
		}
	case uintptr:
		if !f.Text || v == 0 {
			return addressText(v)
		}
		if text, ok := ReadableText(cPointer(v)); ok {
			return quoted(append([]byte(text), 0))
		}
		return addressText(v)
	}
	return fmt.Sprint(result)
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
