package rknn

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// compiled is a file as the vendor's converter writes it.
func compiled() []byte {
	return rknntest.Write(&rknn.File{Version: rknntest.Main, Targets: []string{"rk3566"},
		Inputs:  []rknn.Port{{Name: "x", Type: "int8", Dims: []int64{1, 4, 2, 3}}},
		Outputs: []rknn.Port{{Name: "y", Type: "float16", Dims: []int64{1, 3, 4, 2}}}})
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestLoad_onnxInsteadOfACompiledModel(t *testing.T) {
	dir, data := t.TempDir(), compiled()
	path := write(t, filepath.Join(dir, "net.rknn"), data)
	_, err := load(nil, path, 0)
	requireCode(t, spec.ErrModel, err, "model: net.rknn: it is an .rknn file", "the NPU of rk3566", "net.onnx")
	_, err = load(data, "", 0)
	requireCode(t, spec.ErrModel, err, "model: it is an .rknn file", "SHA-256")

	write(t, filepath.Join(dir, "other.onnx"), identity(onnxtest.Float, 1, 3, 4, 2).Bytes())
	t.Setenv("ANYNPU_MODEL_MAP", write(t, filepath.Join(dir, "map"), fmt.Appendf(nil, "%x -> other.onnx\n",
		sha256.Sum256(data))))
	m, err := load(data, "", 0)
	require.NoError(t, err)
	defer m.release()
	require.Equal(t, "x", m.in[0].Name)
	require.EqualValues(t, len(data), m.size, "what the program handed over")

	t.Setenv("ANYNPU_MODEL_MAP", "off")
	_, err = load(data, "", 0)
	requireCode(t, spec.ErrModel, err, "ANYNPU_MODEL_MAP=off")
}

// A map that cannot be read does no harm to a model that can be loaded as it is.
func TestLoad_mapThatIsNone(t *testing.T) {
	t.Setenv("ANYNPU_MODEL_MAP", filepath.Join(t.TempDir(), "gone"))
	m, err := load(identity(onnxtest.Float, 1, 2).Bytes(), "", 0)
	require.NoError(t, err)
	m.release()
}
