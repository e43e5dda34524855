package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/tensor"
)

// identityOf writes a model that hands on float32 values, and the file of these.
func identityOf(t *testing.T, values ...float32) (model, x string) {
	n := int64(len(values))
	return writeFile(t, "m.onnx", new(onnxtest.Model).Input("x", onnxtest.Float, n).Node("Identity", "y", "x").
			Output("y", onnxtest.Float, n).Bytes()),
		writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{n}, Data: tensor.Float32s(values...)})
}

func TestRun_statisticsOfWhatIsNoNumber(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		values []float32
		text   string
		json   map[string]any
	}{
		{[]float32{nan, 3, nan, 5}, "min 3  max 5  mean 4  nan 2", map[string]any{"min": 3.0, "max": 5.0, "mean": 4.0,
			"nan": 2.0, "inf": 0.0}},
		{[]float32{nan, -3, -5}, "min -5  max -3  mean -4  nan 1", map[string]any{"min": -5.0, "max": -3.0, "mean": -4.0,
			"nan": 1.0, "inf": 0.0}},
		{[]float32{nan, nan}, "min nan  max nan  mean nan  nan 2", map[string]any{"min": "NaN", "max": "NaN", "mean": "NaN",
			"nan": 2.0, "inf": 0.0}},
		{[]float32{1, inf, 2, -inf}, "min -inf  max inf  mean 1.5  inf 2", map[string]any{"min": "-Inf", "max": "+Inf",
			"mean": 1.5, "nan": 0.0, "inf": 2.0}},
		{[]float32{inf, nan}, "min inf  max inf  mean nan  nan 1  inf 1", map[string]any{"min": "+Inf", "max": "+Inf",
			"mean": "NaN", "nan": 1.0, "inf": 1.0}},
		{[]float32{-7}, "min -7  max -7  mean -7", map[string]any{"min": -7.0, "max": -7.0, "mean": -7.0, "nan": 0.0,
			"inf": 0.0}},
	} {
		model, x := identityOf(t, c.values...)
		code, out, errs := anynpu("run", model, "-i", x)
		require.Equal(t, 0, code, errs)
		assert.Contains(t, out, "]  "+c.text+"\n")
		_, out, _ = anynpu("run", model, "-i", x, "--json")
		var r struct{ Outputs []map[string]any }
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		for key, want := range c.json {
			assert.Equal(t, want, r.Outputs[0][key], "%s of %v", key, c.values)
		}
	}
	empty, x := identityOf(t)
	code, out, errs := anynpu("run", empty, "-i", x)
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "float32[0]  no elements\n")
}

func TestRun_tellsHowFarOutputsAreApart(t *testing.T) {
	model, x := identityOf(t, 1, 0, 0, 4)
	_, want := identityOf(t, 1, 0, 3, 0)
	// differences 0, 0, 3, 4; cosine 1 / (sqrt(17) sqrt(10))
	code, out, _ := anynpu("run", model, "-i", x, "--expect", want)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "  differs: element 2 is 0, want 3 (2 of 4)\n"+
		"  largest difference 4, mean 1.75, cosine 0.076696499\n  worst element 3 [3]: 4, want 0\n")
	code, out, _ = anynpu("run", model, "-i", x, "--expect", want, "--json")
	assert.Equal(t, 1, code)
	var r struct {
		Outputs []struct{ Comparison *comparison }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	c := r.Outputs[0].Comparison
	require.NotNil(t, c)
	assert.InDelta(t, 0.0766964988847, float64(c.Cosine), 1e-12)
	assert.Equal(t, comparison{4, 1.75, 0, c.Cosine, &worst{3, []int64{3}, 4, 0}}, *c)

	code, out, _ = anynpu("run", model, "-i", x, "--expect", x)
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "  as expected\n  largest difference 0, mean 0, cosine 1\n")
	assert.NotContains(t, out, "worst")
	_, other := identityOf(t, float32(math.NaN()), 0, 0, 4)
	_, out, _ = anynpu("run", model, "-i", x, "--expect", other)
	assert.Contains(t, out, "  largest difference inf, mean 0, cosine 1\n  1 difference between a finite number and one "+
		"that "+
		"is not, or between infinities\n  worst element 0 [0]: 1, want nan\n")
	_, short := identityOf(t, 1)
	code, out, _ = anynpu("run", model, "-i", x, "--expect", short)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "  differs: sizes [4], want [1]\n")
	assert.NotContains(t, out, "largest difference")
}

func TestIndices_perDimension(t *testing.T) {
	assert.Equal(t, []int64{1, 0, 3}, indices(15, []int64{2, 3, 4}))
	assert.Equal(t, []int64{}, indices(0, nil))
}
