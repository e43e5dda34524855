package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

func f32(v ...float32) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: []int64{int64(len(v))}, Data: tensor.Float32s(v...)}
}

func TestJudge_countsAndChecksTheList(t *testing.T) {
	results := []Result{{Name: "a"}, {Name: "b", Failure: "wrong"}, {Name: "c", Failure: "wrong"},
		{Name: "d", Excluded: "string"}, {Name: "e"}, {Name: "g", Failure: "no such type", Refused: true}}
	r := Judge(results, map[string]string{"b": "known", "e": "no more", "f": "gone", "g": "no such type"}, true)
	assert.Equal(t, "onnx node tests: passed 2 of 5, refused 1 by name (50.0 % of the others), excluded 1 (string 1)",
		r.String())
	assert.Equal(t, 3, r.Unexpected, "c fails unlisted, e passes, f is not there")
}

func TestReadKnown_wantsReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known")
	require.NoError(t, os.WriteFile(path, []byte("# list\ntest_a because\n"), 0o600))
	known, err := ReadKnown(path)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"test_a": "because"}, known)
	require.NoError(t, os.WriteFile(path, []byte("test_a\n"), 0o600))
	_, err = ReadKnown(path)
	assert.ErrorContains(t, err, "test_a: no reason")
}

func TestCheckDrawn_seesWrongValues(t *testing.T) {
	want := []tensor.Tensor{f32(0, 1, 1)}
	assert.NoError(t, checkDrawn([]tensor.Tensor{f32(1, 0, 1)}, want))
	assert.Error(t, checkDrawn([]tensor.Tensor{f32(1, 1, 1)}, want), "constant")
	assert.Error(t, checkDrawn([]tensor.Tensor{f32(2, 0, 1)}, want), "out of range")
	assert.Error(t, checkDrawn([]tensor.Tensor{f32(0, 1)}, want), "sizes")
}
