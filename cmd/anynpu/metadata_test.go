package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	"github.com/anynpu/anynpu/core/tensor"
)

// copyOfDigits returns the path of a copy of the shipped model, which has no metadata of its own, and its bytes.
func copyOfDigits(t *testing.T) (string, []byte) {
	data, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	return writeFile(t, "net.onnx", data), data
}

func TestMetadata_writesIntoTheModelAndNothingElse(t *testing.T) {
	path, data := copyOfDigits(t)
	require.NoError(t, os.Chmod(path, 0o640))
	link := filepath.Join(t.TempDir(), "link.onnx")
	require.NoError(t, os.Symlink(path, link))

	code, out, errs := anynpu("metadata", link, "input.image.mean=1.5", "anynpu.input.image.std= 2", "dim.N=4",
		"custom_string=v = 1", "--json")
	require.Equal(t, 0, code, errs)
	want := map[string]string{"anynpu.input.image.mean": "[1.5]", "anynpu.input.image.std": "[2]", "anynpu.dim.N": "4",
		"anynpu.custom_string": "v = 1"}
	var r metadataReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, metadataReport{"anynpu.metadata/1", link, want, map[string]string{}}, r)

	st, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, st.Mode()&os.ModeSymlink, "the link is one still")
	st, err = os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o640, st.Mode().Perm())
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(now, data), "what the model was stays as it was")
	s, err := onnx.SurveyFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, s.Meta)

	code, out, errs = anynpu("metadata", path, "input.image.mean=3", "-d", "dim.N", "-d", "anynpu.custom_string", "-d",
		"input.image.std")
	require.Equal(t, 0, code, errs)
	assert.Equal(t, "anynpu.input.image.mean = [3]\n", out)
	code, _, errs = anynpu("metadata", path, "--delete", "input.image.mean")
	require.Equal(t, 0, code, errs)
	now, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, data, now)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "no other file")
}

func TestMetadata_embedsTheFileBeside(t *testing.T) {
	path, data := copyOfDigits(t)
	beside, err := os.ReadFile(digits + "digits.onnx.anynpu.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".anynpu.json", beside, 0o600))
	code, out, errs := anynpu("metadata", path)
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "anynpu.input.image.std = [16]   (net.onnx.anynpu.json)")

	other := filepath.Join(t.TempDir(), "other.onnx")
	code, out, errs = anynpu("metadata", path, "--embed", "-o", other)
	require.Equal(t, 0, code, errs)
	assert.Equal(t, "anynpu.input.image.pixel = gray\nanynpu.input.image.std = [16]\nanynpu.schema = 1\n", out)
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, data, now, "-o leaves the model alone")
	images, err := filepath.Glob(digits + "images/*label7*")
	require.NoError(t, err)
	require.NotEmpty(t, images)
	_, want, _ := anynpu("run", digits+"digits.onnx", "-i", "image="+images[0], "--json")
	_, got, _ := anynpu("run", other, "-i", "image="+images[0], "--json")
	assert.Equal(t, outputsOf(t, want), outputsOf(t, got), "the image is normalized as before")

	code, out, errs = anynpu("metadata", path, "input.image.std=3")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, errs, "anynpu.json has anynpu.input.image.std, too, and wins")
	assert.Contains(t, out, "anynpu.input.image.std = [3]   (the file beside the model has another)")
}

// outputsOf returns what a JSON report of run says of the outputs.
func outputsOf(t *testing.T, text string) any {
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	require.NotEmpty(t, r["outputs"])
	return r["outputs"]
}

func TestMetadata_refuses(t *testing.T) {
	path, data := copyOfDigits(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "MODEL"},
		{[]string{"nowhere.onnx", "dim.N=1"}, 3, "nowhere.onnx"},
		{[]string{writeFile(t, "a", []byte("RKNN")), "dim.N=1"}, 3, "a Rockchip RKNN model"},
		{[]string{writeFile(t, "a", data[:len(data)-3]), "dim.N=1"}, 3, "model"},
		{[]string{path, "dim.N"}, 2, "want KEY=VALUE"},
		{[]string{path, "input.image.meen=1"}, 2, "no such key; did you mean input.image.mean?"},
		{[]string{path, "author=me"}, 2, "no such key; anynpu metadata --help lists them"},
		{[]string{path, "input.photo.mean=1"}, 2, `"photo", which it does not have; there is: image`},
		{[]string{path, "input.image.mean=blue"}, 2, "anynpu.input.image.mean"},
		{[]string{path, "input.image.mean=1,2"}, 2, "has 2 numbers"},
		{[]string{path, "input.image.std=0"}, 2, "a divisor of 0"},
		{[]string{path, "input.image.shapes=[[1,1,8]]"}, 2, "does not fit the input's shape [N,1,8,8]"},
		{[]string{path, "input.image.shapes=[[1,2,8,8]]"}, 2, "does not fit the input's shape [N,1,8,8]"},
		{[]string{path, "dim.N=0"}, 2, "a size of 0"},
		{[]string{path, "-d", "dim.N"}, 2, "no such entry"},
		{[]string{path, "--embed"}, 2, "anynpu.json"},
		{[]string{path, "-o", path}, 2, "nothing is to be written"},
		{[]string{path, "dim.N=1", "-o", "/nowhere/net.onnx"}, 5, "/nowhere/net.onnx"},
		{[]string{path, "dim.N=1", "-o", filepath.Dir(path)}, 5, filepath.Dir(path)},
	} {
		code, out, errs := anynpu(append([]string{"metadata"}, c.args...)...)
		assert.Equal(t, c.code, code, "%q: %s", c.args, errs)
		assert.Contains(t, errs, c.want, "%q", c.args)
		assert.Empty(t, out, "%q", c.args)
	}
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, data, now)
	_, _, errs := anynpu("metadata", path, "dim.M=1")
	assert.Contains(t, errs, `open dimension "M"; there is: N`)
}

