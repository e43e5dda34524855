package rknn

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// Pixels of one image of 2 channels, 1 row, 3 columns: channel 0 is 0, 10, 255, channel 1 is 1, 20, 128.
var (
	nhwcBytes = []uint8{0, 1, 10, 20, 255, 128}
	planar    = []float32{0, 10, 255, 1, 20, 128}
)

func TestInputsSet_convertsToReals(t *testing.T) {
	halves := []uint16{tensor.Float32To16(0), tensor.Float32To16(1), tensor.Float32To16(10), tensor.Float32To16(20),
		tensor.Float32To16(255), tensor.Float32To16(128)}
	for _, c := range []struct {
		name string
		in   Input
	}{
		{"uint8", inputOf(t, spec.Uint8, spec.NHWC, nhwcBytes)},
		{"float32", inputOf(t, spec.Float32, spec.NHWC, []float32{0, 1, 10, 20, 255, 128})},
		{"float16", inputOf(t, spec.Float16, spec.NHWC, halves)},
		{"int16", inputOf(t, spec.Int16, spec.NHWC, []int16{0, 1, 10, 20, 255, 128})},
		{"int64", inputOf(t, spec.Int64, spec.NHWC, []int64{0, 1, 10, 20, 255, 128})},
		{"undefined format", inputOf(t, spec.Uint8, spec.Undefined, nhwcBytes)},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := open(t, identity(onnxtest.Float, 1, 2, 1, 3), 0)
			require.NoError(t, inputsSet(x, []Input{c.in}))
			require.Equal(t, planar, floats(t, x))
		})
	}
}

func TestInputsSet_meanAndStdPerChannel(t *testing.T) {
	m := identity(onnxtest.Float, 1, 2, 1, 3).Meta("anynpu.input.x.mean", "[10,20]").Meta("anynpu.input.x.std", "[2,4]")
	x := open(t, m, 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Uint8, spec.NHWC, nhwcBytes)}))
	require.Equal(t, []float32{-5, 0, 122.5, -4.75, 0, 27}, floats(t, x))
}

func TestInputsSet_channelOrder(t *testing.T) {
	m := identity(onnxtest.Float, 1, 3, 1, 2).Meta("anynpu.input.x.pixel", "rgb").Meta("anynpu.input.x.order",
		"bgr").Meta("anynpu.input.x.mean", "[1,2,3]")
	x := open(t, m, 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Uint8, spec.NHWC, []uint8{10, 20, 30, 40, 50, 60})}))
	require.Equal(t, []float32{27, 57, 18, 48, 9, 39}, floats(t, x), "blue, green, red, each with its own mean")
}

func TestInputsSet_layoutOfMetadata(t *testing.T) {
	x := open(t, identity(onnxtest.Float, 1, 2, 1, 3).Meta("anynpu.input.x.layout", "nchw"), 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.NCHW, planar)}))
	require.Equal(t, planar, floats(t, x))
	require.Equal(t, spec.NCHW, x.model.in[0].format(true))
}

func TestInputsSet_quantizes(t *testing.T) {
	x := open(t, quantized(0.5, -10, 1, 7), 0)
	nan := float32(math.NaN())
	// x / 0.5 is 0.5, 1.5, 2.5, large, -large, NaN, 3; halves go to the even neighbour: 0, 2, 2.
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{0.25, 0.75, 1.25, 1e9,
		-1e9, nan,
		1.5})}))
	require.NoError(t, run(x, nil))
	require.Equal(t, []int8{-10, -8, -8, 127, -10, -10, -7}, fetch[int8](t, x, 0),
		"Relu keeps what is at or above the zero point")
	require.Equal(t, []float32{0, 1, 1, 68.5, 0, 0, 1.5}, fetch[float32](t, x, 1))
}

