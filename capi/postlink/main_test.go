package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program builds a small Go program; its runtime.sigtable is the same as the library's.
func program(t *testing.T, flags string) string {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644))
	out := filepath.Join(dir, "program")
	text, err := exec.Command("go", "build", "-ldflags", flags, "-o", out, source).CombinedOutput()
	require.NoError(t, err, "%s", text)
	return out
}

func TestRun_changesOneFlagOnce(t *testing.T) {
	in := program(t, "-w")
	out := filepath.Join(t.TempDir(), "out")
	require.NoError(t, run(in, out))
	before, err := os.ReadFile(in)
	require.NoError(t, err)
	after, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Len(t, after, len(before))
	var changed []int
	for i := range before {
		if before[i] != after[i] {
			changed = append(changed, i)
		}
	}
	require.Len(t, changed, 1)
	assert.Equal(t, byte(oldFlags&0xff), before[changed[0]])
	assert.Equal(t, byte(oldFlags&^unblock&0xff), after[changed[0]])
	assert.NoError(t, exec.Command(out).Run(), "the changed program runs")

	err = run(out, out+"2")
	assert.ErrorContains(t, err, "want 385, got 257")
	assert.NoFileExists(t, out+"2")
}

func TestRun_refusesAFileWithoutTheTable(t *testing.T) {
	err := run(program(t, "-s -w"), filepath.Join(t.TempDir(), "out"))
	assert.Error(t, err)
	err = run("main_test.go", filepath.Join(t.TempDir(), "out"))
	assert.Error(t, err)
}
