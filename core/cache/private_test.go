package cache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	own, open, link, file := filepath.Join(dir, "own"), filepath.Join(dir, "open"), filepath.Join(dir, "link"),
		filepath.Join(dir, "file")
	require.NoError(t, os.Mkdir(own, 0o700))
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o702))
	require.NoError(t, os.Symlink(own, link))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.NoError(t, Private(own))
	for _, other := range []string{open, link, file, filepath.Join(dir, "none"), ""} {
		assert.Equal(t, fault.File, fault.KindOf(Private(other)), other)
	}
	assert.ErrorContains(t, Private(open), "can be written by every user")
}
