package hbdnn

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/tensor"
)

func raws32(v ...float32) (b []byte) {
	for _, x := range v {
		b = append(b, raw32(x)...)
	}
	return b
}

// channels is y = DequantizeLinear(QuantizeLinear(Relu(x))) with a scale and a zero point for each of three channels,
// after which the codes cross the border as results.
func channels(scales []float32, zeros []byte) *onnxtest.Model {
	return (&onnxtest.Model{}).Input("x", onnxtest.Float, 1, 3, 2, 5).Output("y", onnxtest.Float, 1, 3, 2, 5).
		Constant("s", onnxtest.Float, raws32(scales...), 3).Constant("z", onnxtest.Int8, zeros, 3).
		Node("Relu", "r", "x").Node("QuantizeLinear", "q", "r", "s", "z").Node("DequantizeLinear", "y", "q", "s", "z")
}

// received is channels at the other end: codes cross the border as the input.
func received(scales []float32, zeros []byte) *onnxtest.Model {
	return (&onnxtest.Model{}).Input("x", onnxtest.Float, 1, 3, 2, 5).Output("y", onnxtest.Float, 1, 3, 2, 5).
		Constant("s", onnxtest.Float, raws32(scales...), 3).Constant("z", onnxtest.Int8, zeros, 3).
		Node("QuantizeLinear", "q", "x", "s", "z").Node("DequantizeLinear", "d", "q", "s", "z").Node("Relu", "y", "d")
}

func list[T any](addr uintptr, n int32) []T { return unsafe.Slice((*T)(cPointer(addr)), int(n)) }

func TestProperties_ofCodesPerAxis(t *testing.T) {
	scales, zeros := []float32{0.5, 0.25, 3}, []byte{1, 0xfe, 0}
	p := properties(t, open(t, channels(scales, zeros)), false, 0)
	require.Equal(t, []int32{typeS8, quantScale, 3, 3, 1, 0}, []int32{p.kind, p.quant, p.scaleLen, p.zeroLen, p.axis,
		p.shiftLen})
	require.Equal(t, scales, list[float32](p.scale, 3))
	require.Equal(t, []int8{1, -2, 0}, list[int8](p.zero, 3))
	p = properties(t, open(t, received(scales, zeros).Meta("anynpu.input.x.layout", "nhwc")), true, 0)
	require.Equal(t, []int32{typeS8, quantScale, 3, 3, layoutNHWC}, []int32{p.kind, p.quant, p.scaleLen, p.axis, p.layout},
		"the axis is that of validShape")
}

func TestProperties_ofShifts(t *testing.T) {
	powers := []float32{0.5, 1, 1.0 / 1024}
	p := properties(t, open(t, channels(powers, make([]byte, 3)).Meta("anynpu.quantization", "shift")), false, 0)
	require.Equal(t, []int32{typeS8, quantShift, 3, 0, 0, 1}, []int32{p.kind, p.quant, p.shiftLen, p.scaleLen, p.zeroLen,
		p.axis})
	require.Equal(t, []uint8{1, 0, 10}, list[uint8](p.shift, 3))
	for _, m := range []*onnxtest.Model{channels([]float32{0.5, 0.3, 1}, make([]byte, 3)),
		channels([]float32{0.5, 2, 1}, make([]byte, 3)), channels(powers, []byte{0, 1, 0})} {
		p := properties(t, open(t, m.Meta("anynpu.quantization", "shift")), false, 0)
		require.Equal(t, []int32{quantScale, 3, 0}, []int32{p.quant, p.scaleLen, p.shiftLen})
	}
	_, why := shiftsOf(tensor.PerTensor(float32(math.Ldexp(1, -149)), 0))
	require.Empty(t, why, "the smallest number is 2^-149")
}

// expected are the codes of section 7: round half to even of x / scale, plus the zero point.
func expected(x []float32, scales []float32, zeros []byte) []int8 {
	out := make([]int8, len(x))
	for i, v := range x {
		c := i / 10 % 3
		q := math.RoundToEven(float64(max(v, 0))/float64(scales[c])) + float64(int8(zeros[c]))
		out[i] = int8(min(max(q, -128), 127))
	}
	return out
}

