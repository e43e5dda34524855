package suite

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// T is what a case runs with. A violated expectation ends the case. A rule suite embeds it in a type of its own.
type T struct {
	*Library
	Mode string // of the run, "" where the suite has no modes
	Dir  string // an empty directory of the case
	Lost int    // buffers that the case leaves behind on purpose

	defers   []func()
	keep     []any
	refusals int  // calls that were refused as they must be
	accepted bool // the last judged call was accepted
}

// violation is what a failed expectation panics with.
type violation string

// lacking is what a case that the library cannot be judged by panics with.
type lacking string

func (l lacking) Error() string { return string(l) }

// Skip ends the case: the library says that it lacks what the case is about.
func (t *T) Skip(format string, args ...any) { panic(lacking(fmt.Sprintf(format, args...))) }

// Lacks is Skip for a library of other people. This project's own computes whatever the suites have: it fails.
func (t *T) Lacks(format string, args ...any) {
	if t.Ours() {
		t.Failf("the library refuses what it has to compute: "+format, args...)
	}
	t.Skip(format, args...)
}

// Outside ends a case that is recorded as a C program: a record does not have what.
func (t *T) Outside(what string) {
	if t.Recorded() {
		t.Skip("a record does not have %s", what)
	}
}

// Failf ends the case.
func (t *T) Failf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.condition(false, text, format, args)
	panic(violation(text))
}

// Recorded tells whether the case is recorded as a C program. It leaves out what a record does not have, and goes on.
func (t *T) Recorded() bool { return t.recorder() != nil }

// condition records a condition of the case.
func (t *T) condition(ok bool, text, format string, args []any) {
	if t.Library == nil {
		return
	}
	if rec := t.recorder(); rec != nil {
		rec.Check(ok, text, format, args)
	}
}

// Check demands a condition.
func (t *T) Check(ok bool, format string, args ...any) {
	if !ok {
		t.Failf(format, args...)
	}
	t.condition(true, "", format, args)
}

// Judged counts a call that was accepted or refused as it must be.
func (t *T) Judged(accepted bool) {
	t.accepted = accepted
	if !accepted {
		t.refusals++
	}
}

// NoEffect counts a call that gives no code as refused; effect tells whether it did something.
func (t *T) NoEffect(effect bool, format string, args ...any) {
	t.Check(!effect, format, args...)
	t.Judged(false)
}

// Is demands a return code.
func (t *T) Is(want int, function string, args ...any) {
	got := t.Code(function, args...)
	t.Judge(trace.Event{Kind: trace.Code, Codes: []int{want}})
	if got != want {
		why := ""
		if got != t.API.Success {
			why = t.because()
		}
		t.Failf("%s: %s, want %s%s", t.Shown(function, args...), t.API.CodeName(got), t.API.CodeName(want), why)
	}
	t.Judged(want == t.API.Success)
}

// IsThrough demands a return code of a call by the C function at via.
func (t *T) IsThrough(want int, via uintptr, function string, args ...any) {
	if got := int(int32(t.Through(via, function, args...))); got != want {
		t.Failf("%s: %s, want %s", t.Shown(function, args...), t.API.CodeName(got), t.API.CodeName(want))
	}
	t.Judged(want == t.API.Success)
}

// OK demands that a call is accepted.
func (t *T) OK(function string, args ...any) { t.Is(t.API.Success, function, args...) }

// Bad demands that a call is refused because of an argument.
func (t *T) Bad(function string, args ...any) { t.Is(t.API.BadParam, function, args...) }

// Ptr demands a result that is not NULL.
func (t *T) Ptr(function string, args ...any) uintptr {
	p := t.Call(function, args...)
	t.Judge(trace.Event{Kind: trace.Pointer})
	if p == 0 {
		t.Failf("%s: NULL%s", t.Shown(function, args...), t.because())
	}
	t.Judged(true)
	return p
}

