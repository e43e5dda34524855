package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/nnapi_operations.md")
	require.NoError(t, err)
	assert.Equal(t, string(document()), string(text), "write it with `make generate`")
}
