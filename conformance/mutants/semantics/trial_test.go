package semantics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/suite"
)

func TestParts_aFewOfEachGroupFirst(t *testing.T) {
	at := func(api, name string) *group {
		return &group{suite: &suite.Suite{API: &suite.API{Name: api}, Name: name}}
	}
	operators, rules, other := at("ohnn", "operators"), at("ohnn", "rules"), at("rknn", "rules")
	var cases []*usual
	add := func(g *group, id string, reaches ...int) {
		own := *g // as Baseline divides groups
		cases = append(cases, &usual{&own, id, suite.Pass, time.Millisecond, reaches})
	}
	for range 70 {
		add(operators, "many", 1, 2, 3)
	}
	add(operators, "about it", 1)
	add(rules, "rule", 1, 2)
	add(rules, "elsewhere", 2)
	add(other, "other", 1)
	list := func(area string) (out []string) {
		trial := &Trial{Mutants: []*Mutant{{Area: area}, {}, {}}}
		total := 0
		for _, p := range trial.parts(1, cases) {
			out = append(out, p.group.String()+": "+p.cases[0].id)
			total += len(p.cases)
		}
		assert.Equal(t, 73, total)
		return out
	}
	assert.Equal(t, []string{"ohnn operators: about it", "ohnn rules: rule", "rknn rules: other", "ohnn operators: many"},
		list("engine"))
	assert.Equal(t, []string{"rknn rules: other", "ohnn rules: rule", "ohnn operators: about it", "ohnn operators: many"},
		list("RKNN"))
}
