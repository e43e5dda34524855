package layout

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostLines bounds a generated file of code: what a person can still page through in a review.
const mostLines = 6000

// TestGenerated_filesCanBeReviewed counts the lines of all generated code.
func TestGenerated_filesCanBeReviewed(t *testing.T) {
	seen := 0
	for _, folder := range []string{"core", "backends", "capi", "cmd", "conformance", "internal", "ctest", "bench"} {
		err := filepath.WalkDir("../../"+folder, func(path string, d fs.DirEntry, err error) error {
			code := slices.Contains([]string{".go", ".c", ".h", ".s", ".S"}, filepath.Ext(path))
			if err != nil || d.IsDir() || !code || !strings.HasPrefix(d.Name(), "z") {
				return err
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if !bytes.Contains(text, []byte("DO NOT EDIT")) {
				return nil
			}
			seen++
			assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), mostLines, path)
			return nil
		})
		require.NoError(t, err)
	}
	assert.Greater(t, seen, 100)
}