// Null demands NULL.
func (t *T) Null(function string, args ...any) {
	p := t.Call(function, args...)
	t.Judge(trace.Event{Kind: trace.Null})
	t.Check(p == 0, "%s: %#x, want NULL", t.Shown(function, args...), p)
	t.Judged(false)
}

// because is the library's message of the last call that failed, as the end of a sentence.
func (t *T) because() string {
	if text := t.LastError(); text != "" {
		return ": " + text
	}
	return ""
}

// Says demands that the message of the last refused call has all of these parts, if the library has messages.
func (t *T) Says(parts ...string) {
	if !t.HasMessages() {
		return
	}
	text := t.LastError()
	for _, p := range parts {
		t.Check(strings.Contains(text, p), "the message is %q: %q is not in it", text, p)
	}
}

// Logs demands that the log since the last TakeLog has all of these parts, if the library hands it over.
func (t *T) Logs(parts ...string) {
	if !t.HasLog() {
		return
	}
	got := joined(t.TakeLog())
	for _, p := range parts {
		t.Check(strings.Contains(got, p), "the log has %q: %q is not in it", got, p)
	}
}

// Silent demands that nothing was logged since the last TakeLog.
func (t *T) Silent() {
	got := joined(t.TakeLog())
	t.Check(got == "", "the log has %q", got)
}

// Later runs f when the case ends, what was put off last first.
func (t *T) Later(f func()) { t.defers = append(t.defers, f) }

// Keep keeps what the library may still read alive until the case ends.
func (t *T) Keep(v any) { t.keep = append(t.keep, v) }

// Parallel runs f in n threads at the same time, each with a T of its own and its number, and ends the case with the
// first violation. What calls of the threads were accepted or refused counts for their own T only.
func (t *T) Parallel(n int, f func(own *T, i int)) {
	var wg sync.WaitGroup
	violated := make(chan error, n)
	t.Judge(trace.Event{Kind: trace.Fork})
	for i := range n {
		wg.Go(func() {
			runtime.LockOSThread() // a message belongs to the thread whose call failed
			defer runtime.UnlockOSThread()
			own := &T{Library: t.Library, Mode: t.Mode, Dir: t.Dir}
			if err := own.run(func() { f(own, i) }); err != nil {
				violated <- err
			}
		})
	}
	wg.Wait()
	t.Judge(trace.Event{Kind: trace.Join})
	select {
	case err := <-violated:
		t.Failf("%v", err)
	default:
	}
}

// Compute runs f and returns nil or the violated expectation, which includes that nothing is left behind if the library
// tells.
func (t *T) Compute(f func()) error {
	before := t.Live()
	err := t.run(f)
	if now := t.Live(); err == nil && (now[0] != before[0] || now[1] != before[1]+t.Lost) {
		return fmt.Errorf("%d handles and %d buffers left behind, want 0 and %d", now[0]-before[0], now[1]-before[1], t.Lost)
	}
	return err
}

// run runs f, then what it has put off, and returns the violation that ended it.
func (t *T) run(f func()) (err error) {
	defer func() {
		for i := len(t.defers) - 1; i >= 0; i-- {
			t.defers[i]()
		}
		runtime.KeepAlive(t.keep)
		if v := recover(); v != nil {
			switch v := v.(type) {
			case violation:
				err = fmt.Errorf("%s", string(v))
			case lacking:
				err = v
			default:
				panic(v)
			}
		}
	}()
	f()
	return nil
}

// Shown shows a call in messages: full name and arguments.
func (l *Library) Shown(function string, args ...any) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = shown(a)
	}
	return l.API.Prefix + function + "(" + strings.Join(out, ", ") + ")"
}

func shown(a any) string {
	switch v := a.(type) {
	case nil:
		return "NULL"
	case uintptr:
		return fmt.Sprintf("%#x", v)
	case []byte:
		return fmt.Sprintf("[%d bytes]", len(v))
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Pointer, reflect.UnsafePointer:
		return "&"
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			return "&"
		}
	}
	return fmt.Sprint(a)
}
