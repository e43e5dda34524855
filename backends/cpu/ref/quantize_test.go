package ref

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func scalar32(v float64) tensor.Tensor { return floats(tensor.Float32, []float64{v}, []int64{}...) }

func TestQuantize_roundsHalfToEvenAndSaturates(t *testing.T) {
	x := floats(tensor.Float32, []float64{0, 1, 3, -1, -3, 5, 1000, -1000, inf, -inf, nan})
	for _, d := range []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Int4, tensor.Uint4,
		tensor.Int32, tensor.Int2, tensor.Uint2} {
		lo, hi := tensor.IntLimits(d)
		zero := float64(min(hi, 3))
		var want []int64
		for _, v := range []float64{0, 0, 2, 0, -2, 2, 500, -500, inf, -inf, 0} { // x / 2, halves to even
			want = append(want, int64(max(min(v+zero, float64(hi)), float64(lo))))
		}
		y := run(t, &op.Quantize{}, x, scalar32(2), ints(d, []int64{int64(zero)}, []int64{}...))
		assert.Equal(t, d, y.DType, "the zero point's type")
		assert.Nil(t, y.Quant)
		assert.Equal(t, want, intValues(t, y), "%v", d)
		if d != tensor.Uint8 {
			assert.Equal(t, d, run(t, &op.Quantize{To: d}, x, scalar32(2)).DType)
		}
	}
	y := run(t, &op.Quantize{}, scalar32(3), scalar32(1), ints(tensor.Int8, []int64{4}, 1))
	assert.Equal(t, []int64{7}, intValues(t, y), "a zero point of shape [1] beside a scalar scale")
	y = run(t, &op.Quantize{}, ints(tensor.Int32, []int64{7, 100000}), scalar32(2))
	assert.Equal(t, tensor.Uint8, y.DType)
	assert.Equal(t, []int64{4, 255}, intValues(t, y))
	// 0.35 / 0.1 is 3.5 in float32, which becomes 4; of the same numbers in float64 it is less.
	y = run(t, &op.Quantize{}, scalar32(0.35), scalar32(0.1))
	assert.Equal(t, []int64{4}, intValues(t, y))
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float64} {
		y = run(t, &op.Quantize{}, floats(d, []float64{1, -1}), floats(d, []float64{0.5}), ints(tensor.Uint8, []int64{126}))
		assert.Equal(t, []int64{128, 124}, intValues(t, y), "%v", d)
	}
}

func TestQuantize_perAxisBlockedAndFloat8(t *testing.T) {
	x := floats(tensor.Float32, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)
	y := run(t, &op.Quantize{Axis: 0}, x, floats(tensor.Float32, []float64{1, 2}), ints(tensor.Int8, []int64{10, 20}))
	assert.Equal(t, []int64{11, 12, 13, 14, 22, 23, 24, 24}, intValues(t, y)) // 2.5 and 3.5 to even
	y = run(t, &op.Quantize{Axis: -1}, x, floats(tensor.Float32, []float64{1, 2, 0.5, 4}),
		ints(tensor.Int8, []int64{0, 0, 0, 1}))
	assert.Equal(t, []int64{1, 1, 6, 2, 5, 3, 14, 3}, intValues(t, y))
	y = run(t, &op.Quantize{Axis: 1, Block: 3, To: tensor.Int16}, x, floats(tensor.Float32, []float64{1, 2, 0.5, 4}, 2, 2))
	assert.Equal(t, []int64{1, 2, 3, 2, 10, 12, 14, 2}, intValues(t, y), "blocks of 3 and 1")
	y = run(t, &op.Quantize{Axis: 0, Block: 2, To: tensor.Int16}, x, floats(tensor.Float32, []float64{1, 2, 0.5, 4}, 1, 4))
	assert.Equal(t, []int64{1, 1, 6, 1, 5, 3, 14, 2}, intValues(t, y), "one block over both rows")
	f := floats(tensor.Float32, []float64{1, 1e6, -3})
	y = run(t, &op.Quantize{To: tensor.Float6E2M3}, f, floats(tensor.Float8E8M0, []float64{2}, []int64{}...))
	assertReals(t, []float64{0.5, 7.5, -1.5}, values(t, y), 0, "float6 always saturates; the scale is a power of two")
	y = run(t, &op.Quantize{To: tensor.Float8E4M3FN, Saturate: true}, f, scalar32(2))
	assertReals(t, []float64{0.5, 448, -1.5}, values(t, y), 0, "float8 saturates")
	y = run(t, &op.Quantize{To: tensor.Float8E4M3FN}, f, scalar32(2))
	assertReals(t, []float64{0.5, nan, -1.5}, values(t, y), 0, "float8 overflows")
}

