package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rules are the rules of findings, in their order.
func rules(found []finding) (list []string) {
	for _, f := range found {
		list = append(list, f.rule)
	}
	return list
}

func TestInPage(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 26))
	page := "# Title\n\n" + long + ".\n\n" + strings.Repeat("short ", 25) + "end: " + strings.Repeat("short ", 25) +
		"\n\n" +
		"```text\n" + long + " what is told\n```\n\n    " + long + "\n\n- one\n- " + long + "\n\n| a | " + long + " |\n" +
		"`what is told` [what](x.md) is what it is told.\n"
	assert.Equal(t, []string{"long-sentence", "long-sentence", "long-sentence", "long-sentence", "page-is-what",
		"page-told",
		"page-what", "page-what"}, rules(inPage("x.md", page)))
}

func TestInSource(t *testing.T) {
	assert.Equal(t, []string{"is-what", "traits-none", "what", "behind"}, rules(inSource("a.go", `package a

// F is what
// it does.
//
// Traits: none.
func F() string { return "what is told" } // bytes behind it

//go:generate what
`)))
	assert.Equal(t, []string{"unreadable"}, rules(inSource("a.go", "no Go")))
}

func TestSubjectFault(t *testing.T) {
	for subject, want := range map[string]string{
		"core/op: add a rule":              "",
		"core, capi: Pass it on":           "",
		"docs: embed a picture":            "",
		"core/op: adds a rule":             `"adds" is no verb in the imperative`,
		"core/op: added a rule":            `"added" is no verb in the imperative`,
		"core/op: adding":                  `"adding" is no verb in the imperative`,
		"core/op: the rule":                `"the" is no verb in the imperative`,
		"add a rule":                       "want COMPONENT: SUMMARY",
		"a: " + strings.Repeat("x", 70):    "73 columns, at most 72 may be",
		"core/op: address all, process it": "",
	} {
		assert.Equal(t, want, subjectFault(subject), subject)
	}
}

// TestCompare: a count above its ceiling and a rule without one fail, and ceilings fall with their counts.
func TestCompare(t *testing.T) {
	found := []finding{{rule: "a"}, {rule: "a"}, {rule: "b"}}
	text, err := compare(io.Discard, "a 3\nb 1\nc 2\n", found)
	require.NoError(t, err)
	assert.Equal(t, "a 2\nb 1\nc 0\n", text)
	_, err = compare(io.Discard, "a 1\nb 1\n", found)
	assert.EqualError(t, err, "a: 2, at most 1 may be: go run ./scripts/language -list a")
	_, err = compare(io.Discard, "a 2\n", found)
	assert.EqualError(t, err, "b: 1, and scripts/language/ceilings.txt has no ceiling for it")
	_, err = compare(io.Discard, "a\n", nil)
	assert.ErrorContains(t, err, "want RULE NUMBER")
}