func TestInputsSet_quantizedSources(t *testing.T) {
	// Mean 0, std 255, scale 1/255, zero point -128: exactly x - 128.
	m := quantized(1.0/255, -128, 1, 4).Meta("anynpu.input.x.std", "[255]")
	x := open(t, m, 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Uint8, spec.Undefined, []uint8{0, 1, 128, 255})}))
	require.NoError(t, run(x, nil))
	require.Equal(t, []int8{-128, -127, 0, 127}, fetch[int8](t, x, 0))

	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Int8, spec.Undefined, []int8{-128, -1, 0, 127})}))
	require.NoError(t, run(x, nil))
	require.Equal(t, []int8{-128, -1, 0, 127}, fetch[int8](t, x, 0), "taken as already quantized")

	in := inputOf(t, spec.Float32, spec.Undefined, []int8{-128, -1, 0, 127})
	in.passThrough = 1
	require.NoError(t, inputsSet(x, []Input{in}))
	require.NoError(t, run(x, nil))
	require.Equal(t, []int8{-128, -1, 0, 127}, fetch[int8](t, x, 0), "pass_through looks at no type")
}

func TestInputsSet_integers(t *testing.T) {
	x := open(t, identity(onnxtest.Int32, 4), 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Int64, spec.Undefined, []int64{-5, 7, math.MaxInt64,
		math.MinInt64})}))
	require.NoError(t, run(x, nil))
	require.Equal(t, []int32{-5, 7, math.MaxInt32, math.MinInt32}, fetch[int32](t, x, 0))
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.Undefined,
		[]float32{-1.9, 1.9, 1e20, float32(math.NaN())})}))
	require.NoError(t, run(x, nil))
	require.Equal(t, []int32{-1, 1, math.MaxInt32, 0}, fetch[int32](t, x, 0))

	b := open(t, identity(onnxtest.Bool, 3), 0)
	require.NoError(t, inputsSet(b, []Input{inputOf(t, spec.Bool, spec.Undefined, []uint8{0, 1, 1})}))
	require.NoError(t, run(b, nil))
	require.Equal(t, []uint8{0, 1, 1}, fetch[uint8](t, b, 0))
	require.NoError(t, inputsSet(b, []Input{inputOf(t, spec.Int8, spec.Undefined, []int8{0, -3, 9})}))
	require.NoError(t, run(b, nil))
	require.Equal(t, []uint8{0, 1, 1}, fetch[uint8](t, b, 0))
}

func TestInputsSet_refuses(t *testing.T) {
	x := open(t, identity(onnxtest.Float, 1, 2, 1, 3), 0)
	good := inputOf(t, spec.Uint8, spec.NHWC, nhwcBytes)
	with := func(change func(*Input)) []Input {
		in := good
		change(&in)
		return []Input{in}
	}
	for _, c := range []struct {
		name string
		in   []Input
		code spec.Code
		text string
	}{
		{"no inputs", nil, spec.ErrParam, "n_inputs is 0"},
		{"too many", []Input{good, good}, spec.ErrParam, "n_inputs is 2"},
		{"index", with(func(i *Input) { i.index = 1 }), spec.ErrInput, "inputs[0].index is 1"},
		{"NULL", with(func(i *Input) { i.buf = 0 }), spec.ErrParam, "inputs[0].buf is NULL"},
		{"forgotten type", with(func(i *Input) { i.kind = spec.Float32 }), spec.ErrParam,
			"6 bytes fit RKNN_TENSOR_INT8, RKNN_TENSOR_UINT8"},
		{"short", with(func(i *Input) { i.size = 5 }), spec.ErrParam, "inputs[0].size is 5"},
		{"pass_through of the reported type", with(func(i *Input) { i.passThrough = 1 }), spec.ErrParam, "12 bytes"},
		{"format", with(func(i *Input) { i.format = spec.NC1HWC2 }), spec.ErrFail, "inputs[0].fmt is RKNN_TENSOR_NC1HWC2"},
		{"type", with(func(i *Input) { i.kind = spec.Int4 }), spec.ErrFail, "inputs[0].type is RKNN_TENSOR_INT4"},
		{"no type", with(func(i *Input) { i.kind = 99 }), spec.ErrFail, "inputs[0].type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireCode(t, c.code, inputsSet(x, c.in), c.text)
			requireCode(t, spec.ErrFail, run(x, nil), "has no data for input")
		})
	}
	require.NoError(t, inputsSet(x, with(func(i *Input) { i.size = 6 })))
	require.Equal(t, planar, floats(t, x))
}

