package semantics

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSummarize_countsWhatArguedDoesNotExplain(t *testing.T) {
	at := func(area, id, found string, reached int) Outcome {
		return Outcome{Mutant: &Mutant{ID: id, Area: area}, Found: found, Reached: reached}
	}
	list := []Outcome{at("RKNN", "a", "rknn rules: x", 3), at("RKNN", "b", "", 0), at("core", "c", "", 2)}
	var out strings.Builder
	assert.False(t, summarize(&out, list, map[string]string{"c": "no program can see it"}))
	assert.Contains(t, out.String(), "semantics: 1 of 2 found by conformance alone (50.0 %)\n")
	assert.Regexp(t, `RKNN +2 +1 +1 +1 +0\n`, out.String())
	assert.Regexp(t, `core +0 +0 +0 +0 +1\n`, out.String())
	assert.True(t, summarize(&out, list[:1], nil))
	assert.False(t, summarize(&out, list[:1], map[string]string{"a": "wrong"}), "what is found is not argued for")
}
