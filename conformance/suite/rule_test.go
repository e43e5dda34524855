package suite

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// same is what the rules of these tests run with: the harness's own T.
func same(t *T) *T { return t }

func bare() *Library {
	return &Library{API: &API{Name: "fake", Prefix: "f_"}, symbols: map[string]uintptr{"f_lacking": 0},
		calls: &calls{seen: map[string]bool{}}}
}

func newRule(id string) *Rule[*T] { return NewRule[*T](id, "text of "+id) }

// TestCase_reportsViolations runs cases whose expectations cannot hold.
func TestCase_reportsViolations(t *testing.T) {
	compute := func(refused bool, run func(*T)) error {
		return (&Case[*T]{Refused: refused, Run: run}).compute(&T{Library: bare(), Mode: "m"}, same)
	}
	ended := ""
	assert.EqualError(t, compute(false, func(t *T) {
		t.Later(func() { ended += "1" })
		t.Later(func() { ended += "2" })
		t.Check(1 > 2, "%d is not above %d", 1, 2)
	}), "1 is not above 2")
	assert.Equal(t, "21", ended, "what was put off is done after a violation too, last first")
	assert.NoError(t, compute(false, func(t *T) { t.Judged(t.Mode == "m") }))
	assert.ErrorContains(t, compute(false, func(t *T) { t.Judged(false) }), "the last call was refused")
	assert.ErrorContains(t, compute(true, func(t *T) { t.Judged(true) }), "nothing was refused")
	assert.NoError(t, compute(true, func(t *T) { t.NoEffect(false, ""); t.Judged(true) }))
	assert.ErrorContains(t, compute(true, func(t *T) { t.NoEffect(true, "it did") }), "it did")
	assert.ErrorContains(t, compute(false, func(t *T) { t.Call("lacking") }), "f_lacking is missing")
	assert.ErrorContains(t, compute(false, func(t *T) {
		t.Parallel(3, func(own *T, i int) { own.Check(i < 2, "in thread %d", i) })
	}), "in thread 2")
	assert.NoError(t, compute(false, func(t *T) {
		var ended atomic.Int32
		t.Parallel(3, func(own *T, i int) {
			own.Later(func() { ended.Add(1) })
			own.Judged(false)
		})
		t.Judged(ended.Load() == 3)
	}), "objects of a thread end with it")
	assert.Panics(t, func() { _ = compute(false, func(t *T) { t.Call("no_such_function") }) })
}

func TestShown_showsCalls(t *testing.T) {
	type empty struct{}
	assert.Equal(t, "f_set(NULL, 3, 0x20, two, &, [2 bytes], [1 2], &, true)", bare().Shown("set", nil, 3, uintptr(32),
		"two", &empty{}, []byte{1, 2}, []int32{1, 2}, []empty{{}}, true))
}

func TestRules_coverWholeRules(t *testing.T) {
	modes := []Mode{{Name: "one"}, {Name: "two"}}
	a := newRule("2_a").OK("x", nil).No("y", nil)
	b := newRule("2_b").OK("x", nil)
	assert.False(t, b.BothKinds(modes))
	c := newRule("2_c").OK("x", nil).No("y", nil).In("one").No("y", nil).In("two")
	assert.True(t, c.BothKinds(modes))
	assert.False(t, newRule("2_d").OK("x", nil).No("y", nil).In("one").BothKinds(modes),
		"nothing is refused in the other mode")
	e := newRule("2_e").NotIn("two").OK("x", nil).No("y", nil).In("one").No("z", nil).In("two")
	assert.True(t, e.BothKinds(modes), "the other mode asks for nothing")
	for i, want := range [][]bool{{true, false}, {true, false}, {false, true}} {
		assert.Equal(t, want, []bool{e.Cases[i].appliesIn("one"), e.Cases[i].appliesIn("two")}, e.Cases[i].Name)
	}
	r := &Rules[*T]{API: &API{Name: "fake", Functions: []string{"f", "g"}}, All: []*Rule[*T]{a, b, c}, Modes: modes,
		Tally: "%d of %d rules"}
	report := func(mode string, functions []string, passed ...string) *Report {
		rep := &Report{Mode: mode, Counts: map[Status]int{}}
		rep.add(Result{ID: "2_a/z", Status: Crash, Functions: functions}, Greeting{})
		for _, id := range passed {
			rep.add(Result{ID: id, Status: Pass}, Greeting{})
		}
		return rep
	}
	one := report("one", []string{"f"}, "2_a/x", "2_a/y", "2_b/x", "2_c/x", "2_c/y_one")
	two := report("two", []string{"g", "f"}, "2_a/x", "2_b/x", "2_c/x", "2_c/y_two")
	var out strings.Builder
	assert.False(t, r.summarize(&out, &Outcome{Reports: []*Report{one}}))
	assert.Contains(t, out.String(), "fake rules: cases 6, failed 1 (one)\n1 of 2 functions\n"+
		"2 of 3 rules, each with a positive and a negative case, in the mode one\n", "2_b has cases of one kind")
	assert.Contains(t, out.String(), "fail  2_b: want cases that succeed and cases that are refused\n")
	assert.Contains(t, out.String(), "fail  no case calls g\n")
	out.Reset()
	assert.False(t, r.summarize(&out, &Outcome{Reports: []*Report{one, two}}))
	assert.Contains(t, out.String(), "1 of 2 functions\n1 of 3 rules, each with a positive and a negative case, in both "+
		"modes\n", "2_a/y was not run, and only f was called in both")

	whole := &Rules[*T]{API: &API{Name: "fake", Functions: []string{"f"}, Historical: []string{"old"}},
		All: []*Rule[*T]{a}, Tally: "fake rules %d of %d"}
	rep := &Report{Counts: map[Status]int{}}
	rep.add(Result{ID: "2_a/x", Status: Pass, Functions: []string{"f"}}, Greeting{})
	rep.add(Result{ID: "2_a/y", Status: Pass, Functions: []string{"f", "old"}}, Greeting{})
	out.Reset()
	assert.True(t, whole.summarize(&out, &Outcome{Reports: []*Report{rep}}))
	assert.Equal(t, "fake rules: cases 2, failed 0\n1 of 1 functions (+ 1 of 1 historical names)\n"+
		"fake rules 1 of 1, each with a positive and a negative case\n", out.String())
}

func TestRules_itemsAndList(t *testing.T) {
	r := &Rules[*T]{API: &API{Name: "fake"}, New: same, NotCovered: []Statement{{"3: speed", "no board"}},
		All: []*Rule[*T]{newRule("2_long").OK("x", nil).With("A=1").No("y", nil).In("one"), newRule("3_a")}}
	items, err := r.items("two")
	assert.NoError(t, err)
	assert.Equal(t, []Item{{ID: "2_long/x", Setting: []string{"A=1"}, Object: "2_long", Rule: "text of 2_long"}}, items)
	r.Object = func(rule *Rule[*T]) string { return "about " + rule.ID }
	items, err = r.items("one")
	assert.NoError(t, err)
	assert.Equal(t, []Item{{ID: "2_long/x", Setting: []string{"A=1"}, Object: "about 2_long", Rule: "text of 2_long"},
		{ID: "2_long/y_one", Object: "about 2_long", Rule: "text of 2_long"}}, items)
	var out strings.Builder
	r.list(&out)
	assert.Equal(t, "2_long text of 2_long\n3_a    text of 3_a\nnot checked: 3: speed: no board\n", out.String())
	_, err = r.computer(bare(), "")("4_a/x", "")
	assert.ErrorContains(t, err, `no case "4_a/x"`)
}
