package ohnn

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// addConstant is a finished model of x + constant.
func addConstant(t *testing.T, k float32) testModel {
	m := newTestModel(t)
	x, c, y := m.tensor(spec.Float32, 1), m.constant(spec.Float32, tensor.Float32s(k), 1), m.tensor(spec.Float32, 1)
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(x, c), array(y)))
	require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(x), array(y)))
	require.NoError(t, modelFinish(m.Model))
	return m
}

// cached builds x + k, or nothing for k 0, with a cache and returns the code and what 1 becomes.
func cached(t *testing.T, k float32, dir string, version uint32) (ReturnCode, float32) {
	c, err := compilationConstructForCache()
	require.NoError(t, err)
	if k != 0 {
		c, err = compilationConstruct(addConstant(t, k).Model)
		require.NoError(t, err)
	}
	defer func() { _ = compilationDestroy(c) }()
	require.NoError(t, compilationSetCache(c, dir, version))
	err = compilationBuild(c)
	if c.result == nil {
		return status(err), 0
	}
	e := executor(t, c)
	y := newTestTensor(t, spec.Float32, nil, 1)
	require.NoError(t, executorRunSync(e, []*Tensor{newTestTensor(t, spec.Float32, tensor.Float32s(1), 1)}, []*Tensor{y}))
	return status(err), floats(t, memoryOf(y))[0]
}

func TestCache_versions(t *testing.T) {
	dir := t.TempDir()
	check := func(what string, k float32, version uint32, code ReturnCode, result float32) {
		t.Helper()
		gotCode, got := cached(t, k, dir, version)
		assert.Equal(t, code, gotCode, what)
		assert.Equal(t, result, got, what)
	}
	check("nothing there", 0, 5, InvalidParameter, 0)
	check("made", 2, 5, Success, 3)
	assert.FileExists(t, filepath.Join(dir, "cache_info.nncache"))
	assert.FileExists(t, filepath.Join(dir, "0.nncache"))
	check("restored without a model", 0, 5, Success, 3)
	check("restored with the model", 2, 5, Success, 3)
	check("older than the cache", 2, 4, OperationForbidden, 0)
	check("without a model, newer", 0, 6, InvalidParameter, 0)
	check("newer than the cache", 2, 6, Success, 3)
	check("the old version is gone", 2, 5, OperationForbidden, 0)
	check("another model", 7, 6, Success, 8)
	check("that one is cached now", 0, 6, Success, 8)
	check("reserved version", 7, 1<<32-1, InvalidParameter, 8)
}

func TestCache_directories(t *testing.T) {
	code, got := cached(t, 2, filepath.Join(t.TempDir(), "none"), 1)
	assert.Equal(t, InvalidParameter, code)
	assert.Equal(t, float32(3), got, "the model is compiled all the same")
	code, got = cached(t, 2, "", 1)
	assert.Equal(t, Success, code)
	assert.Equal(t, float32(3), got)
}

// TestCache_damage flips every byte of every file, one at a time, and cuts the files: the model is built anew, never
// run wrongly.
func TestCache_damage(t *testing.T) {
	dir := t.TempDir()
	code, _ := cached(t, 2, dir, 1)
	require.Equal(t, Success, code)
	for _, name := range []string{"cache_info.nncache", "0.nncache", "1.nncache", "2.nncache"} {
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		for i := 0; i < len(good); i += max(1, len(good)/64) {
			bad := bytes.Clone(good)
			bad[i] ^= 0x41
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			code, _ := cached(t, 0, dir, 1)
			assert.Equal(t, InvalidParameter, code, "%s, byte %d", name, i)
		}
		require.NoError(t, os.WriteFile(path, good[:len(good)/2], 0o600))
		code, got := cached(t, 2, dir, 1)
		assert.Equal(t, Success, code, name)
		assert.Equal(t, float32(3), got, name)
		code, _ = cached(t, 0, dir, 1)
		assert.Equal(t, Success, code, "the damaged cache was replaced")
	}
}

func TestHasCache(t *testing.T) {
	dir := t.TempDir()
	assert.False(t, hasCache(dir, "", 3))
	code, _ := cached(t, 2, dir, 3)
	require.Equal(t, Success, code)
	assert.True(t, hasCache(dir, "", 3))
	assert.False(t, hasCache(dir, "", 4))
	assert.False(t, hasCache(dir, "other", 3))
	require.NoError(t, os.Truncate(filepath.Join(dir, "1.nncache"), 3))
	assert.False(t, hasCache(dir, "", 3))
}

