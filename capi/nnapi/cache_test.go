package nnapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// caching sets a cache in dir whose token is all b.
func caching(t *testing.T, dir string, b byte) func(*Compilation) {
	return func(c *Compilation) {
		var token [tokenSize]byte
		for i := range token {
			token[i] = b
		}
		require.NoError(t, compilationSetCaching(c, dir, &token[0]))
	}
}

// hit reports whether a compilation would be taken from its cache.
func hit(t *testing.T, c *Compilation) bool {
	g, err := c.model.coreGraph()
	require.NoError(t, err)
	p := c.cache().load(t.Context(), g.Graph, core(c.devices, &c.model.spec))
	if p == nil {
		return false
	}
	p.Release()
	return true
}

func TestCache_servesTheSameCompilationOnly(t *testing.T) {
	dir := t.TempDir()
	list := withGuises(t, "other:no-CONV_2D")
	reference := list[1:]
	m := sumOfProducts(t, 3)
	c := compiledFor(t, m, reference, true, caching(t, dir, 1))
	computes(t, c)
	assert.True(t, hit(t, c))
	again := compiledFor(t, sumOfProducts(t, 3), reference, true, caching(t, dir, 1))
	assert.True(t, hit(t, again), "another model of the same content")
	computes(t, again)

	relaxed := newBuilder(t, 3)
	x := relaxed.tensor()
	require.NoError(t, modelRelaxComputationFloat32toFloat16(relaxed.m, true))
	for what, other := range map[string]*Compilation{
		"token":      newCompilation(m, reference, true),
		"preference": newCompilation(m, reference, true),
		"devices":    newCompilation(m, list, false),
		"sizes":      newCompilation(sumOfProducts(t, 4), reference, true),
		"model":      newCompilation(relaxed.finish([]uint32{x}, relaxed.binary(nnapi.Add, x, x)), reference, true),
	} {
		token := byte(1)
		switch what {
		case "token":
			token = 2
		case "preference":
			require.NoError(t, compilationSetPreference(other, nnapi.PreferLowPower))
		}
		caching(t, dir, token)(other)
		assert.False(t, hit(t, other), what)
	}
}

// TestCache_shared: devices get the program's directory and token, unless others could put files there.
func TestCache_shared(t *testing.T) {
	dir := t.TempDir()
	link, open := filepath.Join(dir, "link"), filepath.Join(dir, "open")
	require.NoError(t, os.Symlink(dir, link))
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	m, list := sumOfProducts(t, 3), withGuises(t, "")
	for at, want := range map[string]bool{dir: true, link: false, open: false, filepath.Join(dir, "none"): false} {
		c := newCompilation(m, list, false)
		caching(t, at, 7)(c)
		given, ok := device.CacheOf(c.cache().share(t.Context(), c.token))
		assert.Equal(t, want, ok, at)
		if ok {
			assert.Equal(t, at, given.Dir)
			assert.EqualValues(t, c.token, given.Token)
		}
	}
	_, ok := device.CacheOf(newCompilation(m, list, false).cache().share(t.Context(), [tokenSize]byte{}))
	assert.False(t, ok)
}

// TestCache_partition: a program in parts comes back in parts.
func TestCache_partition(t *testing.T) {
	dir := t.TempDir()
	list := onceEach(withGuises(t, "adds:no-MUL"))
	m := sumOfProducts(t, 3)
	c := compiledFor(t, m, list, false, caching(t, dir, 1))
	require.True(t, hit(t, c))
	again := compiledFor(t, m, list, false, caching(t, dir, 1))
	assert.Equal(t, []string{referenceName, "adds"}, deviceNames(again))
	computes(t, again)
}

func TestCache_damageIsAMiss(t *testing.T) {
	dir := t.TempDir()
	m := sumOfProducts(t, 3)
	c := compiledFor(t, m, withGuises(t, ""), false, caching(t, dir, 1))
	k := c.cache()
	for _, name := range []string{k.index, k.data} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for at := 0; at < len(whole); at += 1 + len(whole)/40 {
			bad := append([]byte{}, whole...)
			bad[at] ^= 0x40
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			assert.False(t, hit(t, c), "%s: byte %d", name, at)
		}
		for _, n := range []int{0, 1, len(whole) - 1} {
			require.NoError(t, os.WriteFile(path, whole[:n], 0o600))
			assert.False(t, hit(t, c), "%s: %d bytes", name, n)
		}
		require.NoError(t, os.Remove(path))
		assert.False(t, hit(t, c), "%s is missing", name)
		require.NoError(t, os.Symlink("/dev/zero", path))
		assert.False(t, hit(t, c), "%s is a link", name)
		require.NoError(t, os.Remove(path))
		require.NoError(t, unix.Mkfifo(path, 0o600))
		assert.False(t, hit(t, c), "%s is a pipe", name)
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.WriteFile(path, whole, 0o600))
		assert.True(t, hit(t, c), "%s is back", name)
	}
	computes(t, compiledFor(t, m, c.devices, false, caching(t, dir, 1)))
}

// TestCache_programOfAnotherModel: a cache whose key was forged does not get past the model's inputs and outputs.
func TestCache_programOfAnotherModel(t *testing.T) {
	dir := t.TempDir()
	list := withGuises(t, "")
	wide := compiledFor(t, sumOfProducts(t, 64), list, false)
	c := newCompilation(sumOfProducts(t, 3), list, false)
	caching(t, dir, 1)(c)
	c.cache().save(wide.result.whole.program.(*compile.Program))
	assert.False(t, hit(t, c))
	computes(t, compiledFor(t, c.model, list, false, caching(t, dir, 1)))
}

func TestCache_troubleFailsNothing(t *testing.T) {
	m := sumOfProducts(t, 3)
	list := withGuises(t, "")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{"/nonexistent/folder", "/proc", file, "", "\x01"} {
		computes(t, compiledFor(t, m, list, false, caching(t, dir, 1)))
	}
}
