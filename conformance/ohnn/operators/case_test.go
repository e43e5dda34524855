package operators

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/internal/leak"
)

// fewest is the number of counting cases that every operator must have.
const fewest = 8

func TestCases_coverEveryOperator(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	counts := Counts(cases)
	rejects := map[string]int{}
	ids, open := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		assert.False(t, ids[c.ID()], "two cases %s", c.ID())
		ids[c.ID()] = true
		if c.Reject != nil {
			rejects[c.Op]++
		} else if c.open() {
			open[c.Op] = true
		}
		for i := range c.Tensors {
			x := &c.Tensors[i]
			_, known := model.DataTypes[x.Type]
			assert.True(t, known, "%s: tensor %d: type %q", c.ID(), i, x.Type)
			_, known = ohnn.TensorTypes[x.Param]
			assert.True(t, known || x.Param == "", "%s: tensor %d: parameter %q", c.ID(), i, x.Param)
		}
	}
	for op := range ohnn.Operators {
		assert.GreaterOrEqual(t, counts[op], fewest, "%s", op)
		assert.True(t, open[op], "%s has no case with an open dimension", op)
		assert.GreaterOrEqual(t, rejects[op], 1, "%s has no case that must be refused", op)
	}
}

// reals returns the numbers of floats.
func reals(f ...float64) []numbers.Number {
	out := make([]numbers.Number, len(f))
	for i, x := range f {
		out[i] = numbers.Real(x)
	}
	return out
}

func TestFinder_findsEveryCase(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	f := finder{}
	for _, c := range cases {
		got, err := f.find(c.ID())
		require.NoError(t, err)
		assert.Equal(t, c.Signature(), got.Signature())
	}
	_, err = f.find("ADD/none")
	assert.ErrorContains(t, err, `no case "ADD/none"`)
	_, err = f.find("NONE/none")
	assert.Error(t, err)
}

func TestCases_judgeEachKindStaticAndDynamic(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	for _, s := range Judged(cases) {
		assert.NotEmpty(t, s.Static, "%s", s.Op)
		for _, k := range Kinds() {
			assert.Equal(t, s.Static[k], s.Dynamic[k], "%s %v: a case with known dimensions, and one with open ones", s.Op, k)
		}
	}
}

func TestJudged_needsATellingResult(t *testing.T) {
	tensors := func(out ...float64) []model.Tensor {
		return []model.Tensor{{Type: "uint16", Dims: []int32{2}, Feed: &model.Body{Dims: []int32{2}, Data: reals(1, 2)}},
			{Type: "uint16", Dims: []int32{2}, Expect: &model.Body{Dims: []int32{2}, Data: reals(out...)}}}
	}
	kinds := func(c *Case) (static, dynamic bool) {
		c.In, c.Out = []uint32{0}, []uint32{1}
		for _, s := range Judged([]*Case{c}) {
			if s.Op == c.Op {
				return s.Static[Kind{"uint16", false}], s.Dynamic[Kind{"uint16", false}]
			}
		}
		return false, false
	}
	open := tensors(2, 1)
	open[0].Dims = []int32{-1}
	for _, tc := range []struct {
		name            string
		c               *Case
		static, dynamic bool
	}{
		{"computed", &Case{Op: "SQUARE", Tensors: tensors(1, 4)}, true, false},
		{"a copy", &Case{Op: "SQUARE", Tensors: tensors(1, 2)}, false, false},
		{"constant", &Case{Op: "SQUARE", Tensors: tensors(1, 1)}, false, false},
		{"a copy by definition", &Case{Op: "CEIL", Tensors: tensors(1, 2)}, true, false},
		{"a refusal", &Case{Op: "CEIL", Tensors: tensors(1, 2), Reject: &Reject{}}, false, false},
		{"an open input", &Case{Op: "SQUARE", Tensors: open}, false, true},
	} {
		static, dynamic := kinds(tc.c)
		assert.Equal(t, tc.static, static, tc.name)
		assert.Equal(t, tc.dynamic, dynamic, tc.name)
	}
}

func TestSummary_countsWholeOperators(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	rep := &suite.Report{Counts: map[suite.Status]int{}, Version: "7", Device: "fake"}
	ops := 0
	for _, c := range cases {
		if c.Op != "ADD" && c.Op != "MUL" {
			continue
		}
		r := suite.Result{ID: c.ID(), Status: suite.Pass}
		if c.Op == "MUL" && ops == 0 {
			r.Status, ops = suite.Crash, 1
		}
		rep.Counts[r.Status]++
		rep.Results = append(rep.Results, r)
	}
	line, err := summary(rep)
	require.NoError(t, err)
	assert.Contains(t, line, "ohnn operators: 1 of 108, fewest cases ")
	assert.Contains(t, line, ", failed 1 (of ")
	assert.Contains(t, line, ", 1 crashes, 0 hangs, 0 skipped; version 7, device fake)")
	rep.Results[0].ID = "ADD/none"
	_, err = summary(rep)
	assert.ErrorContains(t, err, `no case "ADD/none"`)
	outcome := func(status suite.Status, own bool) *suite.Outcome {
		r := &suite.Report{Counts: map[suite.Status]int{suite.Pass: 1}, Results: []suite.Result{{ID: cases[0].ID(),
			Status: suite.Pass}, {ID: cases[1].ID(), Status: status}}}
		r.Counts[status]++
		return &suite.Outcome{Reports: []*suite.Report{r}, Own: own}
	}
	var w strings.Builder
	assert.True(t, summarize(&w, outcome(suite.Pass, true)))
	assert.True(t, summarize(&w, outcome(suite.Skip, false)))
	assert.False(t, summarize(&w, outcome(suite.Skip, true)), "this project's own library lacks nothing")
	assert.False(t, summarize(&w, outcome(suite.Hang, false)))
}

func TestRoundings_nameTheWayThatFitsAll(t *testing.T) {
	line := func(results ...suite.Result) string { return roundings(&suite.Report{Results: results}) }
	a, b := suite.Result{ID: "ADD/a", Rounding: "to even or up"}, suite.Result{ID: "ADD/b", Rounding: "up"}
	assert.Equal(t, "ohnn operators: halves of 8-bit codes are rounded up: 2 cases of 1 operators",
		line(a, b, suite.Result{ID: "SUB/a"}))
	c, d := suite.Result{ID: "MUL/a", Rounding: "to even"}, suite.Result{ID: "SUB/a", Rounding: "up"}
	e := suite.Result{ID: "SUB/b", Rounding: "to even"}
	assert.Equal(t, "ohnn operators: halves of 8-bit codes are rounded by ADD up, by MUL to even, by SUB in several "+
		"ways: "+
		"5 cases", line(a, b, c, d, e))
	assert.Empty(t, line())
}

func TestMain(m *testing.M) { os.Exit(leak.Run(m, nil)) }

func TestInReference_isWhatBuildRefuses(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	all, err := items(ohnn.Manual)
	require.NoError(t, err)
	assert.Len(t, all, len(cases))
	some, err := items(ohnn.Reference)
	require.NoError(t, err)
	built := 0
	for _, c := range cases {
		if c.Reject != nil && c.Reject.Stage == "build" {
			built++
			assert.Equal(t, &Reject{Stage: "run", Codes: []int{14}}, c.in(ohnn.Reference).Reject)
		}
	}
	assert.Len(t, some, built)
	assert.Positive(t, built)
}
