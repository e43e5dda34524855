package ref

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestWhere_everyTypeAndBroadcast(t *testing.T) {
	cond := ints(tensor.Bool, []int64{1, 0, 1}, 3)
	for _, d := range append(append([]tensor.DType{tensor.Bool}, allInts...), allFloats...) {
		put := func(v ...int64) tensor.Tensor {
			if d.IsFloat() {
				f := make([]float64, len(v))
				for i := range v {
					f[i] = float64(v[i])
				}
				return floats(d, f)
			}
			return ints(d, v)
		}
		y := run(t, &op.Where{}, cond, put(1, 2, 3), put(0))
		assert.Equal(t, put(1, 0, 3).Data, y.Data, "%v", d)
		assert.Equal(t, d, y.DType)
	}
	y := run(t, &op.Where{}, ints(tensor.Bool, []int64{1, 0}, 2, 1), f32([]float32{1, 2, 3}, 3), f32([]float32{9}))
	assert.Equal(t, []int64{2, 3}, y.Dims)
	assert.Equal(t, []float64{1, 2, 3, 9, 9, 9}, values(t, y))
	y = run(t, &op.Where{}, ints(tensor.Bool, nil, 0, 3), f32([]float32{1, 2, 3}, 3), f32([]float32{9}))
	assert.Equal(t, []int64{0, 3}, y.Dims)
	c := tensor.New(tensor.Complex128, 3)
	c.Data[0], c.Data[47] = 1, 2
	assert.Equal(t, c.Data, run(t, &op.Where{}, ints(tensor.Bool, []int64{1}), c, tensor.New(tensor.Complex128)).Data)
}

