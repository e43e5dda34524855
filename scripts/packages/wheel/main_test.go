package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every file of a wheel is in its RECORD with the right hash, tools can be executed, and a second wheel is the same.
func TestWrite(t *testing.T) {
	t.Chdir("../../..")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	root := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, name := range []string{"bin/anynpu", "lib/libanynpu.so.0", "lib/anynpu/librknnrt.so", "include/anynpu.h"} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		data, err := os.ReadFile(self) // an ELF file, whose processor the tag names
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data[:1<<20], 0o755))
	}
	require.NoError(t, os.Symlink("libanynpu.so.0", filepath.Join(root, "lib/libanynpu.so")))
	require.NoError(t, os.Remove(filepath.Join(root, "lib/libanynpu.so.0")))
	require.NoError(t, os.Link(self, filepath.Join(root, "lib/libanynpu.so.0")), "a link of the test program itself")

	first, second := t.TempDir(), t.TempDir()
	path, err := write("1.2.3", root, first)
	require.NoError(t, err)
	assert.Regexp(t, `/anynpu-1\.2\.3-py3-none-(many|musl)linux_[0-9]+_[0-9]+_(x86_64|aarch64)\.whl$`, path)
	again, err := write("1.2.3", root, second)
	require.NoError(t, err)
	a, err := os.ReadFile(path)
	require.NoError(t, err)
	b, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.Equal(t, sha256.Sum256(a), sha256.Sum256(b))

	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	sums := map[string]string{}
	names := map[string]os.FileMode{}
	var record string
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		sums[f.Name] = "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
		names[f.Name] = f.Mode()
		if strings.HasSuffix(f.Name, "/RECORD") {
			record = string(data)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(record)).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows, len(z.File))
	for _, row := range rows {
		if strings.HasSuffix(row[0], "/RECORD") {
			assert.Empty(t, row[1])
			continue
		}
		assert.Equal(t, sums[row[0]], row[1], row[0])
	}
	assert.Equal(t, os.FileMode(0o755), names["anynpu/prefix/bin/anynpu"].Perm())
	assert.Contains(t, names, "anynpu/session.py")
	assert.NotContains(t, names, "anynpu/prefix/include/anynpu.h")
	assert.NotContains(t, names, "anynpu/prefix/lib/libanynpu.so")
}
