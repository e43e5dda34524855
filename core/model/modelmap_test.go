package model

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// sumOfABC is the SHA-256 of "abc", from FIPS 180-2.
const sumOfABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestMap_find(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	model := file("model", "abc")
	var m Map
	find := func(path string) (string, error) { return m.Find(bytes.NewReader([]byte("abc")), 3, path) }
	for text, want := range map[string][2]string{ // in memory, by its path
		sumOfABC + " -> a.onnx":              {"a.onnx", "a.onnx"},
		"model -> b.onnx":                    {"", "b.onnx"},
		"model->b.onnx\n" + sumOfABC + "->c": {"c", "b.onnx"},
		"gone -> a\n# " + sumOfABC + " -> c": {"", ""},
		"":                                   {"", ""},
	} {
		m = Map(file("map", text))
		for i, path := range []string{"", model} {
			got, err := find(path)
			require.NoError(t, err, text)
			if want[i] != "" {
				want[i] = filepath.Join(dir, want[i])
			}
			assert.Equal(t, want[i], got, "%q for %q", text, path)
		}
	}
	for _, text := range []string{"a", "-> a", "a ->", "a\x00 -> b"} {
		m = Map(file("map", text))
		_, err := find(model)
		assert.Equal(t, fault.File, fault.KindOf(err), "%q", text)
		assert.ErrorContains(t, err, "ANYNPU_MODEL_MAP", "%q", text)
	}
	m = Off
	got, err := find(model)
	assert.NoError(t, err)
	assert.Empty(t, got)
}
