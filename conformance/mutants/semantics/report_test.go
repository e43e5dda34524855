package semantics

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func arguments(t *testing.T, text string) Arguments {
	a, err := parseArguments(text)
	require.NoError(t, err)
	return a
}

func TestParseArguments_kindsWithPatterns(t *testing.T) {
	a := arguments(t, `# Comment.
[texts]
A text for people:
no call returns it.
  core/a.f:dropped-step:s+=*p = its end
  core/**.words:dropped-step:**

[time]
Slower.
  core/b.words:dropped-step:n++
`)
	for id, want := range map[string]string{
		"core/a.f:dropped-step:s+=*p":         "[texts] its end",
		"core/a.f:dropped-step:s+=xp":         "",
		"core/c.t.words:dropped-step:s+=\"\"": "[texts]",
		"capi/c.words:dropped-step:s":         "",
		"core/c.words:bound:s":                "",
		"core/b.words:dropped-step:n++":       "[time]",
	} {
		why, exact := a.of(id)
		assert.Equal(t, want, why, id)
		assert.Equal(t, want != "" && want != "[texts]", exact, id)
	}
	for _, wrong := range []string{"  a\n", "[k]\n  a\n", "[k]\nwhy\n", "[k]\nwhy\n  a\nmore\n", "[k]\nwhy\n  a\n  a\n"} {
		_, err := parseArguments(wrong)
		assert.Error(t, err, wrong)
	}
}

func TestMatches_anyText(t *testing.T) {
	assert.True(t, matches("**b**", "abc"))
	assert.True(t, matches("a**c", "ac"))
	assert.False(t, matches("ab**bc", "abc"))
	assert.False(t, matches("a**", "ba"))
}

func TestSummarize_countsWhatArguedDoesNotExplain(t *testing.T) {
	at := func(area, id, found string, reached int) Outcome {
		return Outcome{Mutant: &Mutant{ID: id, Area: area}, Found: found, Reached: reached}
	}
	list := []Outcome{at("RKNN", "a", "rknn rules: x", 3), at("RKNN", "b", "", 0), at("core", "c", "", 2)}
	var out strings.Builder
	assert.False(t, summarize(&out, list, arguments(t, "[kind]\nno program can see it\n  c\n")))
	assert.Contains(t, out.String(), "semantics: 1 of 2 found by conformance alone (50.0 %)\n")
	assert.Regexp(t, `RKNN +2 +1 +1 +1 +0\n`, out.String())
	assert.Regexp(t, `core +0 +0 +0 +0 +1\n`, out.String())
	assert.True(t, summarize(&out, list[:1], nil))
	assert.False(t, summarize(&out, list[:1], arguments(t, "[kind]\nwrong\n  a\n")), "what is found is not argued for")
	assert.True(t, summarize(&out, list[:1], arguments(t, "[kind]\nright of others\n  **\n")))
}
