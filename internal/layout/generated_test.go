package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostLines bounds a generated file of kernels: what a person can still page through in a review.
const mostLines = 6000

// TestKernels_filesCanBeReviewed counts the lines of the generated assembly.
func TestKernels_filesCanBeReviewed(t *testing.T) {
	files, err := filepath.Glob("../../backends/cpu/kernel/z*.s")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), mostLines, f)
	}
}
