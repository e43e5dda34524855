package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExport_serve: each server's folder has the model and what the server needs, with the model's ports.
func TestExport_serve(t *testing.T) {
	const model = "../../examples/digits/digits.onnx"
	for kind, files := range map[string][]string{
		"triton":        {"net/config.pbtxt", "net/1/model.onnx"},
		"triton-python": {"net/1/model.py", "net/config.pbtxt", "net/1/model.onnx"},
		"kserve":        {"model.json", "kserve_model.py", "model.onnx"},
		"mlserver":      {"net/model-settings.json", "anynpu_ort.py", "net/model.onnx"},
		"ray":           {"net/model.json", "ray_models.py", "net/model.onnx"},
	} {
		dir := t.TempDir()
		var out, errs strings.Builder
		require.Equal(t, exitOK, command([]string{"export", model, "--serve", kind, "--name", "net", "-o", dir}, &out, &errs),
			errs.String())
		var want []string
		for _, f := range files {
			want = append(want, filepath.Join(dir, f))
			st, err := os.Stat(filepath.Join(dir, f))
			require.NoError(t, err)
			assert.Positive(t, st.Size())
		}
		assert.Equal(t, strings.Join(want, "\n")+"\n", out.String())
		if strings.HasPrefix(kind, "triton") {
			text, err := os.ReadFile(filepath.Join(dir, "net/config.pbtxt"))
			require.NoError(t, err)
			backend := map[bool]string{true: "python", false: "onnxruntime"}[kind == "triton-python"]
			assert.Equal(t, `name: "net"
backend: "`+backend+`"
max_batch_size: 0
input [{ name: "image" data_type: TYPE_FP32 dims: [-1, 1, 8, 8] }]
output [{ name: "probabilities" data_type: TYPE_FP32 dims: [-1, 10] }]
instance_group [{ kind: KIND_CPU }]
`, string(text))
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, files[0]))
		require.NoError(t, err)
		var about map[string]any
		require.NoError(t, json.Unmarshal(text, &about))
		assert.Equal(t, "net", about["name"])
		assert.Equal(t, []any{map[string]any{"name": "image", "datatype": "FP32", "shape": []any{-1., 1., 8., 8.}}},
			about["inputs"])
	}
	for _, args := range [][]string{{"--serve", "bento", "-o", "x"}, {"--name", "net", "-o", "x"}, {"--serve", "triton"},
		{"--serve", "triton", "--name", "a/b", "-o", t.TempDir()}} {
		var out, errs strings.Builder
		code := command(append([]string{"export", model}, args...), &out, &errs)
		assert.Equal(t, exitUsage, code, "%v: %s", args, errs.String())
	}
}
