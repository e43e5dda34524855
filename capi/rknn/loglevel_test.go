package rknn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

func TestLogLevel(t *testing.T) {
	for value, want := range map[string]boundary.Level{"0": boundary.LevelError, "1": boundary.LevelError,
		"2": boundary.LevelWarn,
		"3": boundary.LevelInfo, "4": boundary.LevelDebug, "5": boundary.LevelTrace} {
		level, ok := logLevel(value)
		require.True(t, ok, value)
		require.Equal(t, want, level, value)
	}
	for _, value := range []string{"", "6", "-1", "info", "1 2"} {
		_, ok := logLevel(value)
		require.False(t, ok, value)
	}
}

func TestFormula_saysWhatBecomesOfAnElement(t *testing.T) {
	for want, m := range map[string]*onnxtest.Model{
		"value = x": identity(onnxtest.Float, 1, 2),
		"value = (x - 127.5) / 2": identity(onnxtest.Float, 1, 2).Meta("anynpu.input.x.mean",
			"[127.5]").Meta("anynpu.input.x.std", "[2]"),
		"value = (x - [1 2]) / 1":              identity(onnxtest.Float, 1, 2, 1, 1).Meta("anynpu.input.x.mean", "[1,2]"),
		"q = round(x / 0.5) + -10":             quantized(0.5, -10, 1, 2),
		"q = round(((x - 0) / 255) / 0.5) + 3": quantized(0.5, 3, 1, 2).Meta("anynpu.input.x.std", "[255]"),
	} {
		require.Equal(t, want, open(t, m, 0).model.in[0].formula())
	}
}