func TestInfer_codesPerAxis(t *testing.T) {
	scales, zeros := []float32{0.5, 0.25, 2}, []byte{1, 0xfe, 0}
	m := open(t, channels(scales, zeros))
	in, out := tensorFor(t, m.in[0]), tensorFor(t, m.out[0])
	for i := range in.floats() {
		in.floats()[i] = float32(i*7%31) - 9.25
	}
	require.NoError(t, infer(t, m, []full{*in}, []full{*out}))
	require.Equal(t, expected(in.floats(), scales, zeros), list[int8](out.mem[0].virt, 30))
}

// With a target, codes have gaps, which are zero in results, and a program may hand over memory without them.
func TestTarget_gaps(t *testing.T) {
	aimed = func() *target { return targetNamed("x3") }
	defer func() { aimed = func() *target { return &targets[0] } }()
	scales, zeros := []float32{0.5, 0.25, 2}, []byte{1, 0xfe, 0}
	m := open(t, channels(scales, zeros))
	in, out := tensorFor(t, m.in[0]), tensorFor(t, m.out[0])
	require.Equal(t, [][]int64{{1, 3, 2, 5}, {1, 3, 2, 5}}, [][]int64{m.in[0].aligned, m.in[0].valid}, "numbers have none")
	require.Equal(t, []any{[]int64{1, 3, 2, 16}, int64(96), []int64{96, 32, 16, 1}},
		[]any{m.out[0].aligned, m.out[0].bytes, m.out[0].stride})
	for i := range in.floats() {
		in.floats()[i] = float32(i*7%31) - 9.25
	}
	want := expected(in.floats(), scales, zeros)
	for i := range out.data() {
		out.data()[i] = 0x5a
	}
	require.NoError(t, infer(t, m, []full{*in}, []full{*out}))
	for i, got := range list[int8](out.mem[0].virt, 96) {
		row, column := i/16, i%16
		if column >= 5 {
			require.Zero(t, got, "gap %d of row %d", column, row)
			continue
		}
		require.Equal(t, want[5*row+column], got, "row %d, column %d", row, column)
	}
	out.properties.aligned = out.properties.valid
	out.mem[0].size = 30
	require.NoError(t, infer(t, m, []full{*in}, []full{*out}))
	require.Equal(t, want, list[int8](out.mem[0].virt, 30))
	out.mem[0].size = 29
	requireCode(t, errArgument, infer(t, m, []full{*in}, []full{*out}), "memSize is 29", "takes 30 bytes")
	out.mem[0].size = 96

	o := open(t, received(scales, zeros).Meta("anynpu.input.x.layout", "nhwc"))
	require.Equal(t, []int64{1, 2, 32, 3}, o.in[0].aligned, "few channels: an even height, whole 32s of columns")
	codes, numbers := tensorFor(t, o.in[0]), tensorFor(t, o.out[0])
	for i := range codes.data() {
		codes.data()[i] = byte(i * 5)
	}
	require.NoError(t, infer(t, o, []full{*codes}, []full{*numbers}))
	for i, got := range numbers.floats() {
		c, y, x := i/10, i/5%2, i%5
		code := int8((y*96 + x*3 + c) * 5)
		require.Equal(t, max(float32(int32(code)-int32(int8(zeros[c])))*scales[c], 0), got, "channel %d, row %d, column %d",
			c, y, x)
	}
}

