package hbucp

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

func props(p *port) (x TensorProperties) {
	p.store(&x, nil)
	return x
}

func TestPort_numbers(t *testing.T) {
	m := load1(t, relu(1, 1000))
	x := props(m.in[0])
	require.Equal(t, TensorProperties{valid: TensorShape{dims: [maxDims]int32{1, 1000}, rank: 2}, kind: 7, bytes: 4096,
		stride: [maxDims]int64{4000, 4}}, x, "as the board's table of 4.2 has it")
	m = load1(t, relu(1, 4))
	require.EqualValues(t, 128, props(m.out[0]).bytes)
	m = load1(t, relu())
	require.Equal(t, TensorProperties{kind: 7, bytes: 128}, props(m.in[0]))
	for elem, kind := range map[int64]int32{onnxtest.Int8: 2, onnxtest.Uint8: 3, onnxtest.Int64: 11, onnxtest.Bool: 13} {
		m := load1(t, (&onnxtest.Model{}).Input("x", elem, 2).Output("y", elem, 2).Node("Identity", "y", "x"))
		require.Equal(t, []int32{kind, kind}, []int32{props(m.in[0]).kind, props(m.out[0]).kind})
	}
}

func TestPort_nv12AreTwoInputs(t *testing.T) {
	m := load1(t, relu(1, 3, 6, 10).Meta("anynpu.input.x.pixel", "nv12"))
	require.Len(t, m.in, 2)
	require.Equal(t, []string{"x_y", "x_uv"}, []string{m.in[0].name, m.in[1].name})
	require.Equal(t, TensorProperties{valid: TensorShape{dims: [maxDims]int32{1, 6, 10, 1}, rank: 4}, kind: 3, bytes: -1,
		stride: [maxDims]int64{-1, -1, 1, 1}}, props(m.in[0]))
	require.Equal(t, TensorProperties{valid: TensorShape{dims: [maxDims]int32{1, 3, 5, 2}, rank: 4}, kind: 3, bytes: -1,
		stride: [maxDims]int64{-1, -1, 2, 1}}, props(m.in[1]))
	_, err := loaded(t, relu(1, 3, 5, 10).Meta("anynpu.input.x.pixel", "nv12"))
	requireCode(t, -600002, err, "even")
}

func TestPort_images(t *testing.T) {
	gray := load1(t, relu(1, 1, 4, 6).Meta("anynpu.input.x.pixel", "gray"))
	require.Equal(t, [maxDims]int64{-1, -1, 1, 1}, props(gray.in[0]).stride)
	require.Equal(t, [maxDims]int32{1, 4, 6, 1}, props(gray.in[0]).valid.dims)
	rgb := load1(t, relu(1, 3, 4, 6).Meta("anynpu.input.x.pixel", "rgb"))
	require.Equal(t, [maxDims]int32{1, 4, 6, 3}, props(rgb.in[0]).valid.dims)
	require.Equal(t, [maxDims]int64{72, 18, 3, 1}, props(rgb.in[0]).stride)
	signed := load1(t, relu(1, 3, 4, 6).Meta("anynpu.input.x.pixel", "rgb").Meta("anynpu.input.x.bytes", "signed"))
	require.EqualValues(t, typeS8, props(signed.in[0]).kind)
}

// Codes of 32 bits have a scale and a zero point for each channel, whatever the model has.
func TestPort_codes(t *testing.T) {
	m := load1(t, relu(1, 2, 2, 3).Meta("anynpu.output.y.codes", `{"type": "int32", "scale": [0.5, 0.25, 2], "axis": 3}`))
	x := props(m.out[0])
	require.Equal(t, []int32{typeS32, quantScale, 3, 3, 3}, []int32{x.kind, x.quant, x.axis, x.scaleLen, x.zeroLen})
	m = load1(t, relu(1, 2, 2, 3).Meta("anynpu.outputs.codes", "int32").Meta("anynpu.output.y.layout", "nhwc"))
	x = props(m.out[0])
	require.Equal(t, []int32{1, 2, 3, 2}, x.valid.dims[:4])
	require.Equal(t, []int32{3, 2, 2}, []int32{x.axis, x.scaleLen, x.zeroLen})
}

func TestInfer_codesPerChannel(t *testing.T) {
	o := ready(t, relu(1, 1, 2, 3).Meta("anynpu.output.y.codes",
		`{"type": "int32", "scale": [0.5, 0.25, 2], "axis": 3}`), 32)
	copy(elements[float32](&o.in[0]), []float32{1, 1.25, 5, 0.75, float32(math.Inf(1)), -4})
	require.NoError(t, o.infer())
	require.Equal(t, []int32{2, 5, 2, 2, math.MaxInt32, 0}, elements[int32](&o.out[0])[:6], "halves to even, saturated")
}

func TestInfer_strides(t *testing.T) {
	o := ready(t, relu(1, 2, 3), 32)
	require.Equal(t, [maxDims]int64{24, 12, 4}, o.in[0].properties.stride)
	copy(elements[float32](&o.in[0]), []float32{1, -2, 3, 99, 4, 5, -6})
	o.in[0].properties.stride = [maxDims]int64{32, 16, 4}
	o.out[0].properties.stride = [maxDims]int64{96, 40, 8}
	for i := range elements[float32](&o.out[0]) {
		elements[float32](&o.out[0])[i] = 7
	}
	require.NoError(t, o.infer())
	require.Equal(t, []float32{1, 7, 0, 7, 3, 7, 7, 7, 7, 7, 4, 7, 5, 7, 0, 7}, elements[float32](&o.out[0])[:16],
		"gaps stay as they are")
	for stride, word := range map[[maxDims]int64]string{{24, 12, -1}: "stride[2] is -1", {24, 8, 4}: "stride[1] is 8",
		{24, 12, 2}: "stride[2] is 2", {26, 12, 4}: "stride[0] is 26", {1 << 47, 12, 4}: "too many"} {
		o.in[0].properties.stride = stride
		requireCode(t, -100001, o.infer(), word, "input[0]")
	}
	o.in[0].properties.stride = [maxDims]int64{24, 12, 4}
	o.in[0].mem.size = 23
	requireCode(t, -100001, o.infer(), "memSize is 23", "24 bytes")
	o.in[0].mem.size = 1 << 40
	o.in[0].mem.virt += 120
	requireCode(t, -100001, o.infer(), "8 bytes", "hbUCPMalloc")
}