func TestDequantize_typesAxesBlocks(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Int4, tensor.Uint4,
		tensor.Int32} {
		y := run(t, &op.Dequantize{}, ints(d, []int64{0, 1, 7}), scalar32(0.5), ints(d, []int64{3}, []int64{}...))
		assert.Equal(t, tensor.Float32, y.DType)
		assert.Equal(t, []float64{-1.5, -1, 2}, values(t, y), "%v", d)
		y = run(t, &op.Dequantize{To: tensor.Float16}, ints(d, []int64{0, 1, 7}), scalar32(0.5))
		assert.Equal(t, tensor.Float16, y.DType)
		assert.Equal(t, []float64{0, 0.5, 3.5}, values(t, y), "%v", d)
	}
	x := ints(tensor.Int8, []int64{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)
	y := run(t, &op.Dequantize{Axis: 0}, x, floats(tensor.Float16, []float64{1, 2}), ints(tensor.Int8, []int64{0, 5}))
	assert.Equal(t, tensor.Float16, y.DType)
	assert.Equal(t, []float64{1, 2, 3, 4, 0, 2, 4, 6}, values(t, y))
	y = run(t, &op.Dequantize{Axis: 1, Block: 2}, x, floats(tensor.Float32, []float64{1, 2, 3, 4}, 2, 2),
		ints(tensor.Int8, []int64{0, 1, 2, 3}, 2, 2))
	assert.Equal(t, []float64{1, 2, 4, 6, 9, 12, 16, 20}, values(t, y))
	for _, d := range []tensor.DType{tensor.Int2, tensor.Uint2} {
		y = run(t, &op.Dequantize{}, ints(d, []int64{0, 1, -2}), scalar32(0.5), ints(d, []int64{1}, []int64{}...))
		assert.Equal(t, []float64{-0.5, 0, float64((tensor.IntAt(d, []byte{2}, 0) - 1)) / 2}, values(t, y), "%v", d)
	}
	// A block of four numbers with one power of two, as microscaling formats have them.
	y = run(t, &op.Dequantize{Axis: 1, Block: 4, To: tensor.Float32}, floats(tensor.Float4E2M1,
		[]float64{0.5, 6, -3, 0, 1, 1.5, 2, -6}, 1, 8), floats(tensor.Float8E8M0, []float64{4, 0x1p-100}, 1, 2))
	assert.Equal(t, []float64{2, 24, -12, 0, 0x1p-100, 0x1.8p-100, 0x1p-99, -0x1.8p-98}, values(t, y))
	y = run(t, &op.Dequantize{}, floats(tensor.Float8E5M2, []float64{1.5, -inf}), scalar32(4))
	assert.Equal(t, []float64{6, -57344 * 4}, values(t, y), "the element was stored saturated")
	assert.Equal(t, []int64{0, 2}, run(t, &op.Dequantize{}, tensor.New(tensor.Int8, 0, 2), scalar32(1)).Dims)
}

