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

// quantizedTensor returns an int8 tensor.
func quantizedTensor(scale float32, zero int32, v []int8, dims ...int64) tensor.Tensor {
	x := tensor.Tensor{DType: tensor.Int8, Dims: dims, Quant: tensor.PerTensor(scale, zero)}
	for _, q := range v {
		x.Data = append(x.Data, byte(q))
	}
	return x
}

// compute1 runs an operator with one output and returns it.
func compute1(t *testing.T, o graph.Op, declared tensor.Type, in ...tensor.Tensor) tensor.Tensor {
	y, err := Compute(o, in, []tensor.Type{declared})
	require.NoError(t, err)
	return y[0]
}

func TestConv_handComputed(t *testing.T) {
	// A 2x2 box over 1..9, then doubled by the second filter, plus the biases 10 and 0.
	x := f32([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
	w := f32([]float32{1, 1, 1, 1, 2, 2, 2, 2}, 2, 2, 2, 1)
	y := compute1(t, &op.Conv{}, tensor.Type{}, x, w, f32([]float32{10, 0}, 2))
	assert.Equal(t, []int64{1, 2, 2, 2}, y.Dims)
	assert.Equal(t, []float32{22, 26, 34, 38, 24, 32, 48, 56}, view[float32](y))
}

func TestConv_infinityOverPadding(t *testing.T) {
	inf := float32(math.Inf(1))
	w := f32([]float32{inf, 1, 1}, 1, 3, 1)
	y := view[float32](compute1(t, &op.Conv{Pads: []int64{1, 1}}, tensor.Type{}, f32([]float32{1, -1, 0, 3}, 1, 1, 4), w))
	assert.Equal(t, []float32{0, inf, -inf}, y[:3])
	assert.True(t, math.IsNaN(float64(y[3])), "infinity times 0")
}

// 3 * 1 = 3 in units of 0.5*0.5 is 0.75; in steps of 0.5 that is 1.5, half away from zero 2, and -1.5 is -2.
func TestConv_quantizedTies(t *testing.T) {
	declared := tensor.Type{DType: tensor.Int8, Quant: tensor.PerTensor(0.5, 0)}
	x := quantizedTensor(0.5, 1, []int8{4, -2, 127, -128}, 1, 1, 4)
	w := quantizedTensor(0.5, 2, []int8{3}, 1, 1, 1)
	assert.Equal(t, []int8{2, -2, 63, -65}, view[int8](compute1(t, &op.Conv{}, declared, x, w)))
	bias := tensor.Tensor{DType: tensor.Int32, Dims: []int64{1}, Data: tensor.Int32s(300)} // 75 = 150 steps
	assert.Equal(t, []int8{127, 127, 127, 86}, view[int8](compute1(t, &op.Conv{}, declared, x, w, bias)))
	bias.Quant = tensor.PerTensor(0.125, 296) // 4 x 0.125 = 1 step
	assert.Equal(t, []int8{3, -1, 64, -64}, view[int8](compute1(t, &op.Conv{}, declared, x, w, bias)))
	float := compute1(t, &op.Conv{}, tensor.Type{DType: tensor.Float32}, x, w, bias)
	assert.Equal(t, []float32{1.25, -0.25, 32, -31.75}, view[float32](float))
}

// Quantized weights next to float data stand for their real values.
func TestConv_quantizedWeightsOnly(t *testing.T) {
	w := quantizedTensor(0.25, -1, []int8{3, 7}, 2, 1, 1) // 1 and 2
	y := compute1(t, &op.Conv{}, tensor.Type{}, f32([]float32{1.5, -4}, 1, 1, 2), w)
	assert.Equal(t, []float32{1.5, -4, 3, -8}, view[float32](y))
}

func TestConv_wrappingIntegers(t *testing.T) {
	i32 := func(dims []int64, v ...int32) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Int32, Dims: dims, Data: tensor.Int32s(v...)}
	}
	y := compute1(t, &op.Conv{}, tensor.Type{}, i32([]int64{1, 1, 2}, math.MaxInt32, 3), i32([]int64{1, 1, 1}, 2),
		i32([]int64{1}, 5))
	assert.Equal(t, []int32{3, 11}, view[int32](y))
}

