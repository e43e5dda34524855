package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// The fast kernels agree with the reference on the digits, by layers too; a page and JSON say so.
func TestCompare_devices(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	code, stdout, stderr := anynpu("compare", digits+"digits.onnx", "--shape", "image=2,1,8,8", "--layers", "--html", page)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "no node departs")
	assert.Contains(t, stdout, "cpu reference")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "nothing departs")

	code, stdout, stderr = anynpu("compare", digits+"digits.onnx", "--shape", "image=2,1,8,8", "--json")
	require.Equal(t, exitOK, code, stderr)
	var r compareReport
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	assert.Equal(t, "anynpu.compare/1", r.Schema)
	require.Len(t, r.Outputs, 1)
	assert.Greater(t, float64(r.Outputs[0].Error.SNR), 100.)
}

// With --dump-fused the convolution, whose relu is computed with it, is nowhere; all else is as without.
func TestRun_dumpFused(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join("..", "..", "examples", "digits", "digits.onnx")
	run := func(name string, flags ...string) string {
		folder := filepath.Join(dir, name)
		code, _, stderr := anynpu(append([]string{"run", model, "--random", "--seed", "3", "--shape", "image=1,1,8,8",
			"--dump", folder}, flags...)...)
		require.Equal(t, exitOK, code, stderr)
		return folder
	}
	all, fused := run("all"), run("fused", "--dump-fused")
	for _, file := range []string{"image.npy", "conv1.npy", "relu1.npy", "probabilities.npy"} {
		assert.FileExists(t, filepath.Join(all, file))
		if file == "conv1.npy" {
			assert.NoFileExists(t, filepath.Join(fused, file))
		} else {
			assert.FileExists(t, filepath.Join(fused, file))
		}
	}
	code, stdout, stderr := anynpu("compare", model, "--golden", fused, "--layers")
	assert.Equal(t, exitOK, code, stdout+stderr)
	code, _, stderr = anynpu("run", model, "--random", "--dump-fused")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "--dump-fused: it goes with --dump")
}

// A comparison takes a dump as golden values: the same model agrees, another departs in its own node.
func TestCompare_golden(t *testing.T) {
	dir := t.TempDir()
	model := func(op string) string {
		path := filepath.Join(dir, op+".onnx")
		require.NoError(t, os.WriteFile(path, vectorModel(op), 0o666))
		return path
	}
	mul, add := model("Mul"), model("Add")
	dump := filepath.Join(dir, "dump")
	code, _, stderr := anynpu("run", mul, "--random", "--seed", "3", "--shape", "x=8", "--dump", dump)
	require.Equal(t, exitOK, code, stderr)
	assert.FileExists(t, filepath.Join(dump, "x.npy"))
	assert.FileExists(t, filepath.Join(dump, "y.npy"))

	code, stdout, stderr := anynpu("compare", mul, "--golden", dump, "--layers")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "output  y float32[8]: equal")

	part := filepath.Join(dir, "part.onnx")
	code, stdout, stderr = anynpu("compare", add, "--golden", dump, "--layers", "--bisect", part)
	assert.Equal(t, exitDifferent, code)
	assert.Contains(t, stderr, "the first is node 0, Add")
	assert.Contains(t, stdout, "first to depart: node 0, Add")
	code, _, stderr = anynpu("run", part, "-i", filepath.Join(part+".data", "in", "x.npy"), "--expect",
		"y="+filepath.Join(part+".data", "want", "y.npy"))
	assert.Equal(t, exitDifferent, code, stderr)

	code, _, stderr = anynpu("run", mul, "--random", "--shape", "x=8", "--dump", filepath.Join(dir, "some"),
		"--dump-values", "x*")
	require.Equal(t, exitOK, code, stderr)
	assert.NoFileExists(t, filepath.Join(dir, "some", "y.npy"))

	require.NoError(t, os.Remove(filepath.Join(dump, "y.npy")))
	code, stdout, stderr = anynpu("compare", mul, "--golden", dump)
	assert.Equal(t, exitModel, code, stdout)
	assert.Contains(t, stderr, "nothing was compared: no output of")
}

// Inputs of two models are paired by name, those left over in their order: none stands for two.
func TestCompare_inputs(t *testing.T) {
	dir := t.TempDir()
	difference := func(first, second, minuend string) string {
		b := graph.NewBuilder("difference")
		of := map[string]graph.Value{}
		for _, name := range []string{first, second} {
			of[name] = b.Input(name, tensor.T(tensor.Float32, 8))
		}
		subtrahend := of[first]
		if minuend == first {
			subtrahend = of[second]
		}
		y := b.Add(&op.Sub{}, of[minuend], subtrahend)
		b.Name(y, "out")
		b.Output(y)
		g, err := b.Graph()
		require.NoError(t, err)
		m, err := export.Of(g, export.Options{})
		require.NoError(t, err)
		path := filepath.Join(dir, first+second+".onnx")
		require.NoError(t, m.WriteFile(path))
		return path
	}
	code, stdout, stderr := anynpu("compare", difference("x", "y", "x"), difference("z", "x", "x"))
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "output  out float32[8]: equal")
}

func TestCompare_refuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		said string
		code int
		args []string
	}{
		{"want one MODEL or two, got 0", exitUsage, nil},
		{"--device is given 3 times", exitUsage, []string{"m", "--device", "a", "--device", "b", "--device", "c"}},
		{"--golden with two models", exitUsage, []string{"m", "n", "--golden", dir}},
		{"--html and --bisect go with --layers", exitUsage, []string{"m", "--html", "x"}},
		{"no file NAME.npy for any value", exitUsage,
			[]string{digits + "digits.onnx", "--golden", dir, "--shape", "image=1,1,8,8"}},
		{"want a folder", exitUsage, []string{digits + "digits.onnx", "--golden", filepath.Join(dir, "none")}},
		{`no device "npu"`, exitDevice, []string{digits + "digits.onnx", "--device", "npu"}},
		{"no such file", exitModel, []string{filepath.Join(dir, "none.onnx")}},
	} {
		code, _, stderr := anynpu(append([]string{"compare"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		assert.Contains(t, stderr, c.said, "%v", c.args)
	}
	code, _, stderr := anynpu("run", digits+"digits.onnx", "--random", "--dump-values", "a*")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "it goes with --dump")
}