func TestQuantize_errors(t *testing.T) {
	x, i8 := f32(seq32(6), 2, 3), ints(tensor.Int8, make([]int64, 6), 2, 3)
	s := func(dims ...int64) tensor.Tensor { n, _ := tensor.Count(dims); return f32(seq32(int(n)), dims...) }
	for _, c := range []struct {
		op   graph.Op
		in   []tensor.Tensor
		kind fault.Kind
		msg  string
	}{
		{&op.Quantize{}, []tensor.Tensor{x}, fault.Argument, "want 2 to 3 inputs, got 1"},
		{&op.Quantize{}, []tensor.Tensor{i8, s()}, fault.Type, "input 0: want a float type or int32, got int8"},
		{&op.Quantize{}, []tensor.Tensor{x, i8}, fault.Type, "input 1: want a float type, got int8"},
		{&op.Quantize{To: tensor.Uint8}, []tensor.Tensor{x, s(), ints(tensor.Int8, []int64{0}, []int64{}...)}, fault.Type,
			"input 2: want uint8, got int8"},
		{&op.Quantize{To: tensor.Float16}, []tensor.Tensor{x, s()}, fault.Type, "cannot quantize to float16"},
		{&op.Quantize{To: tensor.Float8E8M0}, []tensor.Tensor{x, s()}, fault.Type, "cannot quantize to float8e8m0"},
		{&op.Dequantize{}, []tensor.Tensor{i8, floats(tensor.Float8E8M0, []float64{1}, []int64{}...)}, fault.Type,
			"cannot dequantize to float8e8m0"},
		{&op.Dequantize{}, []tensor.Tensor{floats(tensor.Float8E8M0, []float64{1}), s()}, fault.Type,
			"input 0: want integers of at most 32 bits or floats of at most 8 but float8e8m0"},
		{&op.Quantize{To: tensor.Int64}, []tensor.Tensor{x, s()}, fault.Type, "cannot quantize to int64"},
		{&op.Quantize{Axis: 1}, []tensor.Tensor{x, s(2)}, fault.Shape,
			"input 1: want [3] for [2,3] on axis 1 with blocks of 0, got [2]"},
		{&op.Quantize{Axis: 2}, []tensor.Tensor{x, s(2)}, fault.Argument, "axis 2 is outside"},
		{&op.Quantize{Axis: 1, Block: 2}, []tensor.Tensor{x, s(2, 3)}, fault.Shape, "input 1: want [2,2]"},
		{&op.Quantize{Block: -1}, []tensor.Tensor{x, s()}, fault.Argument, "block is -1"},
		{&op.Quantize{Axis: 1}, []tensor.Tensor{x, s(3), ints(tensor.Int8, []int64{0})}, fault.Shape,
			"input 2: want [3] like the scale, got [1]"},
		{&op.Dequantize{}, []tensor.Tensor{x, s()}, fault.Type, "input 0: want integers"},
		{&op.Dequantize{}, []tensor.Tensor{quant(ints(tensor.Int8, []int64{1}), 1, 0), s()}, fault.Type,
			"got quantized int8"},
		{&op.Dequantize{To: tensor.Int8}, []tensor.Tensor{i8, s()}, fault.Type, "cannot dequantize to int8"},
		{&op.Dequantize{}, []tensor.Tensor{i8, s(), ints(tensor.Uint8, []int64{0}, []int64{}...)}, fault.Type,
			"input 2: want int8, got uint8"},
		{&op.DynamicQuantize{}, []tensor.Tensor{i8}, fault.Type, "input 0: want float32, got int8"},
	} {
		_, err := Compute(c.op, c.in, make([]tensor.Type, 1))
		assert.Equal(t, c.kind, fault.KindOf(err), "%v", err)
		assert.ErrorContains(t, err, c.msg)
	}
}

// The two examples of the ONNX operator's documentation and its edges.
func TestDynamicQuantize_ranges(t *testing.T) {
	for _, c := range []struct {
		x     []float64
		scale float64
		zero  int64
		y     []int64
	}{
		{[]float64{0, 2, -3, -2.5, 1.34, 0.5}, 0.0196078438, 153, []int64{153, 255, 0, 26, 221, 179}},
		{[]float64{-1, -2.1, -1.3, -2.5, -3.34, -4}, 0.0156862754, 255, []int64{191, 121, 172, 96, 42, 0}},
		{[]float64{1, 2.1, 1.3, 2.5, 3.34, 4}, 0.0156862754, 0, []int64{64, 134, 83, 159, 213, 255}},
		{[]float64{0, 0}, 1, 0, []int64{0, 0}},
		{[]float64{}, 1, 0, []int64{}},
	} {
		y, err := Compute(&op.DynamicQuantize{}, []tensor.Tensor{floats(tensor.Float32, c.x)}, make([]tensor.Type, 3))
		require.NoError(t, err)
		assert.Equal(t, c.y, intValues(t, y[0]))
		assert.InEpsilon(t, c.scale, values(t, y[1])[0], 1e-6)
		assert.Equal(t, []int64{c.zero}, intValues(t, y[2]))
	}
	y, err := Compute(&op.DynamicQuantize{}, []tensor.Tensor{floats(tensor.Float32, []float64{1, nan})},
		make([]tensor.Type, 3))
	require.NoError(t, err)
	assert.True(t, math.IsNaN(values(t, y[1])[0]))
	assert.Equal(t, []int64{0, 0}, intValues(t, y[0]))
}