func TestWhere_quantizedAndErrors(t *testing.T) {
	cond := ints(tensor.Bool, []int64{1, 0}, 2)
	a, b := quant(ints(tensor.Int8, []int64{10, 10}), 0.5, 0), quant(ints(tensor.Int8, []int64{10, 10}), 1, 2)
	y, err := Compute(&op.Where{}, []tensor.Tensor{cond, a, b},
		[]tensor.Type{{DType: tensor.Int8, Quant: tensor.PerTensor(0.25, 1)}})
	require.NoError(t, err)
	assert.Equal(t, []int64{21, 33}, intValues(t, y[0]), "5 and 8 at 0.25 above 1")
	y, err = Compute(&op.Where{}, []tensor.Tensor{cond, a, a}, make([]tensor.Type, 1))
	require.NoError(t, err)
	assert.Equal(t, []int64{10, 10}, intValues(t, y[0]))
	for i, c := range []struct {
		a, b, y *tensor.Quant
		want    []int64
	}{
		{tensor.PerTensor(0.5, 0), tensor.PerTensor(0.5, 0), tensor.PerTensor(0.5, 0), []int64{10, 30, 127}},
		{tensor.PerTensor(0.5, 0), tensor.PerTensor(1, 0), tensor.PerTensor(0.5, 0), []int64{10, 60, 127}},
		{tensor.PerTensor(1, 0), tensor.PerTensor(0.5, 0), tensor.PerTensor(0.5, 0), []int64{20, 30, 127}},
		{tensor.PerTensor(0.5, 0), tensor.PerTensor(0.5, 0), tensor.PerTensor(1, -3), []int64{2, 12, 61}},
		{tensor.PerTensor(0.25, 5), tensor.PerTensor(3, 10), nil, []int64{10, 127, 127}},
	} {
		x := ints(tensor.Int8, []int64{10, -20, 127}, 3)
		z := ints(tensor.Int8, []int64{-5, 30, 0}, 3)
		x.Quant, z.Quant = c.a, c.b
		y, err := Compute(&op.Where{}, []tensor.Tensor{ints(tensor.Bool, []int64{1, 0, 1}, 3), x, z},
			[]tensor.Type{{DType: tensor.Int8, Quant: c.y}})
		require.NoError(t, err)
		assert.Equal(t, c.want, intValues(t, y[0]), "%d", i)
	}
	_, err = Compute(&op.Where{}, []tensor.Tensor{f32(seq32(2), 2), a, b}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "input 0: want bool, got float32")
	_, err = Compute(&op.Where{}, []tensor.Tensor{cond, a, f32(seq32(2), 2)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "input 2: want int8 like input 1, got float32")
	_, err = Compute(&op.Where{}, []tensor.Tensor{cond, f32(seq32(3), 3), f32(seq32(1), 1)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Shape, fault.KindOf(err))
}

func TestIdentity_keepsBitsAndRequantizes(t *testing.T) {
	x := floats(tensor.Float32, []float64{nan, -inf, 1.5})
	assert.Equal(t, x.Data, run(t, &op.Identity{}, x).Data)
	q := quant(ints(tensor.Uint8, []int64{0, 10, 200}), 0.5, 10)
	assert.Equal(t, q.Data, run(t, &op.Identity{}, q).Data)
	y, err := Compute(&op.Identity{}, []tensor.Tensor{q},
		[]tensor.Type{{DType: tensor.Uint8, Quant: tensor.PerTensor(1, 20)}})
	require.NoError(t, err)
	assert.Equal(t, []int64{15, 20, 115}, intValues(t, y[0]))
	n := ints(tensor.Int4, []int64{-8, 7, 3})
	assert.Equal(t, n.Data, run(t, &op.Identity{}, n).Data)
}

func TestClip_boundsOfEveryKind(t *testing.T) {
	for d := tensor.Int8; d <= tensor.Uint64; d++ {
		y := run(t, &op.Clip{}, ints(d, []int64{0, 3, 5, 100}), ints(d, []int64{2}), ints(d, []int64{50}))
		assert.Equal(t, []int64{2, 3, 5, 50}, intValues(t, y), "%v", d)
	}
	big := run(t, &op.Clip{}, ints(tensor.Uint64, []int64{-1, 1}), ints(tensor.Uint64, []int64{2}), tensor.Tensor{})
	assert.Equal(t, []int64{-1, 2}, intValues(t, big), "large unsigned numbers are not negative")
	for _, d := range floatTypes {
		x := floats(d, []float64{-inf, -2, 0.5, 3, inf, nan})
		lo, hi := floats(d, []float64{-1}, []int64{}...), floats(d, []float64{2}, 1)
		assertReals(t, []float64{-1, -1, 0.5, 2, 2, nan}, values(t, run(t, &op.Clip{}, x, lo, hi)), 0, d.String())
		assertReals(t, []float64{-inf, -2, 0.5, 2, 2, nan}, values(t, run(t, &op.Clip{}, x, tensor.Tensor{}, hi)), 0,
			d.String())
		assertReals(t, []float64{-1, -1, 0.5, 3, inf, nan}, values(t, run(t, &op.Clip{}, x, lo)), 0, d.String())
		assertReals(t, values(t, x), values(t, run(t, &op.Clip{}, x)), 0, d.String())
		assertReals(t, []float64{-1, -1, -1, -1, -1, nan}, values(t, run(t, &op.Clip{}, x, hi, lo)), 0,
			"the upper bound wins")
	}
}

func TestClip_emptyRangeQuantizedAndErrors(t *testing.T) {
	one, two := f32([]float32{1}), f32([]float32{2})
	_, err := Compute(&op.Clip{Empty: op.ClipFail}, []tensor.Tensor{one, two, one}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.Equal(t, []float64{1}, values(t, run(t, &op.Clip{Empty: op.ClipFail}, two, one, one)),
		"equal bounds are a constant")
	i := func(v int64) tensor.Tensor { return ints(tensor.Int32, []int64{v}) }
	_, err = Compute(&op.Clip{Empty: op.ClipFail}, []tensor.Tensor{i(0), i(2), i(1)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.Equal(t, []int64{-3}, intValues(t, run(t, &op.Clip{Empty: op.ClipFail}, i(-9), i(-3), i(1))),
		"a negative bound is not a large one")
	_, err = Compute(&op.Clip{Empty: op.ClipFail}, []tensor.Tensor{i(0), i(2), i(-1)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	x := quant(ints(tensor.Int8, []int64{-10, 2, 100}), 0.5, 2)
	assert.Equal(t, []int64{2, 2, 14}, intValues(t, run(t, &op.Clip{}, x, f32([]float32{0}), f32([]float32{6}))),
		"ReLU6 of -6, 0, 49")
	for _, in := range [][]tensor.Tensor{{i(1), one}, {i(1), ints(tensor.Int64, []int64{1})}, {one, i(1)},
		{ints(tensor.Bool, []int64{1})}} {
		_, err = Compute(&op.Clip{}, in, make([]tensor.Type, 1))
		assert.Equal(t, fault.Type, fault.KindOf(err))
	}
	_, err = Compute(&op.Clip{}, []tensor.Tensor{one, f32(seq32(2), 2)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "input 1: want one element, got [2]")
	_, err = Compute(&op.Clip{Empty: 2}, []tensor.Tensor{one}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Argument, fault.KindOf(err))
}
