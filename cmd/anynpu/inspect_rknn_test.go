package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
)

func TestInspect_rknn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.rknn")
	require.NoError(t, os.WriteFile(path, rknntest.Write(&rknn.File{
		Version: rknntest.Main, Targets: []string{"rk3588"}, Compiler: "2.3.2", Framework: "ONNX",
		Inputs:  []rknn.Port{{Name: "images", Type: "int8", Layout: "nchw", Dims: []int64{1, 3, 8, 8}}},
		Outputs: []rknn.Port{{Name: "scores", Type: "float16", Dims: []int64{1, 10}}},
		Graphs: []rknn.Graph{{
			Tensors: []rknn.Tensor{{
				Name: "images", Type: "int8", Kind: rknn.Input, Dims: []int64{1, 3, 8, 8}, Shape: []int64{1, 8, 8, 3},
				Scale: []float32{0.5}, Zero: []int64{-128},
			}},
			Nodes:  []rknn.Node{{Op: "Conv", Name: "Conv:a"}, {Op: "Conv", Name: "Conv:b"}, {Op: "Softmax", Name: "Softmax:c"}},
			Inputs: []int{0},
		}},
		Preprocess: map[string]rknn.Preprocess{"images": {Mean: []float64{1, 2, 3}, Std: []float64{4, 5, 6}}},
	}), 0o600))
	code, out, errs := anynpu("inspect", path)
	assert.Zero(t, code, errs)
	for _, line := range []string{
		"target      rk3588\n", "compiler    2.3.2\n",
		"  images                   int8[1,3,8,8] nchw, scale 0.5, zero point -128, native [1 8 8 3]\n",
		"  scores                   float16[1,10]\n",
		"preprocess  images: mean [1 2 3], std [4 5 6], rgb2bgr false\n", "operators   3\n  Conv                     2\n",
	} {
		assert.Contains(t, out, line)
	}
	code, out, errs = anynpu("inspect", "--json", path)
	assert.Zero(t, code, errs)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, "anynpu.inspect-rknn/2", got["schema"])
	assert.Equal(t, map[string]any{"Conv": 2.0, "Softmax": 1.0}, got["operators"])

	require.NoError(t, os.WriteFile(path, []byte("RKCE\x00\x00\x00\x00\x01\x02"), 0o600))
	code, _, errs = anynpu("inspect", path)
	assert.Equal(t, exitModel, code)
	assert.Contains(t, errs, "encrypted")
}
