package onnx

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocument_listsTheOperators compares the list in docs/onnx.md with the lowerings.
func TestDocument_listsTheOperators(t *testing.T) {
	text, err := os.ReadFile("../../../docs/onnx.md")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)These operators are supported.*?:\n(.*?)\nNot supported`).FindSubmatch(text)
	require.NotNil(t, list)
	var named []string
	for _, m := range regexp.MustCompile("`([A-Za-z0-9]+)`").FindAllSubmatch(list[1], -1) {
		named = append(named, string(m[1]))
	}
	assert.Equal(t, slices.Sorted(maps.Keys(lowerings)), named)
}
