package main

import (
	"encoding/json"
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
	require.NoError(t, run(installed(t), dir, "", edits))
	require.NoError(t, run(installed(t), dir, "", edits), "again, over its own files")

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
	assert.NoError(t, run(root, dir, "", []edit{{"a.go", "one", "three"}}))
	text, err := os.ReadFile(filepath.Join(dir, "a.go"))
	require.NoError(t, err)
	assert.Equal(t, "three two two", string(text))

	fresh := t.TempDir()
	assert.ErrorContains(t, run(root, fresh, "", []edit{{"a.go", "two", "three"}}), "2 times, want once")
	assert.ErrorContains(t, run(root, fresh, "", []edit{{"a.go", "four", "three"}}), "0 times, want once")
	assert.Error(t, run(root, fresh, "", []edit{{"b.go", "one", "three"}}))
	assert.NoFileExists(t, filepath.Join(fresh, "overlay.json"))
}

func TestRun_takesAnotherOverlay(t *testing.T) {
	dir := t.TempDir()
	more := filepath.Join(dir, "more.json")
	require.NoError(t, os.WriteFile(more, []byte(`{"Replace":{"/a.go":"/b.go"}}`), 0o644))
	require.NoError(t, run(installed(t), dir, more, edits))
	var overlay struct{ Replace map[string]string }
	data, err := os.ReadFile(filepath.Join(dir, "overlay.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &overlay))
	assert.Equal(t, "/b.go", overlay.Replace["/a.go"])
	assert.Greater(t, len(overlay.Replace), 1)
	assert.Error(t, run(installed(t), dir, filepath.Join(dir, "none.json"), edits))
}
