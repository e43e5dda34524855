package tensordiff

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/tensor"
)

func f32(v ...float32) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: []int64{int64(len(v))}, Data: tensor.Float32s(v...)}
}

func u64(v ...uint64) tensor.Tensor {
	x := tensor.New(tensor.Uint64, int64(len(v)))
	for i, n := range v {
		binary.LittleEndian.PutUint64(x.Data[8*i:], n)
	}
	return x
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
			tensor.Tensor{DType: tensor.Int64, Dims: []int64{1}, Data: tensor.Int64s(100001)},
			"element 0 is 100000, want 100001 (1 of 1)"},
		{"numbers without a sign", u64(1<<64-1, 5), u64(1<<64-2, 5), "element 0 is 18446744073709551615, want " +
			"18446744073709551614 (1 of 2)"},
	} {
		assert.Equal(t, c.says, Compare(c.got, c.want, Default), c.name)
	}
}
