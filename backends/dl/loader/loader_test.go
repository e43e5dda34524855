package loader

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// build links a file of C with gcc and returns its path.
func build(t *testing.T, dir, name, source string, flags ...string) string {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc")
	}
	path := filepath.Join(dir, name)
	c := exec.Command("gcc", append([]string{"-x", "c", "-", "-x", "none", "-o", path}, flags...)...)
	in, err := c.StdinPipe()
	require.NoError(t, err)
	go func() { _, _ = in.Write([]byte(source)); _ = in.Close() }()
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	lib := build(t, dir, "libfoo.so", "int foo(void) { return 1; }", "-shared", "-fPIC", "-Wl,-soname,libfoo.so")
	flags := []string{"-Wl,--no-as-needed", lib, "-Wl,-rpath,$ORIGIN:/opt/lib"}
	program := build(t, dir, "program", "int main(void) { return 0; }", append(flags, "-Wl,--disable-new-dtags")...)
	f, err := Read(program)
	require.NoError(t, err)
	assert.True(t, f.Fits())
	assert.Contains(t, f.Needed, "libfoo.so")
	assert.Equal(t, []string{dir, "/opt/lib"}, f.RPath)
	assert.Empty(t, f.RunPath)
	assert.NotEmpty(t, f.Interp)
	assert.False(t, f.Musl())
	assert.False(t, f.Ours)

	f, err = Read(build(t, dir, "newer", "int main(void) { return 0; }", append(flags, "-Wl,--enable-new-dtags")...))
	require.NoError(t, err)
	assert.Equal(t, []string{dir, "/opt/lib"}, f.RunPath)
	assert.Empty(t, f.RPath)

	f, err = Read(lib)
	require.NoError(t, err)
	assert.Equal(t, "libfoo.so", f.Soname)
	assert.Empty(t, f.Interp)

	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("#!/bin/sh\n"), 0o600))
	_, err = Read(text)
	assert.ErrorIs(t, err, ErrNotELF)
}

func TestFind_order(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	lib := build(t, first, "libfoo.so", "int foo;", "-shared", "-fPIC", "-Wl,-soname,libfoo.so")
	data, err := os.ReadFile(lib)
	require.NoError(t, err)
	other := filepath.Join(second, "libfoo.so")
	require.NoError(t, os.WriteFile(other, data, 0o600))
	cache := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.WriteFile(cache, makeCache("libfoo.so", other), 0o600))

	env := map[string]string{}
	find := func() string { return Find("libfoo.so", func(name string) string { return env[name] }, cache) }
	assert.Equal(t, other, find())
	env["LD_LIBRARY_PATH"] = "/nothing:" + first
	assert.Equal(t, lib, find())
	env["LD_PRELOAD"] = other
	assert.Equal(t, other, find())
	assert.Empty(t, Find("libbar.so", func(string) string { return "" }, cache))
}

// makeCache writes an ld.so.cache of one library behind one for another machine.
func makeCache(soname, path string) []byte {
	b := make([]byte, cacheHeader+2*cacheEntry)
	copy(b, cacheMagic)
	binary.NativeEndian.PutUint32(b[20:], 2)
	text := uint32(len(b))
	for i, flags := range []uint32{0x7f, cacheFlags} {
		entry := b[cacheHeader+i*cacheEntry:]
		binary.NativeEndian.PutUint32(entry, flags)
		binary.NativeEndian.PutUint32(entry[4:], text)
		binary.NativeEndian.PutUint32(entry[8:], text+uint32(len(soname))+1)
	}
	return append(b, soname+"\x00"+path+"\x00"...)
}

func FuzzCached(f *testing.F) {
	f.Add(makeCache("libc.so.6", "/lib/libc.so.6"))
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(_ *testing.T, data []byte) { cached(data, "libc.so.6") })
}

func TestFind_theSystemsOwn(t *testing.T) {
	if _, err := os.Stat(CacheFile); err != nil {
		t.Skip("there is no " + CacheFile)
	}
	path := Find("libc.so.6", func(string) string { return "" }, CacheFile)
	f, err := Read(path)
	require.NoError(t, err)
	assert.Equal(t, "libc.so.6", f.Soname)
	assert.False(t, f.Ours)
}
