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

func sizesOf(v ...int64) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Int64, Dims: []int64{int64(len(v))}, Data: tensor.Int64s(v...)}
}

// Two cells 1 and 10, kernel 1 2 3, stride 2: the full result is 1 2 3+10 20 30.
func TestConvTranspose_paddingOfEveryKind(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     op.ConvTranspose
		sizes []int64
		want  []float32
	}{
		{"valid", op.ConvTranspose{AutoPad: op.PadValid, Pads: []int64{7, 7}}, nil, []float32{1, 2, 13, 20, 30}},
		{"explicit", op.ConvTranspose{Pads: []int64{1, 2}}, nil, []float32{2, 13}},
		{"negative end", op.ConvTranspose{Pads: []int64{1, -2}}, nil, []float32{2, 13, 20, 30, 0, 0}},
		{"output pad", op.ConvTranspose{Pads: []int64{1, 1}, OutputPads: []int64{1}}, nil, []float32{2, 13, 20, 30}},
		{"same upper", op.ConvTranspose{AutoPad: op.PadSameUpper}, nil, []float32{1, 2, 13, 20}},
		{"same lower", op.ConvTranspose{AutoPad: op.PadSameLower}, nil, []float32{2, 13, 20, 30}},
		{"same with output pad added", op.ConvTranspose{AutoPad: op.PadSameUpper, OutputPads: []int64{1}}, nil,
			[]float32{1, 2, 13, 20, 30}},
		{"same with output pad inside", op.ConvTranspose{AutoPad: op.PadSameUpper, OutputPads: []int64{1},
			OutputPadsInside: true}, nil, []float32{2, 13, 20, 30}},
		{"given 4", op.ConvTranspose{}, []int64{4}, []float32{2, 13, 20, 30}},
		{"given 4, same upper", op.ConvTranspose{AutoPad: op.PadSameUpper}, []int64{4}, []float32{1, 2, 13, 20}},
		{"given 4, valid", op.ConvTranspose{AutoPad: op.PadValid}, []int64{4}, []float32{1, 2, 13, 20}},
		{"given 7", op.ConvTranspose{}, []int64{7}, []float32{1, 2, 13, 20, 30, 0, 0}},
	} {
		c.o.Strides = []int64{2}
		in := []tensor.Tensor{f32([]float32{1, 10}, 1, 1, 2), f32([]float32{1, 2, 3}, 1, 3, 1)}
		if c.sizes != nil {
			in = append(in, tensor.Tensor{}, sizesOf(c.sizes...))
		}
		y, err := Compute(&c.o, in, make([]tensor.Type, 1))
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, view[float32](y[0]), c.name)
	}
}

func TestAveragePool_overhangIsNotCounted(t *testing.T) {
	x := f32([]float32{2, 4, 6, 8, 10}, 1, 1, 5)
	for ceil, want := range map[op.CeilMode][]float32{op.RoundFloor: {1, 5}, op.RoundCeil: {1, 5, 6}} {
		// Windows of 3 with stride 3 and 2 cells of padding before, 0 after: the third one covers 10 alone and hangs over by
		// two.
		o := &op.AveragePool{Kernel: []int64{3}, Strides: []int64{3}, Pads: []int64{2, 0}, Ceil: ceil, CountPads: true}
		y := view[float32](compute1(t, o, tensor.Type{}, x))
		assert.InDelta(t, 2./3, y[0], 1e-6, "two cells of padding count")
		assert.Equal(t, float32(6), y[1])
		if len(want) == 3 {
			assert.Equal(t, float32(10), y[2], "the only cell")
		}
		assert.Len(t, y, len(want))
	}
}

func TestResize_types(t *testing.T) {
	scales := f32([]float32{2}, 1)
	linear := &op.Resize{Mode: op.ResizeLinear}
	u8 := tensor.Tensor{DType: tensor.Uint8, Dims: []int64{3}, Data: []byte{0, 5, 255}}
	assert.Equal(t, []byte{0, 2, 5, 130, 255, 255}, compute1(t, linear, tensor.Type{}, u8, tensor.Tensor{}, scales).Data,
		"2.5 is cut")
	u8.Quant = tensor.PerTensor(0.5, 5)
	assert.Equal(t, []byte{0, 3, 5, 130, 255, 255}, compute1(t, linear, tensor.Type{}, u8, tensor.Tensor{}, scales).Data,
		"2.5 is rounded away from 0")
	i64 := tensor.Tensor{DType: tensor.Int64, Dims: []int64{2}, Data: tensor.Int64s(math.MaxInt64, math.MinInt64+1)}
	y := compute1(t, &op.Resize{Nearest: op.NearestFloor}, tensor.Type{}, i64, tensor.Tensor{}, scales)
	assert.Equal(t, []int64{math.MaxInt64, math.MaxInt64, math.MinInt64 + 1, math.MinInt64 + 1}, view[int64](y),
		"nothing passes through floats")
}

