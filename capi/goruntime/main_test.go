package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// installed returns the root of the Go that runs this test.
func installed(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func TestRun_editsTheInstalledGo(t *testing.T) {
	dir := t.TempDir()
	root := installed(t)
	for _, modcache := range []string{"/no/cache", filepath.Dir(root), filepath.Dir(root)} { // twice over its own files
		used, err := run(root, modcache, dir, "", edits)
		require.NoError(t, err)
		if modcache == "/no/cache" {
			assert.Equal(t, root, used)
			continue
		}
		assert.Equal(t, filepath.Join(dir, "goroot"), used)
		to, err := os.Readlink(used)
		require.NoError(t, err)
		assert.Equal(t, root, to)
	}

	var overlay struct{ Replace map[string]string }
	data, err := os.ReadFile(filepath.Join(dir, "overlay.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &overlay))
	files := map[string]bool{}
	for _, e := range edits {
		files[e.file] = true
	}
	assert.Len(t, overlay.Replace, len(files))
	for from, to := range overlay.Replace {
		before, err := os.ReadFile(from)
		require.NoError(t, err)
		after, err := os.ReadFile(to)
		require.NoError(t, err)
		assert.NotEqual(t, string(before), string(after), from)
	}
}

func TestRun_refusesAnotherText(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "src/runtime"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "src/runtime/a.go"), []byte("one two two"), 0o644))
	runs := func(dir string, e edit) error {
		_, err := run(root, "/no/cache", dir, "", []edit{e})
		return err
	}
	assert.NoError(t, runs(dir, edit{"a.go", "one", "three"}))
	text, err := os.ReadFile(filepath.Join(dir, "a.go"))
	require.NoError(t, err)
	assert.Equal(t, "three two two", string(text))

	fresh := t.TempDir()
	assert.ErrorContains(t, runs(fresh, edit{"a.go", "two", "three"}), "2 times, want once")
	assert.ErrorContains(t, runs(fresh, edit{"a.go", "four", "three"}), "0 times, want once")
	assert.Error(t, runs(fresh, edit{"b.go", "one", "three"}))
	assert.NoFileExists(t, filepath.Join(fresh, "overlay.json"))
}

// Libraries are linked side by side, each after a run of this program.
func TestRun_leavesReadersWhatTheyRead(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "src/runtime"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "src/runtime/a.go"), []byte("one two"), 0o644))
	runs := func(to string) {
		_, err := run(root, filepath.Dir(root), dir, "", []edit{{"a.go", "one", to}})
		require.NoError(t, err)
	}
	runs("three")
	var before []os.FileInfo
	names := []string{"a.go", "overlay.json", "goroot"}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		before = append(before, info)
	}
	reader, err := os.Open(filepath.Join(dir, "a.go"))
	require.NoError(t, err)
	defer reader.Close()
	runs("three")
	for i, name := range names {
		after, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.True(t, os.SameFile(before[i], after) && before[i].ModTime().Equal(after.ModTime()), "%s is another", name)
	}
	runs("four")
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Equal(t, "three two", string(text))
	text, err = os.ReadFile(filepath.Join(dir, "a.go"))
	require.NoError(t, err)
	assert.Equal(t, "four two", string(text))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, len(names))
}

func TestRun_takesAnotherOverlay(t *testing.T) {
	dir := t.TempDir()
	more := filepath.Join(dir, "more.json")
	require.NoError(t, os.WriteFile(more, []byte(`{"Replace":{"/a.go":"/b.go"}}`), 0o644))
	_, err := run(installed(t), "/no/cache", dir, more, edits)
	require.NoError(t, err)
	var overlay struct{ Replace map[string]string }
	data, err := os.ReadFile(filepath.Join(dir, "overlay.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &overlay))
	assert.Equal(t, "/b.go", overlay.Replace["/a.go"])
	assert.Greater(t, len(overlay.Replace), 1)
	_, err = run(installed(t), "/no/cache", dir, filepath.Join(dir, "none.json"), edits)
	assert.Error(t, err)
}