func TestLinear_emptySums(t *testing.T) {
	y := compute1(t, &op.Conv{}, tensor.Type{}, f32(nil, 1, 0, 3), f32(nil, 2, 2, 0), f32([]float32{5, 6}, 2))
	assert.Equal(t, []float32{5, 5, 6, 6}, view[float32](y), "without channels only the bias is left")
	y = compute1(t, &op.ConvTranspose{}, tensor.Type{}, f32(nil, 1, 0, 3), f32(nil, 2, 2, 0))
	assert.Equal(t, make([]float32, 8), view[float32](y))
	y = compute1(t, &op.FullyConnected{}, tensor.Type{}, f32(nil, 0, 3), f32(make([]float32, 6), 2, 3))
	assert.Equal(t, []int64{0, 2}, y.Dims)
	y = compute1(t, &op.MatMul{}, tensor.Type{}, f32(nil, 2, 0), f32(nil, 0, 2), f32([]float32{7}, 1))
	assert.Equal(t, []float32{7, 7, 7, 7}, view[float32](y))
}

func TestConvTranspose_quantizedAndUnreached(t *testing.T) {
	// Stride 3 with a kernel of 1: two cells in three hold only the bias.
	declared := tensor.Type{DType: tensor.Int8, Quant: tensor.PerTensor(1, 10)}
	bias := tensor.Tensor{DType: tensor.Int32, Dims: []int64{1}, Data: tensor.Int32s(4)}
	y := compute1(t, &op.ConvTranspose{Strides: []int64{3}}, declared, quantizedTensor(0.5, 0, []int8{2, -6}, 1, 1, 2),
		quantizedTensor(0.5, 0, []int8{4}, 1, 1, 1), bias)
	assert.Equal(t, []int8{13, 11, 11, 5}, view[int8](y))
}

func TestMatMul_quantizedPerColumn(t *testing.T) {
	b := quantizedTensor(1, 0, []int8{1, 2, 3, 4}, 2, 2)
	b.Quant = &tensor.Quant{Scale: []float32{0.5, 2}, Zero: []int32{0, 1}, Axis: 1}
	declared := tensor.Type{DType: tensor.Int8, Quant: tensor.PerTensor(0.5, -3)}
	a := quantizedTensor(1, 1, []int8{2, 3}, 1, 2) // 1, 2
	bias := tensor.Tensor{DType: tensor.Int32, Dims: []int64{2}, Data: tensor.Int32s(2, 3)}
	// column 0: (1*1 + 2*3)*0.5 + 2*0.5 = 4.5; column 1: (1*1 + 2*3)*2 + 3*2 = 20
	assert.Equal(t, []int8{6, 37}, view[int8](compute1(t, &op.MatMul{}, declared, a, b, bias)))
}

func TestPool_extremes(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	y, err := Compute(&op.MaxPool{Kernel: []int64{2}}, []tensor.Tensor{f32([]float32{1, nan, 3, -inf, 2, 2}, 1, 1, 6)},
		make([]tensor.Type, 2))
	require.NoError(t, err)
	v := view[float32](y[0])
	assert.True(t, math.IsNaN(float64(v[0])) && math.IsNaN(float64(v[1])))
	assert.Equal(t, []float32{3, 2, 2}, v[2:])
	assert.Equal(t, []int64{1, 1, 2, 4, 4}, view[int64](y[1]), "the first of equals")

	wholly := &op.MaxPool{Kernel: []int64{1}, Pads: []int64{1, 0}}
	y, err = Compute(wholly, []tensor.Tensor{f32([]float32{-5}, 1, 1, 1)}, make([]tensor.Type, 2))
	require.NoError(t, err)
	assert.Equal(t, []float32{-inf, -5}, view[float32](y[0]))
	assert.Equal(t, []int64{-1, 0}, view[int64](y[1]))
	mean := compute1(t, &op.AveragePool{Kernel: []int64{1}, Pads: []int64{1, 0}}, tensor.Type{},
		f32([]float32{-5}, 1, 1, 1))
	assert.Equal(t, []float32{0, -5}, view[float32](mean))
}

