// Package rules checks a library against the rules of the OH_NN C API: which calls succeed, which are refused with
// which code, in which order arguments are judged, and how long objects and pointers live. It knows no implementation;
// it calls a library file through the C ABI, in child processes, so that a crash or a hang is a result.
//
// Rules are numbered by the sections of the OH_NN reference notes: 2 devices, 3 tensor descriptors, 4 tensors, 5
// quantization parameters, 6 models, 7 compilations, 8 executors, 9 caches, 10 executors of API 9, 11 inner functions,
// 14 places where manual and reference implementation differ. Every rule has cases that must succeed and cases in which
// a call must be refused: what cannot fail by itself is given the nearest wrong use, what is only refused the nearest
// right one. Where an upstream test asserts nothing, the manual is expected by default and the reference implementation
// with ANYNPU_OHNN_COMPAT=reference.
package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// Mode is which of two descriptions of the API a library is held to.
type Mode string

// The modes.
const (
	Default   Mode = "manual"    // the manual, where no upstream test contradicts it
	Reference Mode = "reference" // the reference implementation
)

// Modes are all modes.
var Modes = []Mode{Default, Reference}

// Rule is one statement about the API.
type Rule struct {
	ID    string // s<section>_<function or topic>[_<aspect>]
	Text  string
	Cases []*Case
}

// Case is one situation of a rule.
type Case struct {
	Rule    *Rule
	Name    string
	Setup   Setup
	Mode    Mode // "" for both
	Refused bool // a call of the case must be refused; else the last one must be accepted
	run     func(*T)
}

// ID is the case's name in reports.
func (c *Case) ID() string { return c.Rule.ID + "/" + c.Name }

func (c *Case) appliesIn(m Mode) bool { return c.Mode == "" || c.Mode == m }

// Section is the number in the rule's name.
func (r *Rule) Section() int {
	head, _, _ := strings.Cut(strings.TrimPrefix(r.ID, "s"), "_")
	n, err := strconv.Atoi(head)
	if err != nil {
		panic("rules: " + r.ID + " names no section")
	}
	return n
}

func rule(id, text string) *Rule { return &Rule{ID: id, Text: text} }

// ok adds a case that must end with an accepted call.
func (r *Rule) ok(name string, run func(*T)) *Rule {
	r.Cases = append(r.Cases, &Case{Rule: r, Name: name, run: run})
	return r
}

// no adds a case in which something must be refused.
func (r *Rule) no(name string, run func(*T)) *Rule {
	r.Cases = append(r.Cases, &Case{Rule: r, Name: name, Refused: true, run: run})
	return r
}

// in puts the last case into a library with other devices.
func (r *Rule) in(s Setup) *Rule {
	r.Cases[len(r.Cases)-1].Setup = s
	return r
}

// when restricts the last case to a mode, whose name ends its own.
func (r *Rule) when(m Mode) *Rule {
	c := r.Cases[len(r.Cases)-1]
	c.Mode, c.Name = m, c.Name+"_"+string(m)
	return r
}

// BothKinds tells whether the rule has cases of both kinds in each of the modes.
func (r *Rule) BothKinds() bool {
	for _, m := range Modes {
		kinds := map[bool]bool{}
		for _, c := range r.Cases {
			if c.appliesIn(m) {
				kinds[c.Refused] = true
			}
		}
		if len(kinds) != 2 {
			return false
		}
	}
	return true
}

// Rules returns all rules in the order of their sections.
func Rules() []*Rule {
	var out []*Rule
	for _, s := range [][]*Rule{
		devices, descriptors, tensors, quantParams, models, modelOperations, compilations, builds, executors, runs, caches,
		legacyExecutors,
		legacyMemory, inner, differences, executorDifferences,
	} {
		out = append(out, s...)
	}
	return out
}

// Cases returns the cases of all rules.
func Cases() []*Case {
	var out []*Case
	for _, r := range Rules() {
		out = append(out, r.Cases...)
	}
	return out
}

