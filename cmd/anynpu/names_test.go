package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestOperators_areTheFilesWords: check and profile call operators as the model does.
func TestOperators_areTheFilesWords(t *testing.T) {
	w := make([]float32, 9)
	model := writeFile(t, "m.onnx", new(onnxtest.Model).Input("x", onnxtest.Float, 1, 1, 8, 8).
		Constant("w", onnxtest.Float, tensor.Float32s(w...), 1, 1, 3, 3).Constant("b", onnxtest.Float, tensor.Float32s(1), 1,
		1).
		Node("Conv", "c", "x", "w").Node("GlobalAveragePool", "p", "c").Node("Flatten", "f", "p").Node("Gemm", "y", "f", "b").
		Output("y", onnxtest.Float, 1, 1).Bytes())
	code, out, errs := anynpu("check", model)
	require.Equal(t, 0, code, errs)
	for _, word := range []string{"Conv ", "GlobalAveragePool ", "Flatten ", "Gemm "} {
		assert.Contains(t, out, "  "+word)
	}
	for _, own := range []string{" conv ", " average_pool ", " mat_mul ", " fully_connected "} {
		assert.NotContains(t, out, own)
	}
	_, out, _ = anynpu("check", "--json", model)
	var c checkReport
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, []string{"Conv", "conv"}, []string{c.Nodes[0].Op, c.Nodes[0].Core})
	code, out, errs = anynpu("profile", model, "--runs", "1", "--top", "0")
	require.Equal(t, 0, code, errs)
	for _, word := range []string{"  Conv 3x3, ", "  GlobalAveragePool, ", "  Gemm, "} {
		assert.Contains(t, out, word)
	}
	assert.NotContains(t, out, "conv ")
	slow := writeFile(t, "slow.onnx", vectorModel("Mod"))
	_, out, _ = anynpu("check", "--engine", "--shape", "x=5", slow)
	assert.True(t, strings.HasSuffix(out, "; not: 1 Mod\n"), out)
}

func TestOperators_customHasItsDomain(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("com.acme.Frob"))
	code, out, _ := anynpu("check", model)
	assert.Equal(t, 3, code)
	assert.Contains(t, out, "  com.acme.Frob ")
	_, out, _ = anynpu("check", "--json", model)
	var c checkReport
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, []string{"com.acme.Frob", "custom"}, []string{c.Nodes[0].Op, c.Nodes[0].Core})
}
