package tensordiff

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

func TestMeasure_closedForms(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	zero := f32(0, 0)
	i64 := func(v ...int64) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Int64, Dims: []int64{int64(len(v))}, Data: tensor.Int64s(v...)}
	}
	u64 := i64(-1, 0) // the largest number, and 0
	u64.DType = tensor.Uint64
	u64one := i64(-2, 0)
	u64one.DType = tensor.Uint64
	complexOf := func(v ...float32) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Complex64, Dims: []int64{int64(len(v) / 2)}, Data: tensor.Float32s(v...)}
	}
	for _, c := range []struct {
		name      string
		got, want tensor.Tensor
		is        Differences
	}{
		{"right angle", f32(1, 0), f32(0, 1), Differences{Max: 1, Mean: 1, Cosine: 0, Worst: 0, Got: 1, Want: 0}},
		{"half of a right angle", f32(1, 0), f32(1, 1), Differences{Max: 1, Mean: 0.5, Cosine: math.Sqrt(0.5), Worst: 1,
			Got: 0, Want: 1}},
		{"opposite", f32(-2, 4), f32(1, -2), Differences{Max: 6, Mean: 4.5, Cosine: -1, Worst: 1, Got: 4, Want: -2}},
		{"equal", f32(3, 4), f32(3, 4), Differences{Cosine: 1, Worst: 0, Got: 3, Want: 3}},
		{"zeros", zero, zero, Differences{Cosine: 1}},
		{"one is zero", zero, f32(0, 2), Differences{Max: 2, Mean: 1, Worst: 1, Want: 2}},
		{"what is not finite and equal", f32(nan, inf, 1), f32(nan, inf, 3),
			Differences{Max: 2, Mean: 2.0 / 3, Cosine: 1, Worst: 2, Got: 1, Want: 3}},
		{"infinite", f32(1, inf, 5), f32(1, -inf, 5), Differences{Max: math.Inf(1), NonFinite: 1, Cosine: 1, Worst: 1,
			Got: math.Inf(1), Want: math.Inf(-1)}},
		{"squares that a float64 does not hold", f64(1e200, 0), f64(1e200, 0),
			Differences{Cosine: 1, Got: 1e200, Want: 1e200}},
		{"long integers", i64(math.MaxInt64, 0), i64(math.MaxInt64-1, 0), Differences{Max: 1, Mean: 0.5, Cosine: 1, Worst: 0,
			Got: 1 << 63, Want: 1 << 63}},
		{"far apart", i64(math.MinInt64), i64(math.MaxInt64), Differences{Max: 1 << 64, Mean: 1 << 64, Cosine: -1,
			Got: -1 << 63, Want: 1 << 63}},
		{"without a sign", u64, u64one, Differences{Max: 1, Mean: 0.5, Cosine: 1, Got: 1 << 64, Want: 1 << 64}},
		{"complex", complexOf(1, 2, 3, 4), complexOf(1, 2, 3, 6), Differences{Max: 2, Mean: 0.5, Cosine: 38 / math.Sqrt(
			30*50), Worst: 1, Got: 4, Want: 6}},
		{"none", f32(), f32(), Differences{Cosine: 1, Worst: -1}},
	} {
		m, ok := Measure(c.got, c.want)
		require.True(t, ok, c.name)
		assert.InDelta(t, c.is.Cosine, m.Cosine, 1e-15, c.name)
		m.Cosine = c.is.Cosine
		assert.Equal(t, c.is, m, c.name)
	}
	m, _ := Measure(f32(1, nan), f32(1, 2))
	assert.Equal(t, 1, m.NonFinite)
	assert.Equal(t, 1, m.Worst)
	assert.True(t, math.IsInf(m.Max, 1) && math.IsNaN(m.Got) && m.Want == 2)
	_, ok := Measure(f32(1), f32(1, 2))
	assert.False(t, ok)
	_, ok = Measure(f32(1), i64(1))
	assert.False(t, ok)
}

func f64(v ...float64) tensor.Tensor {
	x := tensor.New(tensor.Float64, int64(len(v)))
	for i := range v {
		tensor.PutFloat(tensor.Float64, x.Data, i, v[i], false)
	}
	return x
}
