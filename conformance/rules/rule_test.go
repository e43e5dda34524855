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
		kinds := map[bool]bool{}
		for _, c := range r.Cases {
			assert.False(t, ids[c.ID()], "two cases %s", c.ID())
			ids[c.ID()] = true
			kinds[c.Refused] = true
		}
		require.NotEmpty(t, kinds, "%s has no case", r.ID)
		if len(kinds) == 1 {
			assert.NotEmpty(t, r.OneKind, "%s has cases of one kind and does not say why", r.ID)
		} else {
			assert.Empty(t, r.OneKind, "%s has cases of both kinds", r.ID)
		}
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
	assert.NoError(t, (&Case{run: func(t *T) { t.check(t.by(1, 2) == 2, "by") }}).Run(l, Reference, ""))
	assert.Panics(t, func() { _ = (&Case{run: func(t *T) { t.call("NoSuchFunction") }}).Run(l, Default, "") })
}

func TestCovered_countsWholeRules(t *testing.T) {
	a := rule("s2_a", "a").ok("x", nil).no("y", nil)
	b := rule("s2_b", "b").ok("x", nil)
	all := []*Rule{a, b}
	good := &ohnn.Report{Results: []ohnn.Result{{ID: "s2_a/x", Status: ohnn.Pass, Functions: []string{"f"}}, {ID: "s2_b/x", Status: ohnn.Pass}}}
	crash := &ohnn.Report{Results: []ohnn.Result{{ID: "s2_a/y", Status: ohnn.Crash, Functions: []string{"g"}}}}
	covered, functions := Covered(all, good)
	assert.Equal(t, []int{2, 1}, []int{covered, functions})
	covered, functions = Covered(all, good, crash)
	assert.Equal(t, []int{1, 2}, []int{covered, functions})
}

func TestOpen_refusesOtherLibraries(t *testing.T) {
	_, err := open("libc.so.6")
	require.Error(t, err)
	assert.Contains(t, err.Error(), Functions[0]+" is missing")
}
