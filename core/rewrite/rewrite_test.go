package rewrite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFile_touchesOnlyWhatDiffers(t *testing.T) {
	name, old := filepath.Join(t.TempDir(), "file"), time.Unix(1e9, 0)
	content := func(want string) time.Time {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
		info, err := os.Stat(name)
		require.NoError(t, err)
		return info.ModTime()
	}
	require.NoError(t, File(name, []byte("a")))
	require.NoError(t, os.Chtimes(name, old, old))
	require.NoError(t, File(name, []byte("a")))
	assert.Equal(t, old, content("a"))
	require.NoError(t, File(name, []byte("b")))
	assert.NotEqual(t, old, content("b"))
	assert.Error(t, File(t.TempDir(), nil), "a folder")
}
