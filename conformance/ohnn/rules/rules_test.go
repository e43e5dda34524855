package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

func TestRules_haveBothKinds(t *testing.T) {
	seen, rules, cases := map[int]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		seen[section(r)] = true
		assert.False(t, rules[r.ID], "two rules %s", r.ID)
		rules[r.ID] = true
		assert.NotEmpty(t, r.Text, r.ID)
		assert.True(t, r.BothKinds(ohnn.Modes), "%s: want cases that succeed and cases that are refused", r.ID)
		for _, c := range r.Cases {
			assert.False(t, cases[c.ID()], "two cases %s", c.ID())
			cases[c.ID()] = true
		}
	}
	for s, about := range sections {
		assert.True(t, seen[s], "section %d, %s", s, about)
	}
	assert.Len(t, seen, len(sections))
}
