package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFree_has(t *testing.T) {
	f := (&Models{Free: "# a comment\nrules 1.a_x/*\nrules 2.b_y/one\nnumerics products/*\n"}).free()
	for id, want := range map[string]bool{
		"rules 1.a_x/one": true, "rules 1.a_x/one/deeper": true, "rules 1.a_xy/one": false, "rules 2.b_y/one": true,
		"rules 2.b_y/two": false, "numerics products/a/b/c": true, "rules products/a": false, "numerics products": false,
	} {
		suite, id, _ := strings.Cut(id, " ")
		assert.Equal(t, want, f.Has(suite, id), "%s %s", suite, id)
	}
}

func TestCase_own(t *testing.T) {
	r := NewRule[*T]("1.a_x", "").OK("a", nil).No("b", nil).With("RKNN_LOG_LEVEL=3").OK("c", nil).With("A=b", "ANYNPU_X=1")
	r.OK("d", nil).With("ANYNPU_BOARD=b2")
	a := &API{Board: "ANYNPU_BOARD"}
	assert.Empty(t, r.Cases[0].own(a))
	assert.Empty(t, r.Cases[1].own(a))
	assert.Equal(t, "AnyNPU's own: the case sets ANYNPU_X", r.Cases[2].own(a))
	assert.Equal(t, `the case is for the board "b2": --board names that of the library`, r.Cases[3].own(a))
	t.Setenv(BoardVariable, "b2")
	assert.Empty(t, r.Cases[3].own(a))
	assert.Equal(t, "AnyNPU's own: pack lists", r.Ours("pack lists").Cases[0].own(a))
}

func TestRight(t *testing.T) {
	nan := float32(0)
	nan /= nan
	exact, converted := &Library{}, &Library{exchange: exchange{dir: "models"}}
	for _, c := range []struct {
		got, want        []float32
		exact, converted bool
	}{
		{[]float32{1, nan}, []float32{1, nan}, true, true},
		{[]float32{1.003, 1}, []float32{1, 1}, false, true},
		{[]float32{0.02, 8}, []float32{0, 8}, false, true}, // of the largest
		{[]float32{1.005, 1}, []float32{1, 1}, false, false},
		{[]float32{1, 2}, []float32{1, nan}, false, false},
		{[]float32{1}, []float32{1, 1}, false, false},
	} {
		assert.Equal(t, c.exact, Right(exact, c.got, c.want), "%v, want %v", c.got, c.want)
		assert.Equal(t, c.converted, Right(converted, c.got, c.want), "%v, want %v", c.got, c.want)
	}
	assert.True(t, Right(converted, []int8{4, -128}, []int8{5, -128}))
	assert.False(t, Right(converted, []int8{3}, []int8{5}))
	assert.False(t, Right(exact, []int8{4}, []int8{5}))
	assert.False(t, Right(converted, []int32{4}, []int32{5}))
	assert.False(t, (&Library{exchange: exchange{dir: "models", record: true}}).Converted())
	assert.False(t, (&Library{exchange: exchange{dir: NoModels}}).Converted())
}

func TestVerdict_diff(t *testing.T) {
	report := func(statuses ...Status) *Document {
		rep := &Report{}
		for i, s := range statuses {
			rep.Results = append(rep.Results, Result{ID: []string{"1.a/x", "1.a/y", "2.b/x"}[i], Status: s, Message: "why"})
		}
		return &Document{APIs: []*APIReport{{Name: "rknn", Library: "/a/librknnrt.so",
			Suites: []SuiteReport{{Name: "rules", Reports: []*Report{rep}}}}}}
	}
	var written strings.Builder
	require.NoError(t, report(Pass, Fail, Skip).Verdict("1.2.3").Write(&written))
	old, err := ReadVerdict(strings.NewReader(written.String()))
	require.NoError(t, err)
	assert.Equal(t, "librknnrt.so", old.APIs[0].Library)
	assert.Equal(t, "1.2.3", old.Suites)
	assert.Equal(t, map[Status]int{Pass: 1, Fail: 1}, old.APIs[0].Groups["rules 1.a"].Counts)
	assert.Equal(t, map[string]int{"why": 1}, old.APIs[0].Reasons)
	for _, c := range []struct {
		now  []Status
		good bool
		says string
	}{
		{[]Status{Pass, Fail, Skip}, true, "0 better, 0 worse"},
		{[]Status{Pass, Pass, Pass}, true, "better rules 1.a/y: pass, was fail"},
		{[]Status{Skip, Fail, Skip}, false, "worse  rules 1.a/x: skip, was pass"},
		{[]Status{Pass, Crash, Skip}, true, "other  rules 1.a/y: crash, was fail"},
		{[]Status{Pass, Fail, Hang}, false, "worse  rules 2.b/x: hang, was skip"},
		{[]Status{Pass, Fail}, true, "gone   rules 2.b: pass 0, fail 0, skip 1"},
	} {
		var out strings.Builder
		assert.Equal(t, c.good, old.Diff(report(c.now...).Verdict(""), &out), "%v\n%s", c.now, &out)
		assert.Contains(t, out.String(), c.says)
	}
	_, err = ReadVerdict(strings.NewReader(`{"schema": "anynpu.conformance/1"}`))
	assert.ErrorContains(t, err, `want schema "anynpu.conformance.result/1", got "anynpu.conformance/1"`)
}