func TestInfer_dimensionsInAnotherOrder(t *testing.T) {
	o := ready(t, relu(1, 2, 1, 3).Meta("anynpu.input.x.layout", "nhwc").Meta("anynpu.output.y.layout", "nhwc"), 32)
	copy(elements[float32](&o.in[0]), []float32{1, 10, 2, 20, 3, 30})
	require.NoError(t, o.infer())
	require.Equal(t, []float32{1, 10, 2, 20, 3, 30}, elements[float32](&o.out[0])[:6])
}

// TestInfer_nv12 has rows of any length, and a part of a larger image.
func TestInfer_nv12(t *testing.T) {
	model := relu(1, 3, 4, 6).Meta("anynpu.input.x.pixel", "nv12").Meta("anynpu.input.x.order", "rgb")
	var want []float32
	for _, alignment := range []int64{32, 64} {
		o := ready(t, model, alignment)
		require.Equal(t, [maxDims]int64{4 * alignment, alignment, 1, 1}, o.in[0].properties.stride)
		for h := range int64(4) {
			for w := range int64(6) {
				o.in[0].data()[h*alignment+w] = byte(40*h + 7*w)
			}
		}
		for h := range int64(2) {
			for w := range int64(6) {
				o.in[1].data()[h*alignment+w] = byte(100 + 9*h + w)
			}
		}
		require.NoError(t, o.infer())
		got := elements[float32](&o.out[0])[:72]
		if len(want) == 0 {
			want = slices.Clone(got)
			y, u, v := float64(byte(40*3+7*5)), float64(100+9+4)-128, float64(100+9+5)-128
			require.InDelta(t, y+1.402*v, float64(got[23]), 0.6, "red of the last pixel")
			require.InDelta(t, y+1.772*u, float64(got[71]), 0.6, "blue")
		}
		require.Equal(t, want, got)
	}
	big := ready(t, relu(1, 3, 8, 10).Meta("anynpu.input.x.pixel", "nv12"), 32)
	for i := range big.in[0].data() {
		big.in[0].data()[i] = byte(i * 7)
	}
	for i := range big.in[1].data() {
		big.in[1].data()[i] = byte(i * 5)
	}
	crop, whole := ready(t, model, 32), [2][]byte{big.in[0].data(), big.in[1].data()}
	for i := range 2 {
		x := &crop.in[i]
		top, left, rows := []int64{2, 1}[i], int64(4), []int64{4, 2}[i]
		for h := range rows {
			copy(x.data()[h*32:][:6], whole[i][(top+h)*32+left:])
		}
	}
	require.NoError(t, crop.infer())
	want = slices.Clone(elements[float32](&crop.out[0])[:72])
	for i := range 2 {
		crop.in[i].mem.virt = big.in[i].mem.virt + uintptr([]int64{2, 1}[i]*32+4)
		crop.in[i].mem.size = big.in[i].mem.size - uint64([]int64{2, 1}[i]*32+4)
	}
	require.NoError(t, crop.infer())
	require.Equal(t, want, elements[float32](&crop.out[0])[:72], "by strides alone")
}

func TestInfer_openSizes(t *testing.T) {
	model := (&onnxtest.Model{}).Input("x", onnxtest.Float, 2, 3).Output("y", onnxtest.Int64, 2, -1).Node("NonZero",
		"y", "x").
		Meta("anynpu.output.y.max_shape", "[2, 6]")
	o := ready(t, model, 32)
	require.Equal(t, []int32{2, -1}, o.out[0].properties.valid.dims[:2])
	copy(elements[float32](&o.in[0]), []float32{0, 1, 0, 0, 0, 2})
	var task uintptr
	require.NoError(t, dnnInferV2(&task, &o.out[0], &o.in[0], o.m))
	var x TensorProperties
	requireCode(t, -100002, held(t, task, func(k *Task) error { return dnnGetTaskOutputTensorProperties(&x, k, 0, 0) }))
	require.NoError(t, held(t, task, func(k *Task) error { return ucpSubmitTask(k, &SchedParam{}) }))
	require.NoError(t, held(t, task, func(k *Task) error { return ucpWaitTaskDone(k, 0) }))
	require.NoError(t, held(t, task, func(k *Task) error { return dnnGetTaskOutputTensorProperties(&x, k, 0, 0) }))
	require.Equal(t, []int32{2, 2}, x.valid.dims[:2])
	require.Equal(t, int64(48), x.stride[0])
	require.Equal(t, []int64{0, 1}, elements[int64](&o.out[0])[:2])
	require.Equal(t, []int64{1, 2}, elements[int64](&o.out[0])[6:8])
	requireCode(t, -100001, held(t, task, func(k *Task) error {
		return dnnGetTaskOutputTensorProperties(&x, k, 1,
			0)
	}), "subTask")
	requireCode(t, -100001, held(t, task, func(k *Task) error {
		return dnnGetTaskOutputTensorProperties(&x, k, 0,
			1)
	}), "output")
	require.NoError(t, ucpReleaseTask(task))
}
