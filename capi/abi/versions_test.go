package abi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// library compiles a shared library of a C source, a version script and a SONAME.
func library(t *testing.T, source, versions, soname string) string {
	t.Helper()
	dir := t.TempDir()
	c, script, file := filepath.Join(dir, "l.c"), filepath.Join(dir, "l.map"), filepath.Join(dir, "l.so")
	require.NoError(t, os.WriteFile(c, []byte(source), 0o600))
	require.NoError(t, os.WriteFile(script, []byte(versions), 0o600))
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-nostdlib", c, "-o", file, "-Wl,--version-script="+script,
		"-Wl,-soname,"+soname).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// TestABICheck: scripts/abi_check.sh finds each way in which a later library no longer serves a program, and nothing in
// one that only has more.
func TestABICheck(t *testing.T) {
	const source = "int f(void) { return 1; } int g(void) { return 2; } int data = 3;"
	const versions = "V1 { global: f; g; data; local: *; };"
	old := library(t, source, versions, "l.so.0")
	for _, c := range []struct {
		name, source, versions, soname string
		code                           int
		want                           string
	}{
		{"same", source, versions, "l.so.0", 0, "3 names before, 3 now, 0 new"},
		{"more", source + "int k(void) { return 1; }", "V1 { global: f; g; data; local: *; }; V2 { global: k; } V1;",
			"l.so.0", 0, "3 names before, 4 now, 1 new"},
		{"name gone", "int f(void) { return 1; } int data = 3;", versions, "l.so.0", 1, "g@V1: gone"},
		{"name hidden", source, "V1 { global: f; data; local: *; };", "l.so.0", 1, "g@V1: gone"},
		{"another version", source, "V1 { global: f; data; local: *; }; V2 { global: g; } V1;", "l.so.0", 1,
			"g@V1: gone, there is g@V2"},
		{"no version", source, "{ global: f; g; data; local: *; };", "l.so.0", 1, "f@V1: gone, there is f"},
		{"larger data", "int f(void) { return 1; } int g(void) { return 2; } int data[2] = {3};", versions, "l.so.0", 1,
			"data@V1: was OBJECT of 4 bytes, is OBJECT 8"},
		{"data for a function", "int f(void) { return 1; } int g = 1; int data = 3;", versions, "l.so.0", 1,
			"g@V1: was FUNC, is OBJECT 4"},
		{"another SONAME", source, versions, "l.so.1", 1, `SONAME: was "l.so.0", is "l.so.1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("../../scripts/abi_check.sh", old, library(t, c.source, c.versions, c.soname))
			out, _ := cmd.CombinedOutput()
			assert.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%s", out)
			assert.Contains(t, string(out), c.want)
			assert.Equal(t, c.code != 0, strings.Count(string(out), "\n") > 1, "%s", out)
		})
	}
	cmd := exec.Command("../../scripts/abi_check.sh", old, filepath.Join(t.TempDir(), "none"))
	out, _ := cmd.CombinedOutput()
	assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", out)
}
