package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestRun_cautionsOfImages: results depend on what the metadata do not say, and on colours that an image lacks.
func TestRun_cautionsOfImages(t *testing.T) {
	const (
		normalized = "the model's metadata give neither mean nor std: results are wrong if the network wants them " +
			"normalized; " +
			"set anynpu.input.x.mean and anynpu.input.x.std"
		grey = "a grey image for an input of 3 channels"
	)
	model := func(elem, channels int64, meta ...string) string {
		m := new(onnxtest.Model).Input("x", elem, 1, channels, 1, 2).Node("Identity", "y", "x").Output("y", elem, 1, channels,
			1, 2)
		for i := 0; i < len(meta); i += 2 {
			m.Meta(meta[i], meta[i+1])
		}
		return writeFile(t, "m.onnx", m.Bytes())
	}
	colour := writeFile(t, "x.ppm", []byte("P6 2 1 255 abcdef"))
	black := writeFile(t, "x.pgm", []byte("P5 2 1 255 ab"))
	for _, c := range []struct {
		model, image string
		says         []string
	}{
		{model(onnxtest.Float, 3), colour, []string{normalized}},
		{model(onnxtest.Half, 1), black, []string{normalized}},
		{model(onnxtest.Float, 3, "anynpu.input.x.mean", "[0]"), colour, nil},
		{model(onnxtest.Float, 3, "anynpu.input.x.std", "[1]"), colour, nil},
		{model(onnxtest.Float, 3, "anynpu.input.x.scale", "[1]"), colour, nil},
		{model(onnxtest.Uint8, 3), colour, nil},
		{model(onnxtest.Uint8, 3), black, []string{grey}},
		{model(onnxtest.Uint8, 1), black, nil},
		{model(onnxtest.Uint8, 1), colour, nil},
		{model(onnxtest.Float, 3), black, []string{normalized, grey}},
	} {
		code, _, errs := anynpu("run", c.model, "-i", c.image)
		require.Equal(t, 0, code, errs)
		for _, says := range c.says {
			assert.Contains(t, errs, "anynpu: warning: input \"x\": "+c.image+": ")
			assert.Contains(t, errs, says)
		}
		assert.Equal(t, len(c.says), strings.Count(errs, "\n"), errs)
		for _, verb := range []string{"bench --time 0s --warmup 0s --spread 1e9", "profile --runs 1", "check --engine"} {
			code, _, errs = anynpu(append(strings.Fields(verb), c.model, "-i", c.image)...)
			assert.Contains(t, []int{0, 1}, code, errs)
			for _, says := range c.says {
				assert.Equal(t, 1, strings.Count(errs, says), "%s: %s", verb, errs)
			}
		}
	}
	_, _, errs := anynpu("run", digits+"digits.onnx", "-i", digits+"images/000_label4.pgm")
	assert.Empty(t, errs, "its metadata say how")
}

// TestRun_greyOf16Bits: the higher byte counts, and the image is grey.
func TestRun_greyOf16Bits(t *testing.T) {
	img := image.NewGray16(image.Rect(0, 0, 2, 1))
	img.SetGray16(0, 0, color.Gray16{Y: 0x12ff})
	img.SetGray16(1, 0, color.Gray16{Y: 0xfe01})
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	model := writeFile(t, "m.onnx", new(onnxtest.Model).Input("x", onnxtest.Uint8, 1, 3, 1, 2).Node("Identity", "y", "x").
		Output("y", onnxtest.Uint8, 1, 3, 1, 2).Bytes())
	dir := t.TempDir()
	code, _, errs := anynpu("run", model, "-i", writeFile(t, "x.png", b.Bytes()), "-o", dir)
	require.Equal(t, 0, code, errs)
	assert.Contains(t, errs, "a grey image for an input of 3 channels")
	assert.Equal(t, tensor.Tensor{DType: tensor.Uint8, Dims: []int64{1, 3, 1, 2},
		Data: []byte("\x12\xfe\x12\xfe\x12\xfe")}, readNPY(t, filepath.Join(dir, "y.npy")))
}

func TestPixelsResized_interpolatesBetweenCentres(t *testing.T) {
	line := pixels{1, 2, 1, []byte{0, 100}}
	assert.Equal(t, []byte{0, 25, 75, 100}, line.resized(1, 4).data)
	assert.Equal(t, []byte{50}, line.resized(1, 1).data)
	assert.Equal(t, []byte{0, 100, 0, 100, 0, 100}, line.resized(3, 2).data)
	colour := pixels{2, 1, 3, []byte{0, 10, 20, 100, 30, 60}}
	assert.Equal(t, pixels{1, 1, 3, []byte{50, 20, 40}}, colour.resized(1, 1))
	assert.Equal(t, colour, colour.resized(2, 1))
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