func TestExportImport(t *testing.T) {
	c, err := compilationConstruct(addConstant(t, 2).Model)
	require.NoError(t, err)
	defer func() { _ = compilationDestroy(c) }()
	buffer := make([]byte, 1<<16)
	var size uint64
	assert.Equal(t, InvalidParameter, status(compilationExportCacheToBuffer(c, buffer, &size)), "not built")
	require.NoError(t, compilationBuild(c))
	assert.Equal(t, InvalidParameter, status(compilationExportCacheToBuffer(c, buffer[:1], &size)), "too small")
	assert.Greater(t, size, uint64(100), "the size that is needed")
	require.NoError(t, compilationExportCacheToBuffer(c, buffer, &size))
	blob := buffer[:size]
	file := filepath.Join(t.TempDir(), "offline")
	require.NoError(t, os.WriteFile(file, blob, 0o600))

	constructs := map[string]func() (*Compilation, error){
		"offline buffer": func() (*Compilation, error) { return compilationConstructWithOfflineModelBuffer(blob) },
		"offline file":   func() (*Compilation, error) { return compilationConstructWithOfflineModelFile(file) },
		"import": func() (*Compilation, error) {
			c, _ := compilationConstructForCache()
			return c, compilationImportCacheFromBuffer(c, blob)
		},
		"import for the model": func() (*Compilation, error) {
			c, _ := compilationConstruct(addConstant(t, 2).Model)
			return c, compilationImportCacheFromBuffer(c, blob)
		},
		"import for another model": func() (*Compilation, error) {
			c, _ := compilationConstruct(addConstant(t, 5).Model)
			return c, compilationImportCacheFromBuffer(c, blob)
		},
	}
	for name, construct := range constructs {
		t.Run(name, func(t *testing.T) {
			c, err := construct()
			require.NoError(t, err)
			defer func() { _ = compilationDestroy(c) }()
			require.NoError(t, compilationBuild(c))
			y := newTestTensor(t, spec.Float32, nil, 1)
			require.NoError(t, executorRunSync(executor(t, c), []*Tensor{newTestTensor(t, spec.Float32, tensor.Float32s(1), 1)},
				[]*Tensor{y}))
			want := float32(3)
			if name == "import for another model" {
				want = 6
			}
			assert.Equal(t, want, floats(t, memoryOf(y))[0])
		})
	}
	for i := range len(blob) {
		bad := bytes.Clone(blob)
		bad[i] ^= 0x20
		c, err := compilationConstructWithOfflineModelBuffer(bad)
		require.NoError(t, err)
		assert.Equal(t, Failed, status(compilationBuild(c)), "byte %d", i)
	}
}

func TestBuild_sources(t *testing.T) {
	c, err := compilationConstructWithOfflineModelFile("/nowhere")
	require.NoError(t, err)
	assert.Equal(t, Failed, status(compilationBuild(c)))
	assert.Equal(t, InvalidParameter, status(compilationBuild(c)), "a second build")
	c, err = compilationConstructWithOfflineModelFile("/nowhere")
	require.NoError(t, err)
	require.NoError(t, compilationImportCacheFromBuffer(c, []byte("x")))
	assert.Equal(t, InvalidParameter, status(compilationBuild(c)), "a path and a buffer")
	c, err = compilationConstructForCache()
	require.NoError(t, err)
	assert.Equal(t, InvalidParameter, status(compilationBuild(c)), "nothing at all")
}

// TestChecksum_definition computes the sums from the definition, word by word, in another way.
func TestChecksum_definition(t *testing.T) {
	assert.Equal(t, uint16(0xffff), checksum(nil))
	assert.Equal(t, ^uint16(0x0201+3), checksum([]byte{1, 2, 3}))
	assert.Equal(t, ^uint16(1), checksum([]byte{0xff, 0xff, 1, 0}), "the carry comes back in")
	big := make([]byte, 5<<20)
	for i := range big {
		big[i] = byte(i * 7)
	}
	// Step 2: every other word counts, from the first on, while more than 5 bytes remain.
	var sum uint64
	for at := 0; len(big)-at > 5; at += 4 {
		sum += uint64(binary.LittleEndian.Uint16(big[at:]))
	}
	sum = (sum + uint64(big[len(big)-1])) % (1 << 32)
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	assert.Equal(t, ^uint16(sum), fileChecksum(big))
}
