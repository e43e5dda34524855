package onnxnode

import (
	"math"
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

func TestCompare_table(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name      string
		got, want tensor.Tensor
		says      string
	}{
		{"equal", f32(1, nan), f32(1, nan), ""},
		{"within the tolerance", f32(1000.9), f32(1000), ""},
		{"outside the tolerance", f32(0, 1002), f32(0, 1000), "element 1 is 1002, want 1000 (1 of 2)"},
		{"nan", f32(nan), f32(1), "element 0 is NaN, want 1 (1 of 1)"},
		{"infinities", f32(float32(math.Inf(1))), f32(float32(math.Inf(-1))), "element 0 is +Inf, want -Inf (1 of 1)"},
		{"sizes", f32(1), f32(1, 2), "sizes [1], want [2]"},
		{"types", tensor.New(tensor.Int32, 1), f32(1), "element type int32, want float32"},
		{"integers are exact", tensor.Tensor{DType: tensor.Int64, Dims: []int64{1}, Data: tensor.Int64s(100000)},
			tensor.Tensor{DType: tensor.Int64, Dims: []int64{1}, Data: tensor.Int64s(100001)}, "element 0 is 100000, want 100001 (1 of 1)"},
	} {
		assert.Equal(t, c.says, Compare(c.got, c.want, Default), c.name)
	}
}

func TestJudge_countsAndChecksTheList(t *testing.T) {
	results := []Result{{Name: "a"}, {Name: "b", Failure: "wrong"}, {Name: "c", Failure: "wrong"}, {Name: "d", Excluded: "string"}, {Name: "e"}}
	r := Judge(results, map[string]string{"b": "known", "e": "no more", "f": "gone"}, true)
	assert.Equal(t, "onnx node tests: 2 of 4 (50.0 %), excluded 1", r.String())
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
