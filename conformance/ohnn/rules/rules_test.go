package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

func TestRules_haveBothKinds(t *testing.T) {
	sections, rules, cases := map[int]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		sections[section(r)] = true
		assert.False(t, rules[r.ID], "two rules %s", r.ID)
		rules[r.ID] = true
		assert.NotEmpty(t, r.Text, r.ID)
		assert.True(t, r.BothKinds(ohnn.Modes), "%s: want cases that succeed and cases that are refused", r.ID)
		for _, c := range r.Cases {
			assert.False(t, cases[c.ID()], "two cases %s", c.ID())
			cases[c.ID()] = true
		}
	}
	for _, s := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14} {
		assert.True(t, sections[s], "section %d", s)
	}
}
