package model

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// A file that is not there is served as a compiled model is: by a map, by the ONNX file beside it, by a folder.
func TestLocate(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Mkdir(at("all"), 0o700))
	for _, name := range []string{"net.onnx", "there.bin", "all/far.onnx", "other.onnx"} {
		require.NoError(t, os.WriteFile(at(name), []byte("x"), 0o600))
	}
	require.NoError(t, os.WriteFile(at("map"), []byte("deep/a.hbm -> other.onnx\nnet.bin -> other.onnx\n"), 0o600))
	for _, c := range []struct{ path, m, want, by string }{
		{"there.bin", "", "there.bin", "-"},
		{"net.bin", "", "net.onnx", ""},
		{"net.rknn", "", "net.onnx", ""},
		{"net.bin", "map", "other.onnx", "map"},
		{"deep/../deep/a.hbm", "map", "other.onnx", "map"},
		{"net.rknn", "map", "net.onnx", ""},
		{"far.rknn", "all", "all/far.onnx", "all"},
	} {
		m := Map("")
		if c.m != "" {
			m = Map(at(c.m))
		}
		s, why, err := (Source{Path: dir + "/" + c.path}).Locate(m)
		require.NoError(t, err, c)
		assert.Equal(t, filepath.Clean(at(c.want)), filepath.Clean(s.Path), c)
		switch c.by {
		case "-":
			assert.Nil(t, why)
		case "":
			assert.Equal(t, Map(""), why.Map)
		default:
			assert.Equal(t, Map(at(c.by)), why.Map)
		}
	}
	for _, c := range []struct{ path, m, says string }{
		{"gone.bin", "", "gone.onnx"},
		{"gone.bin", "", "no such file"},
		{"gone.bin", "", "ANYNPU_MODEL_MAP is not set"},
		{"gone.bin", "map", "has no line for the path"},
		{"gone.bin", "all", "or in the folder"},
		{"gone.onnx", "", "no such file"},
		{"pack.json", "", "no such file"},
	} {
		m := Map("")
		if c.m != "" {
			m = Map(at(c.m))
		}
		_, _, err := (Source{Path: at(c.path)}).Locate(m)
		assert.ErrorIs(t, err, fs.ErrNotExist, c)
		assert.Equal(t, fault.File, fault.KindOf(err), c)
		assert.ErrorContains(t, err, c.says)
	}
	_, _, err := (Source{Path: at("net.bin")}).Locate(Off)
	assert.ErrorContains(t, err, "ANYNPU_MODEL_MAP=off")
}
