package onnx

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/lower"
)

// TestDocument_listsTheOperators compares the list in docs/onnx.md with the table.
func TestDocument_listsTheOperators(t *testing.T) {
	text, err := os.ReadFile("../../../docs/onnx.md")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)These operators are supported.*?:\n(.*?)\nNot supported`).FindSubmatch(text)
	require.NotNil(t, list)
	var named []string
	for _, m := range regexp.MustCompile("`([A-Za-z0-9]+)`").FindAllSubmatch(list[1], -1) {
		named = append(named, string(m[1]))
	}
	assert.Equal(t, operators(""), named[:slices.Index(named, "Xor")+1])
	assert.Equal(t, operators("com.microsoft"), named[slices.Index(named, "Xor")+1:])
}

// operators are the names of the operators of a domain that are read.
func operators(domain string) (names []string) {
	for _, o := range lower.Operators() {
		if o.Domain == domain {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}
