// Package rknnrules checks a library against the rules of Rockchip's RKNN runtime C API: which calls succeed, which are
// refused with which code, in which order arguments are judged, what queries answer, how values are converted, and how
// long objects live. It knows no implementation; it calls a library file through the C ABI, in child processes, so that
// a crash or a hang is a result.
//
// A rule is one statement and has a number, SECTION.LETTER, by the sections of the RKNN reference notes: 1 prototypes,
// 2 contexts, 3 queries, 4 inputs, runs and outputs, 5 memory that a program brings, 6 dynamic shapes, 7 cores, 8
// custom operators, 9 threads, 10 codes and what messages say, 11 choices where boards are silent; m of the notes on
// matrix multiplication. Every rule has cases that must succeed and cases in which a call must be refused: what cannot
// fail by itself is given the nearest wrong use, what is only refused the nearest right one.
package rknnrules

import (
	"fmt"
	"strings"
)

// Rule is one statement about the API.
type Rule struct {
	ID    string // SECTION.LETTER_topic
	Text  string
	Cases []*Case
}

// Case is one situation of a rule.
type Case struct {
	Rule    *Rule
	Name    string
	Target  string   // the board whose answers are expected, "" for the default one
	Setting []string // NAME=VALUE of the environment that the case needs besides
	Refused bool     // a call of the case must be refused; else the last one must be accepted
	run     func(*T)
}

// ID is the case's name in reports.
func (c *Case) ID() string { return c.Rule.ID + "/" + c.Name }

// Number is SECTION.LETTER.
func (r *Rule) Number() string {
	n, _, _ := strings.Cut(r.ID, "_")
	return n
}

func rule(id, text string) *Rule { return &Rule{ID: id, Text: text} }

// ok adds a case that must end with an accepted call.
func (r *Rule) ok(name string, run func(*T)) *Rule {
	r.Cases = append(r.Cases, &Case{Rule: r, Name: name, run: run})
	return r
}

// no adds a case in which a call must be refused.
func (r *Rule) no(name string, run func(*T)) *Rule {
	r.Cases = append(r.Cases, &Case{Rule: r, Name: name, Refused: true, run: run})
	return r
}

// on puts the last case onto another board.
func (r *Rule) on(target string) *Rule {
	r.Cases[len(r.Cases)-1].Target = target
	return r
}

// with gives the last case a process with these variables.
func (r *Rule) with(setting ...string) *Rule {
	c := r.Cases[len(r.Cases)-1]
	c.Setting = append(c.Setting, setting...)
	return r
}

// BothKinds tells whether the rule has cases of both kinds.
func (r *Rule) BothKinds() bool {
	kinds := map[bool]bool{}
	for _, c := range r.Cases {
		kinds[c.Refused] = true
	}
	return len(kinds) == 2
}

var all []*Rule

// section adds rules to the suite, when the package is initialized.
func section(rules ...*Rule) []*Rule {
	all = append(all, rules...)
	return rules
}

// Rules returns all rules.
func Rules() []*Rule { return all }

// Cases returns the cases of all rules.
func Cases() []*Case {
	var out []*Case
	for _, r := range all {
		out = append(out, r.Cases...)
	}
	return out
}

// T is what a case runs with. A violated expectation ends the case.
type T struct {
	*library
	dir    string // an empty directory of the case
	defers []func()
	keep   []any // what the library may still read

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

// judged counts a call that was accepted or refused as it must be.
func (t *T) judged(accepted bool) {
	t.accepted = accepted
	if !accepted {
		t.refusals++
	}
}

// is demands a return code.
func (t *T) is(want int, function string, args ...any) {
	if got := int(int32(t.call(function, args...))); got != want {
		t.failf("%s%s%v: %s, want %s: %s", prefix, function, shown(args), codeName(got), codeName(want), t.lastError())
	}
	t.judged(want == success)
}

func (t *T) ok(function string, args ...any)  { t.is(success, function, args...) }
func (t *T) bad(function string, args ...any) { t.is(badParam, function, args...) }

// says demands that the message of the last refused call has all of these parts, if the library has messages.
func (t *T) says(parts ...string) {
	if t.errorText == 0 {
		return
	}
	text := t.lastError()
	for _, p := range parts {
		t.check(strings.Contains(text, p), "the message is %q: %q is not in it", text, p)
	}
}

// null demands NULL.
func (t *T) null(function string, args ...any) {
	p := t.call(function, args...)
	t.check(p == 0, "%s%s%v: %#x, want NULL", prefix, function, shown(args), p)
	t.judged(false)
}

// ptr demands a result that is not NULL.
func (t *T) ptr(function string, args ...any) uintptr {
	p := t.call(function, args...)
	t.check(p != 0, "%s%s%v: NULL: %s", prefix, function, shown(args), t.lastError())
	t.judged(true)
	return p
}

// shown lists arguments for messages.
func shown(args []any) string {
	var out []string
	for _, a := range args {
		switch a.(type) {
		case nil:
			out = append(out, "NULL")
		case int, uint32, int32, uint64, uintptr, string:
			out = append(out, fmt.Sprint(a))
		default:
			out = append(out, fmt.Sprintf("%T", a))
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// later runs f when the case ends.
func (t *T) later(f func()) { t.defers = append(t.defers, f) }

// Run computes a case and returns nil or the violated expectation, which includes that nothing is left behind if the
// library tells. dir is an empty directory.
func (c *Case) Run(l *library, dir string) (err error) {
	t := &T{library: l, dir: dir}
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
		if now := l.live(); err == nil && now != before {
			err = fmt.Errorf("%d handles and %d buffers left behind", now[0]-before[0], now[1]-before[1])
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
