package rknn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// An NV12 frame of 4 x 4 pixels is one input of bytes, and the network gets (value - mean) / std of red, green, blue:
// without colour of luma alone, with red chroma of 128 + 50 red 70.1 more and green 35.7068 less.
func TestInputsSet_nv12(t *testing.T) {
	m := identity(onnxtest.Float, 1, 3, 4, 4).Meta("anynpu.input.x.pixel", "nv12").
		Meta("anynpu.input.x.mean", "[10,20,30]").
		Meta("anynpu.input.x.std", "[2]")
	x := open(t, m, 0)
	p := x.model.in[0]
	assert.Equal(t, spec.Uint8, p.kind)
	assert.Equal(t, spec.Undefined, p.format(true))
	assert.Equal(t, []int64{1, 6, 4}, x.inDims(0))
	frame := make([]uint8, 24)
	for i := range 16 {
		frame[i] = uint8(10 * i)
	}
	copy(frame[16:], []uint8{128, 128, 128, 178, 128, 128, 128, 128})
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Uint8, spec.NHWC, frame)}))
	got := floats(t, x)
	require.Len(t, got, 48)
	for i := range 16 {
		r, g := float64(10*i), float64(10*i)
		if i < 8 && i%4 >= 2 {
			r, g = r+1.402*50, g-0.714136*50
		}
		for c, v := range []float64{r, g, float64(10 * i)} {
			assert.InDelta(t, (v-float64(10*c+10))/2, got[16*c+i], 1e-4, "channel %d of pixel %d", c, i)
		}
	}
	require.Error(t, inputsSet(x, []Input{inputOf(t, spec.Uint8, spec.NHWC, frame[:23])}))
}

// YUV444 comes in NHWC as any image does.
func TestInputsSet_yuv444(t *testing.T) {
	m := identity(onnxtest.Float, 1, 3, 1, 2).Meta("anynpu.input.x.pixel", "yuv444").Meta("anynpu.input.x.order", "bgr")
	x := open(t, m, 0)
	assert.Equal(t, spec.NHWC, x.model.in[0].format(true))
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Uint8, spec.NHWC, []uint8{50, 128, 128, 100, 138, 128})}))
	want := []float32{50, 117.72, 50, 96.55864, 50, 100}
	for i, v := range floats(t, x) {
		assert.InDelta(t, want[i], v, 1e-4, "element %d", i)
	}
}