func TestInputsSet_linesLongerThanOne(t *testing.T) {
	const w = 3*convert.Line + 5
	src, want := make([]uint8, 2*w), make([]float32, 2*w)
	for i := range w {
		src[2*i], src[2*i+1] = uint8(i), uint8(3*i)
		want[i], want[w+i] = float32(uint8(i)), float32(uint8(3*i))
	}
	x := open(t, identity(onnxtest.Float, 1, 2, 1, w), 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Uint8, spec.NHWC, src)}))
	require.Equal(t, want, floats(t, x))
}

// Codes in an input's own type stay what they are, for every way of handing them over; UINT8 is bytes of images.
func TestInputs_codesInTheirOwnType(t *testing.T) {
	check(t, onnxtest.Int8, spec.Int8, []byte{3}, []int8{-128, -7, 0, 3, 4, 127}, []int8{-125, -4, 3, 6, 7, 127})
	check(t, onnxtest.Int16, spec.Int16, []byte{7, 0}, []int16{-32768, -300, 0, 7, 8, 32767},
		[]int16{-32761, -293, 7, 14, 15, 32767})
	check(t, onnxtest.Uint16, spec.Uint16, []byte{7, 0}, []uint16{0, 1, 7, 300, 40000, 65535},
		[]uint16{7, 8, 14, 307, 40007, 65535})
	check(t, onnxtest.Uint8, spec.Uint8, []byte{3}, []uint8{0, 1, 3, 4, 200, 255}, []uint8{3, 4, 6, 7, 203, 255})
}

// check hands codes over in each way to a network that is the identity on codes of scale 1 and this zero point; images
// is the result for the same numbers when they are no codes.
func check[T int8 | uint8 | int16 | uint16](t *testing.T, elem int64, kind spec.Type, zero []byte, codes, images []T) {
	t.Helper()
	m := (&onnxtest.Model{}).Scalar("s", onnxtest.Float, float32Bytes(1)).Scalar("z", elem, zero)
	m.Node("QuantizeLinear", "a", "x", "s", "z").Node("DequantizeLinear", "b", "a", "s", "z").Node("Identity", "c", "b")
	m.Node("QuantizeLinear", "d", "c", "s", "z").Node("DequantizeLinear", "y", "d", "s", "z")
	m.Input("x", onnxtest.Float, 1, 1, 2, 3).Output("y", onnxtest.Float, 1, 1, 2, 3).Meta("anynpu.input.x.mean", "0")
	want := codes
	if kind == spec.Uint8 {
		want = images
	}
	c := open(t, m, 0)
	require.NoError(t, inputsSet(c, []Input{inputOf(t, kind, spec.NHWC, codes)}))
	require.NoError(t, run(c, nil))
	require.Equal(t, want, fetch[T](t, c, 0), "rknn_inputs_set of %v", kind)
	raw := inputOf(t, spec.Float32, spec.NHWC, codes)
	raw.passThrough = 1
	require.NoError(t, inputsSet(c, []Input{raw}))
	require.NoError(t, run(c, nil))
	require.Equal(t, codes, fetch[T](t, c, 0), "pass_through of %v", kind)
	other := inputOf(t, spec.Int32, spec.NHWC, func() (v []int32) {
		for _, x := range codes {
			v = append(v, int32(x))
		}
		return v
	}())
	require.NoError(t, inputsSet(c, []Input{other}))
	require.NoError(t, run(c, nil))
	require.Equal(t, images, fetch[T](t, c, 0), "numbers are quantized")
	for _, query := range []spec.QueryCmd{spec.QueryInputAttr, spec.QueryNativeInputAttr, spec.QueryNativeNHWCInputAttr} {
		c := open(t, m, 0)
		a := attrOf(t, c, query)
		x := created(t, max(a.SizeWithStride, a.Size))
		copy(bytesAt(x), unsafe.Slice((*byte)(unsafe.Pointer(&codes[0])), len(codes)*int(unsafe.Sizeof(codes[0]))))
		require.NoError(t, setIoMem(c, x, &a))
		require.NoError(t, run(c, nil))
		require.Equal(t, want, fetch[T](t, c, 0), "rknn_set_io_mem of %v by query %v", kind, query)
	}
}
