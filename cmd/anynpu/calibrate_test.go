package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/npy"
)

// folderOf has arrays as files in the order given.
func folderOf(t *testing.T, dims []int64, arrays ...[]float32) string {
	dir := t.TempDir()
	for i, v := range arrays {
		x := tensor.New(tensor.Float32, dims...)
		copy(x.Data, tensor.Float32s(v...))
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.npy", i)))
		require.NoError(t, err)
		require.NoError(t, npy.Write(f, x))
		require.NoError(t, f.Close())
	}
	return dir
}

// negated is y = -x, so its ranges follow from the files.
func negated(dims ...int64) *onnxtest.Model {
	return (&onnxtest.Model{}).Input("x", onnxtest.Float, dims...).Output("y", onnxtest.Float, dims...).
		Node("Neg", "y", "x")
}

func entryOf(t *testing.T, path string) string {
	s, err := onnx.SurveyFile(path)
	require.NoError(t, err)
	return s.Meta["anynpu.output.y.codes"]
}

func TestCalibrate_aScaleForEachChannel(t *testing.T) {
	dir := folderOf(t, []int64{1, 2, 3}, []float32{1, -2, 0, 0.5, 8, 0}, []float32{-4, 1, 0, 3, 3, 0})
	path := writeFile(t, "net.onnx", negated(1, 2, 3).Bytes())
	code, _, errs := anynpu("metadata", path, "--calibrate", dir)
	require.Equal(t, 0, code, errs)
	assert.Contains(t, errs, "calibrated: 1 outputs on 2 files")
	want := fmt.Sprintf(`{"type":"int32","scale":[%v,%v,%v],"axis":2}`, float32(math.Ldexp(4, -24)),
		float32(math.Ldexp(8, -24)), float32(math.Ldexp(8, -24)))
	assert.JSONEq(t, want, entryOf(t, path), "powers of two over 2^24; a channel of zeros has the largest scale")
}

// What the metadata call codes stays of its type and axis; other outputs stay as they are.
func TestCalibrate_asTheMetadataSay(t *testing.T) {
	dir := folderOf(t, []int64{1, 2, 1, 2}, []float32{1, -127, 63.5, 0})
	const channels = `{"type":"int8","axis":-1}` // of what programs see as NHWC
	layouts := map[bool]string{true: "nhwc", false: "nchw"}
	for codes, want := range map[string]string{
		"int8":   `{"type":"int8","scale":[1]}`,
		channels: `{"type":"int8","scale":[1,0.5],"axis":3}`,
		`{"type":"int32","axis":1}`: fmt.Sprintf(`{"type":"int32","scale":[%v,%v],"axis":1}`, float32(127./(1<<24)),
			float32(63.5/(1<<24))),
		`{"type":"int16","scale":99}`: fmt.Sprintf(`{"type":"int16","scale":[%v]}`, float32(127./32767)),
	} {
		path := writeFile(t, "net.onnx", negated(1, 2, 1, 2).Meta("anynpu.output.y.codes", codes).
			Meta("anynpu.output.y.layout", layouts[codes == channels]).Bytes())
		code, _, errs := anynpu("metadata", path, "--calibrate", dir)
		require.Equal(t, 0, code, errs)
		assert.JSONEq(t, want, entryOf(t, path), codes)
	}
}

func TestCalibrate_refused(t *testing.T) {
	dir := folderOf(t, []int64{2}, []float32{1, float32(math.Inf(1))})
	path := writeFile(t, "net.onnx", negated(2).Bytes())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	two := writeFile(t, "two.onnx", (&onnxtest.Model{}).Input("a", onnxtest.Float, 2).Input("b", onnxtest.Float, 2).
		Output("y", onnxtest.Float, 2).Node("Add", "y", "a", "b").Bytes())
	whole := writeFile(t, "whole.onnx", (&onnxtest.Model{}).Input("x", onnxtest.Int64, 2).Output("y", onnxtest.Int64, 2).
		Node("Neg", "y", "x").Bytes())
	wrong := writeFile(t, "notes.txt", []byte("no image"))
	for _, c := range []struct {
		args []string
		code int
		word string
	}{
		{[]string{path, "--calibrate", dir}, 5, "element 1 is +Inf"},
		{[]string{path, "--calibrate", filepath.Join(dir, "none")}, 2, "no such file"},
		{[]string{path, "--calibrate", t.TempDir()}, 2, "no files"},
		{[]string{path, "--calibrate", filepath.Dir(wrong)}, 2, "notes.txt"},
		{[]string{path, "--calibrate", dir, "dim.n=1"}, 2, "write other entries first"},
		{[]string{two, "--calibrate", dir}, 2, "more than one input"},
		{[]string{whole, "--calibrate", dir}, 2, ""},
	} {
		code, _, errs := anynpu(append([]string{"metadata"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, errs)
		assert.Contains(t, errs, c.word)
	}
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, now, "nothing is written")
}

// A gray of 200 is luma of 200 and no chroma, so that each channel of the network gets 200.
func TestCalibrate_imagesForNV12(t *testing.T) {
	for _, planes := range []string{"1", "2"} {
		dir := t.TempDir()
		image := []byte("P6 4 2 255\n")
		for range 3 * 4 * 2 {
			image = append(image, 200)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "gray.ppm"), image, 0o600))
		path := writeFile(t, "net.onnx", negated(1, 3, 2, 4).Meta("anynpu.input.x.pixel", "nv12").
			Meta("anynpu.input.x.planes", planes).Meta("anynpu.output.y.codes", `{"type":"int32","axis":1}`).Bytes())
		code, _, errs := anynpu("metadata", path, "--calibrate", dir)
		require.Equal(t, 0, code, errs)
		v := float32(200. / (1 << 24))
		assert.JSONEq(t, fmt.Sprintf(`{"type":"int32","scale":[%v,%v,%v],"axis":1}`, v, v, v), entryOf(t, path))
	}
}
