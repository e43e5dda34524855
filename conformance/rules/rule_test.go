package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

func TestRules_haveBothKinds(t *testing.T) {
	sections := map[int]bool{}
	ids := map[string]bool{}
	for _, r := range Rules() {
		sections[r.Section()] = true
		assert.NotEmpty(t, r.Text, r.ID)
		for _, c := range r.Cases {
			assert.False(t, ids[c.ID()], "two cases %s", c.ID())
			ids[c.ID()] = true
		}
		assert.True(t, r.BothKinds(), "%s: want cases that succeed and cases that are refused", r.ID)
	}
	for _, s := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14} {
		assert.True(t, sections[s], "section %d", s)
	}
	seen := map[string]bool{}
	for _, r := range Rules() {
		assert.False(t, seen[r.ID], "two rules %s", r.ID)
		seen[r.ID] = true
	}
}

func TestFunctions_distinct(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Functions {
		assert.True(t, strings.HasPrefix(f, prefix), f)
		assert.False(t, seen[f], "%s twice", f)
		seen[f] = true
	}
	assert.Len(t, Functions, 82)
}

// TestRun_reportsViolations runs cases whose expectations cannot hold.
func TestRun_reportsViolations(t *testing.T) {
	l := &library{called: map[string]bool{}}
	ended := false
	c := &Case{run: func(t *T) {
		t.later(func() { ended = true })
		t.check(1 > 2, "%d is not above %d", 1, 2)
	}}
	assert.EqualError(t, c.Run(l, Default, ""), "1 is not above 2")
	assert.True(t, ended, "what was put off is done after a violation too")
	assert.NoError(t, (&Case{run: func(t *T) { t.judged(t.by(1, 2) == 2) }}).Run(l, Reference, ""))
	assert.ErrorContains(t, (&Case{run: func(t *T) { t.judged(false) }}).Run(l, Default, ""), "the last call was refused")
	assert.ErrorContains(t, (&Case{Refused: true, run: func(t *T) { t.judged(true) }}).Run(l, Default, ""),
		"nothing was refused")
	assert.NoError(t, (&Case{Refused: true, run: func(t *T) { t.noEffect(false, ""); t.judged(true) }}).Run(l, Default,
		""))
	assert.Panics(t, func() { _ = (&Case{run: func(t *T) { t.call("NoSuchFunction") }}).Run(l, Default, "") })
}

func TestCovered_countsWholeRules(t *testing.T) {
	a := rule("s2_a", "a").ok("x", nil).no("y", nil)
	b := rule("s2_b", "b").ok("x", nil)
	assert.False(t, b.BothKinds())
	c := rule("s2_c", "c").ok("x", nil).no("y", nil).when(Default).no("y", nil).when(Reference)
	assert.True(t, c.BothKinds())
	assert.False(t, rule("s2_d", "d").ok("x", nil).no("y", nil).when(Default).BothKinds(),
		"nothing is refused in the other mode")
	all := []*Rule{a, b, c}
	report := func(functions []string, passed ...string) *ohnn.Report {
		r := &ohnn.Report{Results: []ohnn.Result{{ID: "s2_a/z", Status: ohnn.Crash, Functions: functions}}}
		for _, id := range passed {
			r.Results = append(r.Results, ohnn.Result{ID: id, Status: ohnn.Pass})
		}
		return r
	}
	one := report([]string{"f"}, "s2_a/x", "s2_a/y", "s2_b/x", "s2_c/x", "s2_c/y_manual")
	covered, functions := Covered(all, map[Mode]*ohnn.Report{Default: one})
	assert.Equal(t, []int{2, 1}, []int{covered, functions}, "a rule with cases of one kind is not covered")
	two := report([]string{"g", "f"}, "s2_a/x", "s2_b/x", "s2_c/x", "s2_c/y_reference")
	covered, functions = Covered(all, map[Mode]*ohnn.Report{Default: one, Reference: two})
	assert.Equal(t, []int{1, 1}, []int{covered, functions}, "s2_a/y was not run, and only f was called in both")
}

func TestOpen_refusesOtherLibraries(t *testing.T) {
	_, err := open("libc.so.6")
	require.Error(t, err)
	assert.Contains(t, err.Error(), Functions[0]+" is missing")
}
