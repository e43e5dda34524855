package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestPixelsResized_interpolatesBetweenCentres(t *testing.T) {
	line := pixels{1, 2, 1, []byte{0, 100}}
	assert.Equal(t, []byte{0, 25, 75, 100}, line.resized(1, 4).data)
	assert.Equal(t, []byte{50}, line.resized(1, 1).data)
	assert.Equal(t, []byte{0, 100, 0, 100, 0, 100}, line.resized(3, 2).data)
	colour := pixels{2, 1, 3, []byte{0, 10, 20, 100, 30, 60}}
	assert.Equal(t, pixels{1, 1, 3, []byte{50, 20, 40}}, colour.resized(1, 1))
	assert.Equal(t, colour, colour.resized(2, 1))
}

func TestFromProgram_followsTheMetadata(t *testing.T) {
	nchw, nhwc := device.Port{Type: tensor.T(tensor.Float32, 2, 3, 2, 1)},
		device.Port{Type: tensor.T(tensor.Float32, 2, 2, 1, 3)}
	planes := tensor.Tensor{DType: tensor.Float32, Dims: []int64{2, 3, 2, 1}, Data: tensor.Float32s(0, 3, 1, 4, 2, 5, 10,
		13, 11, 14, 12, 15)}
	last := tensor.Tensor{DType: tensor.Float32, Dims: []int64{2, 2, 1, 3}, Data: tensor.Float32s(0, 1, 2, 3, 4, 5, 10, 11,
		12, 13, 14, 15)}
	assert.Equal(t, planes, fromProgram(last, nchw, metadata.Input{Layout: "nhwc"}))
	assert.Equal(t, last, fromProgram(planes, nhwc, metadata.Input{Layout: "nchw"}))
	assert.Equal(t, planes, fromProgram(planes, nchw, metadata.Input{Layout: "nchw"}))
	assert.Equal(t, last, fromProgram(last, nhwc, metadata.Input{}))
}

func TestRun_resizesImages(t *testing.T) {
	dir := t.TempDir()
	for name, image := range map[string]string{"half": "P5 4 4 15\n" + strings.Repeat("\x07", 16), "whole": "P5 8 8 15\n" +
		strings.Repeat("\x07", 64)} {
		code, _, errs := anynpu("run", digits+"digits.onnx", "-i", writeFile(t, name+".pgm", []byte(image)), "-o",
			filepath.Join(dir, name))
		require.Equal(t, 0, code, errs)
	}
	assert.Equal(t, readNPY(t, filepath.Join(dir, "whole", "probabilities.npy")),
		readNPY(t, filepath.Join(dir, "half", "probabilities.npy")))
}
