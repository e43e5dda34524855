package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatements_committedTablesAreCurrent(t *testing.T) {
	const root = "../../.."
	tables, err := statementTables(root)
	require.NoError(t, err)
	assert.Len(t, tables, 5)
	for name, want := range tables {
		have, err := os.ReadFile(filepath.Join(root, "docs", name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(have), "docs/%s: run make generate", name)
	}
}