// The ONNX model alone then says what the file says.
func TestMetadata_fromAnRKNNFile(t *testing.T) {
	path, _ := copyOfDigits(t)
	file := &rknn.File{Version: rknntest.Main, Targets: []string{"rk3566"}, Custom: "ten digits", Batch: 4,
		Inputs:     []rknn.Port{{Name: "image", Type: "int8", Dims: []int64{1, 1, 8, 8}}},
		Outputs:    []rknn.Port{{Name: "probabilities", Type: "float16", Dims: []int64{1, 10}}},
		Preprocess: map[string]rknn.Preprocess{"image": {Std: []float64{16}}},
		Graphs: []rknn.Graph{{Tensors: []rknn.Tensor{
			{Name: "image", Type: "int8", Kind: rknn.Input, Scale: []float32{0.5}, Zero: []int64{-128},
				Shape: []int64{1, 8, 8, 1}},
			{Name: "nowhere", Type: "int8", Kind: rknn.Intermediate, Scale: []float32{0.5}, Zero: []int64{0}},
			{Name: "probabilities", Type: "float16", Kind: rknn.Output, Shape: []int64{1, 10}}}}}}
	from := writeFile(t, "net.rknn", rknntest.Write(file))
	code, out, errs := anynpu("metadata", path, "--from", from, "custom_string=mine", "--json")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, errs, "1 of 2 tensors of "+from+" are not in the model")
	var r metadataReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, map[string]string{"anynpu.custom_string": "mine", "anynpu.target": "rk3566",
		"anynpu.input.image.mean": "[0]", "anynpu.input.image.std": "[16]", "anynpu.input.image.shape": "[4,1,8,8]",
		"anynpu.value.image.stored":         `{"type":"int8","scale":0.5,"zero":-128,"native":[[1,8,8,1]]}`,
		"anynpu.value.probabilities.stored": `{"type":"float16","native":[[1,10]]}`}, r.Metadata)
	for _, other := range []string{writeFile(t, "a", []byte("RKCE1234")), writeFile(t, "b", []byte("hello")),
		"nowhere.rknn",
		writeFile(t, "c", append([]byte("RKNN\x00\x00\x00\x00"), make([]byte, 80)...))} {
		code, _, errs = anynpu("metadata", path, "--from", other)
		assert.Equal(t, 3, code, errs)
		assert.Contains(t, errs, "--from "+other)
	}
}

// TestMetadata_externalData writes into a model whose constant lies in another file.
func TestMetadata_externalData(t *testing.T) {
	field := func(b []byte, n protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
	}
	number := func(b []byte, n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
	value := func(name string) []byte {
		shape := field(nil, 2, field(nil, 1, number(nil, 1, 2)))
		return field(field(nil, 1, []byte(name)), 2, field(nil, 1, append(number(nil, 1, 1), shape...)))
	}
	place := field(field(nil, 1, []byte("location")), 2, []byte("weights"))
	constant := number(field(field(number(number(nil, 1, 2), 2, 1), 8, []byte("w")), 13, place), 14, 1)
	node := field(field(field(field(nil, 1, []byte("x")), 1, []byte("w")), 2, []byte("y")), 4, []byte("Add"))
	graph := field(field(field(field(field(nil, 1, node), 2, []byte("g")), 5, constant), 11, value("x")), 12, value("y"))
	dir := t.TempDir()
	path := filepath.Join(dir, "m.onnx")
	require.NoError(t, os.WriteFile(path, field(field(number(nil, 1, 8), 7, graph), 8, number(nil, 2, 17)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "weights"), tensor.Float32s(10, 20), 0o600))

	code, _, errs := anynpu("metadata", path, "name=outside")
	require.Equal(t, 0, code, errs)
	assert.Empty(t, errs)
	x := tensor.New(tensor.Float32, 2)
	copy(x.Data, tensor.Float32s(1, 2))
	code, out, errs := anynpu("run", path, "-i", "x="+writeNPY(t, x), "--json")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "22")

	code, _, errs = anynpu("metadata", path, "name=x", "-o", filepath.Join(t.TempDir(), "m.onnx"))
	assert.Equal(t, 0, code)
	assert.Contains(t, errs, "external data")
}