func TestMaxUnpool_indexOutside(t *testing.T) {
	i := tensor.Tensor{DType: tensor.Int64, Dims: []int64{1, 1, 1}, Data: tensor.Int64s(2)}
	_, err := Compute(&op.MaxUnpool{Kernel: []int64{2}}, []tensor.Tensor{f32([]float32{1}, 1, 1, 1), i},
		make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.ErrorContains(t, err, "index 2 is outside 2 elements")
}

func TestRecurrent_lengthsOutsideAreRefused(t *testing.T) {
	lens := tensor.Tensor{DType: tensor.Int32, Dims: []int64{1}, Data: tensor.Int32s(3)}
	_, err := Compute(&op.RNN{}, []tensor.Tensor{f32([]float32{1, 2}, 2, 1, 1), f32([]float32{1}, 1, 1, 1),
		f32([]float32{1}, 1, 1, 1), {}, lens}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.ErrorContains(t, err, "length 3 of sequence 0 is outside 0..2")
}

func TestNorms_closedForms(t *testing.T) {
	// 1, 2, 3: mean 2, variance 2/3.
	y := view[float32](compute1(t, &op.LayerNorm{Axis: -1}, tensor.Type{}, f32([]float32{1, 2, 3}, 1, 3)))
	assert.InDeltaSlice(t, []float32{-1.2247449, 0, 1.2247449}, y, 1e-6)
	y = view[float32](compute1(t, &op.L2Normalize{Epsilon: 1e-6}, tensor.Type{}, f32([]float32{3, 4, 0, 0}, 4)))
	assert.InDeltaSlice(t, []float32{0.6, 0.8, 0, 0}, y, 1e-7)
	y = view[float32](compute1(t, &op.L2Normalize{Epsilon: 1e-6}, tensor.Type{}, f32([]float32{0, 0}, 2)))
	assert.Equal(t, []float32{0, 0}, y)
	y = view[float32](compute1(t, &op.LRN{Before: 1, After: 1, Alpha: 1, Beta: 1, Bias: 1}, tensor.Type{},
		f32([]float32{1, 2, 3}, 3)))
	assert.InDeltaSlice(t, []float32{1. / 6, 2. / 15, 3. / 14}, y, 1e-7)
	two := f32([]float32{2}, 1)
	y = view[float32](compute1(t, &op.BatchNorm{}, tensor.Type{}, two, two, f32([]float32{1}, 1), f32([]float32{1}, 1),
		f32([]float32{0}, 1)))
	assert.Equal(t, []float32{float32(math.Inf(1))}, y, "variance 0 without epsilon")
}

// 1024 x 32767 x 127 = 4261282816 does not fit into int32; in steps of 131072 it is 32511.008.
func TestFullyConnected_int16SumsIn64Bits(t *testing.T) {
	x, w := tensor.New(tensor.Int16, 1, 1024), tensor.New(tensor.Int8, 1, 1024)
	x.Quant, w.Quant = tensor.PerTensor(1, 0), tensor.PerTensor(1, 0)
	for i := range view[int16](x) {
		view[int16](x)[i], view[int8](w)[i] = math.MaxInt16, math.MaxInt8
	}
	y := compute1(t, &op.FullyConnected{}, tensor.Type{DType: tensor.Int16, Quant: tensor.PerTensor(131072, 0)}, x, w)
	assert.Equal(t, []int16{32511}, view[int16](y))
}
