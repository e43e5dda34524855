package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
)

// An .rknn file is measured by the ONNX model beside it, with the codes of the file.
func TestBench_takesCompiledModels(t *testing.T) {
	dir := t.TempDir()
	dims := []int64{1, 3, 4, 4}
	model := new(onnxtest.Model).Input("x", onnxtest.Float, dims...).Node("Neg", "m", "x").Node("Relu", "y", "m").
		Output("y", onnxtest.Float, dims...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "net.onnx"), model.Bytes(), 0o600))
	code := func(name string, kind rknn.Kind) rknn.Tensor {
		return rknn.Tensor{Name: name, Type: "int8", Kind: kind, Dims: dims, Shape: dims, Scale: []float32{0.5},
			Zero: []int64{3}}
	}
	path := filepath.Join(dir, "net.rknn")
	require.NoError(t, os.WriteFile(path, rknntest.Write(&rknn.File{Version: rknntest.Main, Targets: []string{"rk3588"},
		Inputs:  []rknn.Port{{Name: "x", Type: "int8", Layout: "nchw", Dims: dims}},
		Outputs: []rknn.Port{{Name: "y", Type: "int8", Layout: "nchw", Dims: dims}},
		Graphs: []rknn.Graph{{Inputs: []int{0}, Outputs: []int{1},
			Tensors: []rknn.Tensor{code("x", rknn.Input), code("y", rknn.Output)}}}}), 0o600))
	args := []string{"--threads", "1", "--json"}
	status, out, errs := anynpu(append([]string{"profile", path, "--api", "rknn", "--runs", "2"}, args...)...)
	require.Zero(t, status, errs)
	var r struct {
		API   string
		Nodes []struct{ Op string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, "rknn", r.API)
	ops := map[string]bool{}
	for _, n := range r.Nodes {
		ops[n.Op] = true
	}
	assert.True(t, ops["Neg"] && ops["Relu"], out)

	status, _, errs = anynpu(append([]string{"profile", path, "--runs", "2"}, args...)...)
	assert.Equal(t, exitModel, status)
	assert.Contains(t, errs, "not an ONNX model but")
}
