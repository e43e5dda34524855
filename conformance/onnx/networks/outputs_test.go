package networks

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// TestPattern_isThatOfTheScript compares with the numerators that numpy gives for the pattern of bench/expect.py.
func TestPattern_isThatOfTheScript(t *testing.T) {
	got, err := tensor.ReadFloat32s(pattern([]int64{2, 2}).Data, 4)
	require.NoError(t, err)
	for i, n := range []float64{12345, 2654448106, 1013916571, 3668352332} {
		assert.Equal(t, float32(n/2147483648-1), got[i], "element %d", i)
	}
}

func TestJudge_table(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		got   []float64
		want  []float32
		scale float64
		ok    bool
	}{
		{"float, equal", []float64{1, 2}, []float32{1, 2}, 0, true},
		{"float, within", []float64{1.0001, 2}, []float32{1, 2}, 0, true},
		{"float, outside", []float64{1.0003, 2}, []float32{1, 2}, 0, false},
		{"float, not a number", []float64{nan, 2}, []float32{1, 2}, 0, false},
		{"quantized, one step", []float64{1.1, 2}, []float32{1, 2}, 0.1, true},
		{"quantized, two steps", []float64{1.2, 2}, []float32{1, 2}, 0.1, false},
		{"quantized, other top", []float64{2, 1.95}, []float32{1.95, 2}, 0.1, false},
		{"quantized, equal tops", []float64{2, 1.9}, []float32{2, 2}, 0.1, true},
		{"quantized, not a number", []float64{nan, 2}, []float32{1, 2}, 0.1, false},
	} {
		_, err := judge(c.got, c.want, c.scale)
		assert.Equal(t, c.ok, err == nil, "%s: %v", c.name, err)
	}
}

func TestCompare_foreignModelFails(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lenet_28.onnx"), []byte("other"), 0o600))
	run := func(folder, expected, filter string) (int, error) {
		return Compare(io.Discard, folder, expected, filter, twoThreads)
	}
	bad, err := run(dir, "../../../bench/expected.zip", "lenet")
	require.NoError(t, err)
	assert.Equal(t, 1, bad)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new_net.onnx"), []byte("other"), 0o600))
	bad, err = run(dir, "../../../bench/expected.zip", "new_net")
	require.NoError(t, err)
	assert.Equal(t, 1, bad, "a model without expected outputs")
	_, err = run(t.TempDir(), "../../../bench/expected.zip", "")
	assert.Error(t, err, "no model")
}
