//go:build !race

package semantics

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = `package sample

import "slices"

type code int

const (
	ok code = iota
	bad
)

type state struct {
	rows, cols int
	list       []int
}

func fail(c code, text string, n int) error { return nil }

func place(row, col int) int { return row }

func attribute(name string, otherwise int64) int64 { return otherwise }

func (s *state) set(v []int, n int) error {
	if n > s.rows || len(v) == 0 {
		return fail(ok, "too many", n+1)
	}
	s.list = slices.Clone(v)
	s.rows = max(n, s.cols)
	for i := 0; i < n; i++ {
		if v[i] == 0 {
			continue
		}
		s.list[i] += place(n, i)
	}
	clear(v)
	s.cols = int(attribute("axis", -1) & (1<<n - 1))
	return nil
}
`

// sampled are the candidates of the sample: ID to file with the candidate.
func sampled(t *testing.T) map[string]string {
	l := newLoader(t.TempDir(), map[string]string{"core/sample/sample.go": sample})
	p, err := l.load("core/sample")
	require.NoError(t, err)
	require.NoError(t, p.err)
	out := map[string]string{}
	for _, c := range candidates(l, p) {
		out[c.ID] = changed(t, sample, slices.Clone(c.edits)...)
	}
	return out
}

func TestCandidates_ofEveryKind(t *testing.T) {
	found := sampled(t)
	for id, want := range map[string]string{
		"set:dropped-check:n>s.rows||len(v)==0":                "if mutant.Unless(7, n > s.rows || len(v) == 0) {",
		"set:dropped-operand:n>s.rows||len(v)==0":              "if ((n > s.rows) || mutant.Unless(7, len(v) == 0)) {",
		"set:bound:n>s.rows":                                   "mutant.Greater(7, n, s.rows)",
		"set:bound:i<n":                                        "mutant.Less(7, i, n)",
		"set:other-field:s.rows":                               "mutant.Either(7, s.rows, s.cols)",
		"set:code:ok":                                          "fail(mutant.Pick(7, ok, bad), ",
		"set:shared:slices.Clone(v)":                           "mutant.Pick(7, slices.Clone(v), v)",
		"set:min-and-max:max(n,s.cols)":                        "mutant.Max(7, n, s.cols)",
		"set:dropped-assignment:s.rows=max(n,s.cols)":          "if !mutant.On(7) { s.rows = max(n, s.cols) }",
		"set:dropped-assignment:s.list[i]+=place(n,i)":         "if !mutant.On(7) { s.list[i] += place(n, i) }",
		"set:default:attribute(\"axis\",-1)":                   `attribute("axis", mutant.Pick(7, int64(-1), 0))`,
		"set:arithmetic:1<<n-1":                                "(mutant.Either(7, int64(1<<n - 1), int64(1<<n)))",
		"set:dropped-jump:continue":                            "if !mutant.On(7) { continue }",
		"set:swapped-arguments:place(n,i)":                     "place(mutant.Either(7, n, i), mutant.Either(7, i, n))",
		"set:dropped-release:clear(v)":                         "if !mutant.On(7) { clear(v) }",
		"set:negated-condition:nothing of the sample has this": "",
	} {
		text, is := found["core/sample.state."+id]
		if assert.Equal(t, want != "", is, "%s of %v", id, found) && is {
			assert.Contains(t, text, want, id)
		}
	}
	for id := range found {
		assert.NotContains(t, id, "arithmetic:n+1", "texts for people are left alone")
	}
}

func TestChoose_inTurnsOverKinds(t *testing.T) {
	var all []*candidate
	for i := range 40 {
		for _, kind := range []string{"rare", "common", "common", "common"} {
			if kind == "rare" && i > 2 {
				continue
			}
			n := len(all)
			all = append(all, &candidate{kind: kind, Mutant: Mutant{File: "a.go", edits: []edit{{10 * n, 10*n + 5, ""}},
				ID: "core/op.f" + string(rune('a'+n%26)) + strings.Repeat("x", n/26) + ":" + kind}})
		}
	}
	taken := []*Mutant{&all[0].Mutant}
	chosen := func(seed uint64) (ids []string) {
		for _, c := range choose(slices.Clone(all), 8, seed, taken) {
			ids = append(ids, c.ID)
			assert.NotSame(t, all[0], c, "it overlaps one that is taken")
		}
		return ids
	}
	one := chosen(1)
	assert.Len(t, one, 8)
	assert.Equal(t, one, chosen(1))
	assert.NotEqual(t, one, chosen(2))
	rare := slices.DeleteFunc(slices.Clone(one), func(id string) bool { return !strings.HasSuffix(id, ":rare") })
	assert.Len(t, rare, 2, "of the kind with few, as many as there are")
}