func TestResize_clampedHalfPixel(t *testing.T) {
	// out 5 of in 2: coordinates -0.3, 0.1, 0.5, 0.9, 1.3; the first is moved to 0, the last repeats the border.
	x := f32([]float32{10, 20}, 2)
	for _, coord := range []op.Coord{op.CoordHalfPixelClamped, op.CoordHalfPixel} {
		o := &op.Resize{Mode: op.ResizeLinear, Coord: coord}
		y := compute1(t, o, tensor.Type{}, x, tensor.Tensor{}, tensor.Tensor{}, sizesOf(5))
		assert.InDeltaSlice(t, []float32{10, 11, 15, 19, 20}, view[float32](y), 1e-5)
	}
	cubic := &op.Resize{Mode: op.ResizeCubic, Coord: op.CoordHalfPixelClamped}
	y := view[float32](compute1(t, cubic, tensor.Type{}, x, tensor.Tensor{}, tensor.Tensor{}, sizesOf(5)))
	assert.Equal(t, float32(10), y[0], "at coordinate 0 exactly the first cell")
}

func TestRegions_badData(t *testing.T) {
	x := f32([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	nan, big := float32(math.NaN()), float32(1e9)
	for name, c := range map[string]struct {
		roi   []float32
		image int64
		want  string
	}{
		"batch":   {[]float32{0, 0, 1, 1}, 1, "batch index 1 is outside 1 images"},
		"NaN":     {[]float32{0, nan, 1, 1}, 0, "corner at NaN"},
		"samples": {[]float32{0, 0, big, 1}, 0, "samples in each of 1 bins"},
	} {
		_, err := Compute(&op.RoiAlign{Height: 1, Width: 1}, []tensor.Tensor{x, f32(c.roi, 1, 4), sizesOf(c.image)},
			make([]tensor.Type, 1))
		assert.Equal(t, fault.Data, fault.KindOf(err), name)
		assert.ErrorContains(t, err, c.want, name)
	}
}

// A map of 4 x 6 cells and half a cell per unit: regions lie between 0 and 12 across, 0 and 8 down.
func TestRegions_inside(t *testing.T) {
	x := f32(seq32(24), 1, 4, 6, 1)
	for name, c := range map[string]struct {
		roi []float32
		ok  bool
	}{
		"all":        {[]float32{0, 0, 12, 8}, true},
		"no area":    {[]float32{12, 8, 12, 8}, true},
		"left":       {[]float32{-0.5, 0, 4, 4}, false},
		"top":        {[]float32{0, -0.5, 4, 4}, false},
		"right":      {[]float32{0, 0, 12.5, 4}, false},
		"bottom":     {[]float32{0, 0, 4, 8.5}, false},
		"x swapped":  {[]float32{4, 0, 3, 4}, false},
		"y swapped":  {[]float32{0, 4, 4, 3}, false},
		"far beyond": {[]float32{100, 100, 101, 101}, false},
	} {
		for _, inside := range []bool{false, true} {
			align := &op.RoiAlign{Height: 1, Width: 1, ScaleHeight: 0.5, ScaleWidth: 0.5, ChannelsLast: true, Inside: inside,
				SamplesHeight: 1, SamplesWidth: 1}
			_, err := Compute(align, []tensor.Tensor{x, f32(c.roi, 1, 4), sizesOf(0)}, make([]tensor.Type, 1))
			pool := &op.MaxRoiPool{Height: 1, Width: 1, ScaleHeight: 0.5, ScaleWidth: 0.5, ChannelsLast: true, Inside: inside}
			_, poolErr := Compute(pool, []tensor.Tensor{x, f32(append([]float32{0}, c.roi...), 1, 5)}, make([]tensor.Type, 1))
			for _, err := range []error{err, poolErr} {
				if c.ok || !inside {
					assert.NoError(t, err, name)
					continue
				}
				assert.Equal(t, fault.Data, fault.KindOf(err), name)
				assert.ErrorContains(t, err, "is not inside 4 x 6 cells", name)
			}
		}
	}
}

// Batch indices of their own, with regions of 16-bit codes, give what regions with an index give.
func TestMaxRoiPool_separateIndices(t *testing.T) {
	x := f32(seq32(2*4*6), 2, 4, 6, 1)
	o := &op.MaxRoiPool{Height: 2, Width: 2, ScaleHeight: 0.5, ScaleWidth: 0.5, ChannelsLast: true, Inside: true}
	want := run(t, o, x, f32([]float32{1, 1.5, 1, 9, 6.5, 0, 0, 2, 12, 8, 1, 4, 4, 4, 4}, 3, 5))
	rois := []int64{12, 8, 72, 52, 0, 16, 96, 64, 32, 32, 32, 32}
	for _, d := range []tensor.DType{tensor.Int32, tensor.Int64} {
		got := run(t, o, x, quant(ints(tensor.Uint16, rois, 3, 4), 0.125, 0), ints(d, []int64{1, 0, 1}, 3))
		assert.Equal(t, values(t, want), values(t, got))
	}
	assert.Equal(t, want.Data, run(t, o, x, f32([]float32{1, 1.5, 1, 9, 6.5, 0, 0, 2, 12, 8, 1, 4, 4, 4, 4}, 3, 5),
		tensor.Tensor{}).Data, "absent indices")
	_, err := Compute(o, []tensor.Tensor{x, f32(make([]float32, 4), 1, 4), sizesOf(2)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "batch index 2 is outside 2 images")
	for i, in := range [][]tensor.Tensor{{x, f32(make([]float32, 4), 1, 4)},
		{x, f32(make([]float32, 5), 1, 5), sizesOf(0)}, {x, f32(make([]float32, 4), 1, 4), sizesOf(0, 0)}} {
		_, err := Compute(o, in, make([]tensor.Type, 1))
		assert.Equal(t, fault.Shape, fault.KindOf(err), "%d: %v", i, err)
	}
}

// Regions of 16-bit codes at an eighth of a unit give what the same numbers as floats give.
func TestRoiAlign_codesOfSixteenBits(t *testing.T) {
	x := quant(ints(tensor.Uint8, []int64{10, 20, 30, 40, 50, 60, 70, 80, 90}, 1, 3, 3, 1), 0.5, 10)
	rois := quant(ints(tensor.Uint16, []int64{8, 8, 16, 24}, 1, 4), 0.125, 0)
	o := &op.RoiAlign{Height: 1, Width: 1, SamplesHeight: 1, SamplesWidth: 1, ChannelsLast: true, Inside: true}
	y, err := Compute(o, []tensor.Tensor{x, rois, sizesOf(0)}, []tensor.Type{{DType: tensor.Uint8,
		Quant: tensor.PerTensor(0.25, 3)}})
	require.NoError(t, err)
	// From (1,1) to (2,3): the sample at x 1.5, y 2 lies between the last row's codes 80 and 90, which stand for 37.5.
	assert.Equal(t, []int64{153}, intValues(t, y[0]))
}

// Nearest from 6 to 3 and to 4, rounding down: (o+0.5)*6/out is 1, 3, 5 and 0.75, 2.25, 3.75, 5.25.
func TestResize_tfHalfPixel(t *testing.T) {
	for _, want := range [][]float32{{1, 3, 5}, {0, 2, 3, 5}} {
		o := &op.Resize{Mode: op.ResizeNearest, Coord: op.CoordTFHalfPixel, Nearest: op.NearestFloor}
		y, err := Compute(o, []tensor.Tensor{f32([]float32{0, 1, 2, 3, 4, 5}, 6), {}, {}, sizesOf(int64(len(want)))},
			make([]tensor.Type, 1))
		require.NoError(t, err)
		got, err := tensor.ReadFloat32s(y[0].Data, len(want))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestGridSample_notANumberIsTheFirstCorner(t *testing.T) {
	nan := float32(math.NaN())
	grid := f32([]float32{nan, 1}, 1, 1, 1, 2)
	y := compute1(t, &op.GridSample{AlignCorners: true}, tensor.Type{}, f32([]float32{1, 2, 3, 4}, 1, 1, 2, 2), grid)
	assert.Equal(t, []float32{3}, view[float32](y))
}

// One unit, weights 0 but for the cell candidate: c = c'/2 + tanh(x)/2, h = tanh(c)/2.
func TestLSTM_float16AndClosedForm(t *testing.T) {
	half := func(v []float32, dims ...int64) tensor.Tensor {
		x := tensor.New(tensor.Float16, dims...)
		for i, f := range v {
			view[uint16](x)[i] = tensor.Float32To16(f)
		}
		return x
	}
	y, err := Compute(&op.LSTM{}, []tensor.Tensor{half([]float32{1, -2}, 2, 1, 1), half([]float32{0, 0, 0, 1}, 1, 4, 1),
		half([]float32{0, 0, 0, 0}, 1, 4, 1)}, make([]tensor.Type, 3))
	require.NoError(t, err)
	c1 := math.Tanh(1) / 2
	c2 := c1/2 + math.Tanh(-2)/2
	want := []float64{math.Tanh(c1) / 2, math.Tanh(c2) / 2}
	for i, w := range want {
		assert.InDelta(t, w, tensor.Float16To32(view[uint16](y[0])[i]), 1e-3)
	}
	assert.InDelta(t, want[1], tensor.Float16To32(view[uint16](y[1])[0]), 1e-3)
	assert.InDelta(t, c2, tensor.Float16To32(view[uint16](y[2])[0]), 1e-3)
	assert.Equal(t, tensor.Float16, y[2].DType)
}

func TestRotaryEmbedding_positionOutside(t *testing.T) {
	cache := f32([]float32{1, 1}, 2, 1)
	id := tensor.Tensor{DType: tensor.Int64, Dims: []int64{1, 1}, Data: tensor.Int64s(2)}
	_, err := Compute(&op.RotaryEmbedding{}, []tensor.Tensor{f32([]float32{1, 2}, 1, 1, 1, 2), cache, cache, id},
		make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.ErrorContains(t, err, "position 2 is outside 2")
}
