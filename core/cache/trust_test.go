package cache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// strange makes caches that other users could have written. Each gets a good set in dir, below top.
var strange = []struct {
	name   string
	spoil  func(t *testing.T, top, dir string) (read string)
	files  bool // the directory is good, a file is not
	others string
}{
	{"directory of another user", func(t *testing.T, _, dir string) string { give(t, dir); return dir }, false,
		"belongs to user 65534"},
	{"directory for the group", func(t *testing.T, _, dir string) string { mode(t, dir, 0o770); return dir }, false,
		"can be written by others (mode 0770)"},
	{"directory for all", func(t *testing.T, _, dir string) string { mode(t, dir, 0o702); return dir }, false,
		"can be written by others (mode 0702)"},
	{"sticky directory", func(t *testing.T, _, dir string) string { mode(t, dir, os.ModeSticky|0o777); return dir }, false,
		"can be written by others (mode 01777)"},
	{"parent for the group", func(t *testing.T, top, dir string) string { mode(t, top, 0o770); return dir }, false,
		"can be written by others (mode 0770)"},
	{"parent of another user", func(t *testing.T, top, dir string) string { give(t, top); return dir }, false,
		"belongs to user 65534"},
	{"directory by a link", func(t *testing.T, top, dir string) string {
		require.NoError(t, os.Symlink(dir, filepath.Join(top, "link")))
		return filepath.Join(top, "link")
	}, false, "is a link"},
	{"parent by a link out of a shared directory", func(t *testing.T, top, dir string) string {
		require.NoError(t, os.Mkdir(filepath.Join(top, "open"), 0o700))
		require.NoError(t, os.Symlink(top, filepath.Join(top, "open", "link")))
		mode(t, filepath.Join(top, "open"), 0o722)
		return filepath.Join(top, "open", "link", filepath.Base(dir))
	}, false, "can be written by others (mode 0722)"},
	{"file of another user", func(t *testing.T, _, dir string) string {
		give(t, filepath.Join(dir, "0.nncache"))
		return dir
	}, true, "belongs to user 65534"},
	{"index of another user", func(t *testing.T, _, dir string) string { give(t, filepath.Join(dir, info)); return dir },
		true,
		"belongs to user 65534"},
	{"file for the group", func(t *testing.T, _, dir string) string {
		mode(t, filepath.Join(dir, "1.nncache"), 0o660)
		return dir
	}, true, "can be written by others (mode 0660)"},
	{"file with two names", func(t *testing.T, top, dir string) string {
		require.NoError(t, os.Link(filepath.Join(dir, "1.nncache"), filepath.Join(top, "other")))
		return dir
	}, true, "has 2 names"},
}

func mode(t *testing.T, path string, m os.FileMode) { require.NoError(t, os.Chmod(path, m)) }

func give(t *testing.T, path string) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	require.NoError(t, os.Chown(path, 65534, -1))
}

// readInfo reads a set whose files may have any content.
func readInfo(dir string) error {
	_, err := Read(dir, info, func([]byte) (Voucher, error) {
		return Voucher{Names: []string{"0.nncache", "1.nncache"}, Fits: func(int, []byte, int64) bool { return true },
			Good: func(int, []byte) bool { return true }}, nil
	})
	return err
}

// TestRead_believesOnlyWhatNobodyElseCouldWrite: each way is refused, unless anybody is trusted; the files stay.
func TestRead_believesOnlyWhatNobodyElseCouldWrite(t *testing.T) {
	for _, s := range strange {
		t.Run(s.name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "top")
			dir := filepath.Join(top, "dir")
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, write(dir, files(1, 2)))
			require.NoError(t, readInfo(dir))
			require.NoError(t, Private(dir))
			at := s.spoil(t, top, dir)
			err := readInfo(at)
			require.ErrorContains(t, err, s.others)
			assert.Equal(t, fault.File, fault.KindOf(err))
			if s.files {
				assert.NoError(t, Private(at))
			} else {
				require.ErrorContains(t, Private(at), s.others)
				assert.Equal(t, fault.File, fault.KindOf(Private(at)))
			}
			TrustAnybody(true)
			defer TrustAnybody(false)
			assert.NoError(t, Private(at))
			assert.NoError(t, readInfo(at))
		})
	}
}

// TestRead_followsTheUsersLinks: a link above the directory that only the user could make is no reason to refuse.
func TestRead_followsTheUsersLinks(t *testing.T) {
	top := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(top, "a", "b"), 0o700))
	require.NoError(t, os.Symlink("../"+filepath.Base(top)+"/a", filepath.Join(top, "link")))
	require.NoError(t, write(filepath.Join(top, "a", "b"), files(1, 2)))
	assert.NoError(t, readInfo(filepath.Join(top, "link", "b")))
	require.NoError(t, os.Symlink("loop", filepath.Join(top, "loop")))
	assert.Equal(t, fault.File, fault.KindOf(Private(filepath.Join(top, "loop", "b"))))
	t.Chdir(top)
	assert.NoError(t, readInfo("a/b"))
}

// TestRead_noCacheIsNoneThatIsRefused: where there is no cache nothing is to be said about who could write one.
func TestRead_noCacheIsNoneThatIsRefused(t *testing.T) {
	dir := t.TempDir()
	mode(t, dir, 0o777)
	assert.ErrorIs(t, readInfo(dir), ErrNone)
}

func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, other := range []string{file, filepath.Join(dir, "none")} {
		assert.Equal(t, fault.File, fault.KindOf(Private(other)), other)
	}
	assert.Error(t, Private(""))
}
