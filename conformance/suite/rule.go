package suite

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Rule is one statement about an API. C is the type that the cases of the API run with.
//
// A rule has cases that end with an accepted call and cases in which a call must be refused: what cannot fail by itself
// is given the nearest wrong use, what is only refused the nearest right one.
type Rule[C any] struct {
	ID    string // begins with the section of docs/abi
	Text  string
	Cases []*Case[C]
	not   []string // modes that the rule says nothing about
	ours  string   // why other libraries are not held to the rule, "": they are
}

// Case is one situation of a rule.
type Case[C any] struct {
	Rule    *Rule[C]
	Name    string
	Setting []string // NAME=VALUE of the environment that the case's process needs besides that of the suite
	Mode    string   // the only mode that the case is for, "" for all
	Refused bool     // a call of the case must be refused; else the last one must be accepted
	Run     func(C)
}

// ID is the case's name in reports.
func (c *Case[C]) ID() string { return c.Rule.ID + "/" + c.Name }

func (c *Case[C]) appliesIn(mode string) bool {
	return c.Mode == mode || c.Mode == "" && !slices.Contains(c.Rule.not, mode)
}

// NewRule returns a rule without cases.
func NewRule[C any](id, text string) *Rule[C] { return &Rule[C]{ID: id, Text: text} }

// OK adds a case that must end with an accepted call.
func (r *Rule[C]) OK(name string, run func(C)) *Rule[C] {
	r.Cases = append(r.Cases, &Case[C]{Rule: r, Name: name, Run: run})
	return r
}

// No adds a case in which a call must be refused.
func (r *Rule[C]) No(name string, run func(C)) *Rule[C] {
	r.Cases = append(r.Cases, &Case[C]{Rule: r, Name: name, Refused: true, Run: run})
	return r
}

// With gives the last case a process with these variables, NAME=VALUE.
func (r *Rule[C]) With(setting ...string) *Rule[C] {
	c := r.Cases[len(r.Cases)-1]
	c.Setting = append(slices.Clone(c.Setting), setting...)
	return r
}

// In restricts the last case to a mode, whose name ends its own.
func (r *Rule[C]) In(mode string) *Rule[C] {
	c := r.Cases[len(r.Cases)-1]
	c.Mode, c.Name = mode, c.Name+"_"+mode
	return r
}

// NotIn says that the rule is not one of a mode, except for cases that are only for that mode.
func (r *Rule[C]) NotIn(mode string) *Rule[C] {
	r.not = append(r.not, mode)
	return r
}

// Ours says that the rule is this project's own, and why: other libraries are not held to it.
func (r *Rule[C]) Ours(why string) *Rule[C] {
	r.ours = why
	return r
}

// ownPrefix begins the names of variables that only this project's library reads.
const ownPrefix = "ANYNPU_"

// BoardVariable tells children the board of the library, as Options.Board has it.
const BoardVariable = "CONFORMANCE_BOARD"

// own says why libraries other than this project's are not held to the case, "" if they are. Cases that expect the
// answers of a board are for libraries of that board.
func (c *Case[C]) own(a *API) string {
	if c.Rule.ours != "" {
		return "AnyNPU's own: " + c.Rule.ours
	}
	for _, s := range c.Setting {
		switch name, value, _ := strings.Cut(s, "="); {
		case name == a.Board && value == os.Getenv(BoardVariable):
		case name == a.Board:
			return fmt.Sprintf("the case is for the board %q: --board names that of the library", value)
		case strings.HasPrefix(name, ownPrefix):
			return "AnyNPU's own: the case sets " + name
		}
	}
	return ""
}

// BothKinds tells whether the rule has cases of both kinds in each of the modes; no modes count as one.
func (r *Rule[C]) BothKinds(modes []Mode) bool {
	for _, m := range orOne(modes) {
		if slices.Contains(r.not, m.Name) {
			continue
		}
		kinds := map[bool]bool{}
		for _, c := range r.Cases {
			if c.appliesIn(m.Name) {
				kinds[c.Refused] = true
			}
		}
		if len(kinds) != 2 {
			return false
		}
	}
	return true
}

// compute runs the case and returns nil or the violated expectation, see T.Compute. wrap makes of t what the case runs
// with.
func (c *Case[C]) compute(t *T, wrap func(*T) C) error {
	return t.Compute(func() {
		c.Run(wrap(t))
		if c.Refused {
			t.Check(t.refusals > 0, "nothing was refused: the case is one of the other kind")
		} else {
			t.Check(t.accepted, "the last call was refused: the case is one of the other kind")
		}
	})
}