func TestTarget_pad(t *testing.T) {
	g := targetNamed("x5")
	for _, c := range []struct {
		valid  []int64
		layout int32
		size   int64
		input  bool
		want   []int64
	}{
		{[]int64{1, 7, 9, 5}, layoutNHWC, 1, true, []int64{1, 7, 9, 16}},
		{[]int64{1, 7, 9, 4}, layoutNHWC, 1, true, []int64{1, 8, 32, 4}},
		{[]int64{1, 7, 9, 4}, layoutNHWC, 1, false, []int64{1, 7, 9, 16}},
		{[]int64{1, 7, 9, 17}, layoutNHWC, 1, false, []int64{1, 7, 9, 32}},
		{[]int64{1, 7, 9, 65}, layoutNHWC, 1, false, []int64{1, 7, 9, 128}},
		{[]int64{1, 7, 9, 129}, layoutNHWC, 1, false, []int64{1, 7, 9, 256}},
		{[]int64{1, 7, 9, 257}, layoutNHWC, 1, false, []int64{1, 7, 9, 512}},
		{[]int64{1, 7, 9, 255}, layoutNHWC, 4, false, []int64{1, 7, 9, 256}},
		{[]int64{1, 3, 7, 9}, layoutNCHW, 2, true, []int64{1, 3, 7, 16}},
		{[]int64{1, 10}, layoutNone, 1, false, []int64{1, 10}},
	} {
		require.Equal(t, c.want, g.pad(c.valid, c.layout, c.size, c.input), "%v", c)
	}
	require.Equal(t, []int64{1, 7, 9, 5}, targetNamed("").pad([]int64{1, 7, 9, 5}, layoutNHWC, 1, true))
	require.Equal(t, "", targetNamed("x7").name)
}

func TestTarget_limits(t *testing.T) {
	frame := &picture{h: 480, w: 640, pitch: 640}
	for _, c := range []struct {
		target string
		roi    Roi
		h, w   int64
		pitch  int64
		words  string
	}{
		{"x3", Roi{0, 0, 99, 99}, 100, 100, 640, ""},
		{"x3", Roi{1, 0, 100, 99}, 100, 100, 640, "even left"},
		{"x3", Roi{0, 0, 99, 98}, 100, 100, 640, "odd right"},
		{"x3", Roi{0, 0, 13, 15}, 16, 16, 640, "16 to 255"},
		{"x3", Roi{0, 0, 255, 15}, 16, 200, 640, "16 to 255"},
		{"x3", Roi{0, 0, 199, 99}, 100, 100, 640, "more than 1/2"},
		{"x3", Roi{0, 0, 15, 15}, 129, 128, 640, "8 at most"},
		{"x3", Roi{0, 0, 127, 143}, 144, 128, 640, "18432"},
		{"x3", Roi{0, 0, 99, 99}, 100, 100, 648, "multiple of 16"},
		{"x5", Roi{1, 1, 100, 100}, 100, 100, 640, ""},
		{"x5", Roi{1, 1, 1, 100}, 100, 100, 640, "2 to 4096"},
		{"x5", Roi{0, 0, 639, 479}, 100, 100, 640, "more than 1/4"},
		{"x5", Roi{0, 0, 99, 99}, 1, 100, 640, "at least 2"},
		{"", Roi{1, 1, 1, 1}, 1, 1, 641, ""},
	} {
		frame.pitch = c.pitch
		err := targetNamed(c.target).refuseRegion("rois[0]", c.roi, frame, c.h, c.w)
		if c.words == "" {
			require.NoError(t, err, "%v", c)
			continue
		}
		requireCode(t, errArgument, err, "rois[0]", c.words, "ANYNPU_HBDNN_TARGET="+c.target)
	}
	whole, small := &picture{h: 480, w: 640, pitch: 640}, &picture{h: 2, w: 2, pitch: 16}
	x3 := targetNamed("x3")
	require.NoError(t, x3.refuseResize(Roi{0, 0, 99, 99}, whole, small))
	requireCode(t, errArgument, x3.refuseResize(Roi{0, 0, 640, 99}, whole, small), "inside the image")
	requireCode(t, errArgument, x3.refuseResize(Roi{0, 0, 639, 99}, whole, small), "1/185")
	requireCode(t, errUse, targetNamed("ultra").refuseResize(Roi{}, whole, small), "no hbDNNResize")
}

func TestTarget_imagesHaveFourChannels(t *testing.T) {
	aimed = func() *target { return targetNamed("x3") }
	defer func() { aimed = func() *target { return &targets[0] } }()
	o := ready(t, camera(1, 3, 4, 6))
	require.Equal(t, shape(1, 4, 4, 16), properties(t, o.m, true, 0).aligned)
	require.NoError(t, infer(t, o.m, o.in, o.out))
	o.in[0].properties.aligned.dims[1] = 3
	require.NoError(t, infer(t, o.m, o.in, o.out))
}
