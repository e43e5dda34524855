package models_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/models"
)

// image is a model of an image, a residual of codes and an open batch.
func image() *rknn.Model {
	return (&rknn.Model{Opset: 19}).Input("x", rknn.ONNXFloat, -1, 3, 8, 8).Output("y", rknn.ONNXFloat, -1, 3, 8, 8).
		Constant("scale", rknn.ONNXFloat, rknn.RealBytes(0.5)).Node("QuantizeLinear", "q", "x", "scale").
		Node("DequantizeLinear", "r", "q", "scale").Custom("Twist", "y", 1, 2, "r")
}

func TestRead(t *testing.T) {
	data := image().Meta("anynpu.name", "eye").Bytes()
	m, err := models.Read(data)
	require.NoError(t, err)
	assert.Equal(t, []models.Port{{Name: "x", Type: "float32", Shape: []int64{-1, 3, 8, 8},
		Open: []string{"n1", "", "", ""}}},
		m.Inputs)
	assert.Equal(t, []string{"QuantizeLinear", "DequantizeLinear", "board.Twist"}, m.Operators)
	assert.EqualValues(t, 19, m.Opset)
	assert.True(t, m.Quantized)
	assert.False(t, m.External)
	assert.Equal(t, map[string]string{"anynpu.name": "eye"}, m.Metadata)
	for i := range data { // a prefix is a model only if it has lost nothing but metadata
		if m, err := models.Read(data[:i]); err == nil {
			assert.Len(t, m.Outputs, 1, "%d bytes", i)
		}
	}
	for _, text := range []string{"", "no model", "RKNN\x00\x00\x00\x00"} {
		_, err := models.Read([]byte(text))
		assert.Error(t, err, "%q", text)
	}
}

func TestConverter_sheet(t *testing.T) {
	c := rknn.API.Models.Converter
	for _, x := range []struct {
		model  *rknn.Model
		reason string
		want   string // the options, as JSON
	}{
		{image(), "", `{"rknn.build": {"do_quantization": false}, "rknn.config": {"target_platform": "rk3588"},
			"rknn.load_onnx": {}}`},
		{image().Meta("anynpu.input.x.mean", []float64{1, 2, 3}).Meta("anynpu.input.x.std", 4).Meta("anynpu.dim.n1", 2), "",
			`{"rknn.build": {"do_quantization": false}, "rknn.config": {"target_platform": "rk3588",
			"mean_values": [[1, 2, 3]], "std_values": [[4, 4, 4]]},
			"rknn.load_onnx": {"inputs": ["x"], "input_size_list": [[2, 3, 8, 8]]}}`},
		{image().Meta("anynpu.input.x.scale", 0.25).Meta("anynpu.target", "rk3566").Meta("anynpu.custom_string", "v1"), "",
			`{"rknn.build": {"do_quantization": false}, "rknn.config": {"target_platform": "rk3566",
			"mean_values": [[0, 0, 0]], "std_values": [[4, 4, 4]], "custom_string": "v1"}, "rknn.load_onnx": {}}`},
		{image().Meta("anynpu.input.x.std", 0), "the metadata anynpu.input.x.std divide by 0, which is to be refused", ""},
		{image().Meta("anynpu.value.q.stored", map[string]any{"type": "int8", "scale": 1}),
			"the model has the metadata anynpu.value.q.stored, for which the converter has no option", ""},
		{image().External("w", rknn.ONNXFloat, []string{"location", "w.bin"}, 1),
			"the model's weights are in other files", ""},
	} {
		data := x.model.Bytes()
		s, err := c.Sheet("rknn", data, []string{"rules 1/a"})
		require.NoError(t, err)
		assert.Equal(t, x.reason, s.Reason)
		assert.Equal(t, models.Name(data)+".onnx", s.Model)
		assert.Equal(t, []string{models.Name(data) + ".rknn"}, s.Want)
		if x.want != "" {
			got, err := json.Marshal(s.Converter)
			require.NoError(t, err)
			assert.JSONEq(t, x.want, string(got))
		}
	}
}
