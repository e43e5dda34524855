package ref

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func q8(scale float32, zero int32, v ...int64) tensor.Tensor {
	return quant(ints(tensor.Int8, v, int64(len(v))), scale, zero)
}

// A padded quantized tensor gets the code of the real 0, the code given, or the code of the real number given.
func TestPad_quantizedValue(t *testing.T) {
	x, pads := q8(0.5, 3, 7, 8), ints(tensor.Int32, []int64{1, 0}, 2)
	assert.Equal(t, []int64{3, 7, 8}, intValues(t, run(t, &op.Pad{}, x, pads)))
	assert.Equal(t, []int64{9, 7, 8}, intValues(t, run(t, &op.Pad{}, x, pads, ints(tensor.Int8, []int64{9}))))
	assert.Equal(t, []int64{-1, 7, 8}, intValues(t, run(t, &op.Pad{}, x, pads, floats(tensor.Float32, []float64{-2}))))
}

// Inputs of other parameters than the output's go through real values: 4x0.5 = 2 = 1x2, 10x0.25 = 2.5 = 1.25x2, code
// 101.
func TestConcat_requantizes(t *testing.T) {
	declared := []tensor.Type{{DType: tensor.Uint8, Quant: tensor.PerTensor(2, 100)}}
	y, err := Compute(&op.Concat{}, []tensor.Tensor{q8(0.5, 0, 4, -4), q8(0.25, 0, 10, 127)}, declared)
	require.NoError(t, err)
	assert.Equal(t, []int64{101, 99, 101, 116}, intValues(t, y[0]))
	assert.Equal(t, declared[0].Quant, y[0].Quant)
	_, err = Compute(&op.Concat{}, []tensor.Tensor{ints(tensor.Int8, []int64{1}, 1), q8(1, 0, 1)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Type, fault.KindOf(err))
	_, err = Compute(&op.Reshape{}, []tensor.Tensor{ints(tensor.Int8, []int64{1}, 1), ints(tensor.Int32, []int64{1}, 1)},
		declared)
	assert.Equal(t, fault.Type, fault.KindOf(err), "a plain tensor does not become a quantized one by moving")
}

func TestTranspose_scalesMoveWithTheirAxis(t *testing.T) {
	x := ints(tensor.Int8, []int64{1, 2, 3, 4, 5, 6}, 2, 3)
	x.Quant = &tensor.Quant{Scale: []float32{0.5, 4}, Axis: 0}
	y := run(t, &op.Transpose{}, x)
	assert.Equal(t, []int64{1, 4, 2, 5, 3, 6}, intValues(t, y))
	assert.Equal(t, 1, y.Quant.Axis)
}

// What no input covers is the real 0, whose code is the zero point.
func TestMovement_fillsWithTheZeroPoint(t *testing.T) {
	x := quant(ints(tensor.Int8, []int64{1, 2, 3, 4}, 2, 2), 0.5, 9)
	assert.Equal(t, []int64{1, 2, 9, 4}, intValues(t, run(t, &op.Trilu{Upper: true}, x)))
	assert.Equal(t, []int64{1, 2, 9, 3, 4, 9},
		intValues(t, run(t, &op.CenterCropPad{}, x, ints(tensor.Int64, []int64{2, 3}, 2))))
	image := quant(ints(tensor.Int8, []int64{5}, 1, 1, 1, 1), 0.5, 9)
	y := run(t, &op.SpaceToBatch{ChannelsLast: true}, image, ints(tensor.Int32, []int64{2, 1}, 2),
		ints(tensor.Int32, []int64{1, 0, 0, 0}, 2, 2))
	assert.Equal(t, []int64{9, 5}, intValues(t, y))
}

// A float32 pad value for integers is truncated toward zero and saturates; NaN gives 0.
func TestPad_floatValueForIntegers(t *testing.T) {
	pads := ints(tensor.Int32, []int64{1, 0}, 2)
	for value, want := range map[float32]int64{300: 127, -300: -128, -1.9: -1, 127.5: 127, float32(math.NaN()): 0} {
		y := run(t, &op.Pad{}, ints(tensor.Int8, []int64{5}, 1), pads, f32([]float32{value}, 1))
		assert.Equal(t, []int64{want, 5}, intValues(t, y), "%v", value)
	}
	y := run(t, &op.Pad{}, ints(tensor.Int64, []int64{5}, 1), pads, f32([]float32{1e30}, 1))
	assert.Equal(t, []int64{math.MaxInt64, 5}, intValues(t, y))
}