// T is what a case runs with. A violated expectation ends the case.
type T struct {
	*library
	Mode   Mode
	dir    string // an empty directory of the case
	defers []func()
	keep   []any // what the library may still read
	lost   int   // buffers that the case leaves behind on purpose

	refusals int  // calls that were refused as they must be
	accepted bool // the last judged call was accepted
}

// violation is what a failed expectation panics with.
type violation string

func (t *T) failf(format string, args ...any) { panic(violation(fmt.Sprintf(format, args...))) }

// check demands a condition.
func (t *T) check(ok bool, format string, args ...any) {
	if !ok {
		t.failf(format, args...)
	}
}

// is demands a return code.
func (t *T) is(want int, function string, args ...any) {
	if got := int(uint32(t.call(function, args...))); got != want {
		t.failf("%s%s%s: %s, want %s", prefix, function, shown(args), codeName(got), codeName(want))
	}
	t.judged(want == success)
}

// judged counts a call that was accepted or refused as it must be.
func (t *T) judged(accepted bool) {
	t.accepted = accepted
	if !accepted {
		t.refusals++
	}
}

// noEffect counts a call that gives no code as refused; effect tells whether it did something.
func (t *T) noEffect(effect bool, format string, args ...any) {
	t.check(!effect, format, args...)
	t.judged(false)
}

func (t *T) ok(function string, args ...any)  { t.is(success, function, args...) }
func (t *T) bad(function string, args ...any) { t.is(invalid, function, args...) }

// by chooses an expectation by mode.
func (t *T) by(inDefault, inReference int) int {
	if t.Mode == Reference {
		return inReference
	}
	return inDefault
}

// ptr demands a result that is not NULL.
func (t *T) ptr(function string, args ...any) uintptr {
	p := t.call(function, args...)
	t.check(p != 0, "%s%s%s: NULL", prefix, function, shown(args))
	t.judged(true)
	return p
}

// null demands NULL.
func (t *T) null(function string, args ...any) {
	p := t.call(function, args...)
	t.check(p == 0, "%s%s%s: %#x, want NULL", prefix, function, shown(args), p)
	t.judged(false)
}

// shown lists arguments for messages.
func shown(args []any) string {
	var out []string
	for _, a := range args {
		switch v := a.(type) {
		case nil:
			out = append(out, "NULL")
		case uintptr:
			out = append(out, fmt.Sprintf("%#x", v))
		case *uintptr, *uint32, *int32, *uint64, *bool, *array, *legacyTensor, *memory, []tensorInfo, []extension:
			out = append(out, "&")
		case []byte:
			out = append(out, fmt.Sprintf("[%d bytes]", len(v)))
		default:
			out = append(out, fmt.Sprint(v))
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// later runs f when the case ends.
func (t *T) later(f func()) { t.defers = append(t.defers, f) }

// Run computes a case and returns nil or the violated expectation, which includes that nothing is left behind if the
// library tells. dir is an empty directory.
func (c *Case) Run(l *library, mode Mode, dir string) (err error) {
	t := &T{library: l, Mode: mode, dir: dir}
	before := l.live()
	defer func() {
		for i := len(t.defers) - 1; i >= 0; i-- {
			t.defers[i]()
		}
		if v := recover(); v != nil {
			text, ok := v.(violation)
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("%s", text)
		}
		if now := l.live(); err == nil && (now[0] != before[0] || now[1] != before[1]+t.lost) {
			err = fmt.Errorf("%d handles and %d buffers left behind, want 0 and %d", now[0]-before[0], now[1]-before[1], t.lost)
		}
	}()
	c.run(t)
	if c.Refused {
		t.check(t.refusals > 0, "nothing was refused: the case is one of the other kind")
	} else {
		t.check(t.accepted, "the last call was refused: the case is one of the other kind")
	}
	return nil
}
