package cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oldSet and newSet: the index vouches for data files that begin with its own content.
func set(word string) (File, []File) {
	return File{"index", []byte(word)}, []File{{"0", []byte(word + " zero")}, {"1", []byte(word + " one")}}
}

func read(dir string) ([][]byte, error) {
	return Read(dir, "index", func(index []byte) (Voucher, error) {
		return Voucher{
			Names: []string{"0", "1"},
			Fits:  func(_ int, head []byte, size int64) bool { return size < 1<<20 && bytes.HasPrefix(head, index) },
			Good:  func(_ int, b []byte) bool { return bytes.HasPrefix(b, index) },
		}, nil
	})
}

func write(dir, word string) error {
	index, data := set(word)
	return Write(dir, index, data)
}

var errStop = errors.New("stopped")

// TestWrite_stoppedAtEveryStep fails, or abandons like a killed process, each step in turn.
func TestWrite_stoppedAtEveryStep(t *testing.T) {
	defer func() { Hook = nil }()
	for _, killed := range []bool{false, true} {
		for stop := 0; ; stop++ {
			dir := t.TempDir()
			require.NoError(t, write(dir, "old"))
			step, reached := 0, ""
			Hook = func(name, file string) error {
				if step++; step-1 == stop {
					reached = name + " " + filepath.Base(file)
					if killed {
						panic(errStop)
					}
					return errStop
				}
				return nil
			}
			func() {
				defer func() {
					if v := recover(); v != nil && v != errStop {
						panic(v)
					}
				}()
				_ = write(dir, "new")
			}()
			Hook = nil
			if reached == "" {
				assert.Greater(t, stop, 10, "steps")
				break
			}
			got, err := read(dir)
			require.NoError(t, err, "%s, killed %v", reached, killed)
			word := bytes.Fields(got[0])[0]
			assert.Contains(t, []string{"old", "new"}, string(word), reached)
			assert.Equal(t, string(word)+" one", string(got[1]), reached)
			require.NoError(t, write(dir, "third"), reached)
			got, err = read(dir)
			require.NoError(t, err, reached)
			assert.Equal(t, "third zero", string(got[0]), reached)
		}
	}
}

func TestWrite_leavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, "old"))
	require.NoError(t, write(dir, "new"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"0", "1", "index"}, names)
}

func TestWrite_directories(t *testing.T) {
	dir := t.TempDir()
	var e *WriteError
	require.ErrorAs(t, write(filepath.Join(dir, "none"), "new"), &e)
	assert.Equal(t, StepDirectory, e.Step)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorAs(t, write(file, "new"), &e)
	assert.Equal(t, StepDirectory, e.Step)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "0"+newData, "full"), 0o700))
	require.ErrorAs(t, write(dir, "new"), &e)
	assert.Equal(t, StepOpenData, e.Step)
}

func TestRead_hostileFiles(t *testing.T) {
	for name, spoil := range map[string]func(dir, path string) error{
		"removed":   func(_, path string) error { return os.Remove(path) },
		"truncated": func(_, path string) error { return os.Truncate(path, 1) },
		"huge":      func(_, path string) error { return os.Truncate(path, 4<<30) },
		"symlink": func(dir, path string) error {
			target := filepath.Join(dir, "target")
			if err := os.Rename(path, target); err != nil {
				return err
			}
			return os.Symlink(target, path)
		},
		"directory": func(_, path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, write(dir, "old"))
			_, err := read(dir)
			require.NoError(t, err)
			require.NoError(t, spoil(dir, filepath.Join(dir, "1")))
			_, err = read(dir)
			assert.Error(t, err)
		})
	}
	_, err := read(t.TempDir())
	assert.ErrorIs(t, err, ErrNone)
	_, err = read(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, ErrNone)
}
