package rknnrules

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

func TestRules_numbersAndKinds(t *testing.T) {
	numbers, cases, sections := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		assert.False(t, numbers[r.Number()], "two rules %s", r.Number())
		numbers[r.Number()] = true
		section, letter, ok := strings.Cut(r.Number(), ".")
		assert.True(t, ok && section != "" && letter != "", "%s has no number", r.ID)
		sections[section] = true
		assert.NotEmpty(t, r.Text, r.ID)
		assert.True(t, r.BothKinds(), "%s: want cases that succeed and cases that are refused", r.ID)
		for _, c := range r.Cases {
			assert.False(t, cases[c.ID()], "two cases %s", c.ID())
			cases[c.ID()] = true
		}
	}
	for _, s := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "m1", "m2", "m3", "m4", "m5", "m6",
		"m8"} {
		assert.True(t, sections[s], "section %s", s)
	}
}

func TestFunctions_distinct(t *testing.T) {
	assert.Len(t, Functions, 35)
	all := slices.Concat(Functions, Historical)
	slices.Sort(all)
	assert.Len(t, slices.Compact(all), 35+len(Historical))
	for _, f := range all {
		assert.True(t, strings.HasPrefix(f, prefix), f)
	}
}

// TestRun_reportsViolations runs cases whose expectations cannot hold.
func TestRun_reportsViolations(t *testing.T) {
	l := &library{called: map[string]bool{}}
	ended := false
	c := &Case{run: func(t *T) {
		t.later(func() { ended = true })
		t.check(1 > 2, "%d is not above %d", 1, 2)
	}}
	assert.EqualError(t, c.Run(l, ""), "1 is not above 2")
	assert.True(t, ended, "what was put off is done after a violation too")
	assert.NoError(t, (&Case{run: func(t *T) { t.judged(true) }}).Run(l, ""))
	assert.ErrorContains(t, (&Case{run: func(t *T) { t.judged(false) }}).Run(l, ""), "the last call was refused")
	assert.ErrorContains(t, (&Case{Refused: true, run: func(t *T) { t.judged(true) }}).Run(l, ""), "nothing was refused")
	assert.ErrorContains(t, (&Case{run: func(t *T) { t.call("no_such_function") }}).Run(l, ""), "is missing")
}

func TestCovered_countsWholeRules(t *testing.T) {
	a := rule("1.a_a", "a").ok("x", nil).no("y", nil)
	b := rule("1.b_b", "b").ok("x", nil)
	pass := func(ids ...string) (out []ohnn.Result) {
		for _, id := range ids {
			out = append(out, ohnn.Result{ID: id, Status: ohnn.Pass, Functions: []string{"f"}})
		}
		return out
	}
	assert.Equal(t, 1, Covered([]*Rule{a, b}, pass("1.a_a/x", "1.a_a/y", "1.b_b/x")),
		"a rule with cases of one kind is not covered")
	assert.Equal(t, 0, Covered([]*Rule{a, b}, append(pass("1.a_a/x"), ohnn.Result{ID: "1.a_a/y", Status: ohnn.Fail})))
	assert.True(t, Called(pass("x"))["f"])
}

func TestOpen_refusesOtherLibraries(t *testing.T) {
	_, err := open("libc.so.6")
	require.ErrorContains(t, err, "rknn_init is missing")
}

func TestStructs_sizes(t *testing.T) {
	assert.EqualValues(t, 376, unsafe.Sizeof(tensorAttr{}))
	assert.EqualValues(t, 33040, unsafe.Sizeof(inputRange{}))
	assert.EqualValues(t, 832, unsafe.Sizeof(customOp{}))
	assert.EqualValues(t, 416, unsafe.Sizeof(opTensor{}))
}

func TestHalf_knownNumbers(t *testing.T) {
	for v, want := range map[float32]uint16{0: 0, 1: 0x3c00, -2: 0xc000, 0.5: 0x3800, 65504: 0x7bff, 1e9: 0x7c00,
		1.0 / (1 << 24): 1, 1024: 0x6400} {
		assert.Equal(t, want, half(v), "%g", v)
	}
}
