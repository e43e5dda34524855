package rknn

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// placed binds memory to input and output 0 of x as types say and runs. It returns the output's memory.
func placed(t *testing.T, c *Context, in, out spec.Type, f spec.Format, data []byte) *spec.TensorMem {
	t.Helper()
	a, b := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryOutputAttr)
	a.Kind, b.Kind = in, out
	if len(c.inDims(0)) == 4 {
		b.Format = f
	}
	x, y := created(t, uint32(len(data))), created(t, 4*b.Elems+64)
	copy(bytesAt(x), data)
	require.NoError(t, setIoMem(c, x, &a))
	require.NoError(t, setIoMem(c, y, &b))
	require.NoError(t, run(c, nil))
	return y
}

func float32Bytes(v ...float32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestSetIoMem_usedInPlaceWhereNothingChanges(t *testing.T) {
	relu := func(dims ...int64) *onnxtest.Model {
		return (&onnxtest.Model{}).Node("Relu", "y", "x").Input("x", onnxtest.Float, dims...).
			Output("y", onnxtest.Float, dims...)
	}
	four := float32Bytes(1, -2, 3, -4)
	for _, c := range []struct {
		name    string
		model   *onnxtest.Model
		in, out spec.Type
		format  spec.Format
		data    []byte
		want    []float32
		input   bool // in place
		output  bool
	}{
		{"reals", relu(1, 4), spec.Float32, spec.Float32, spec.Undefined, four, []float32{1, 0, 3, 0}, true, true},
		{"one channel in NHWC", relu(1, 1, 2, 2), spec.Float32, spec.Float32, spec.NHWC, four, []float32{1, 0, 3, 0}, true,
			true},
		{"two channels", relu(1, 2, 1, 2), spec.Float32, spec.Float32, spec.NCHW, four, []float32{1, 3, 0, 0}, true, true},
		{"two channels back", relu(1, 2, 1, 2), spec.Float32, spec.Float32, spec.NHWC, four, []float32{1, 0, 3, 0}, true,
			false},
		{"first and third channel swapped", relu(1, 3, 1, 1).Meta("anynpu.input.x.pixel", "rgb").
			Meta("anynpu.input.x.order", "bgr"),
			spec.Float32, spec.Float32, spec.NHWC, float32Bytes(1, -2, 3), []float32{3, 0, 1}, false, true},
		{"two images", relu(2, 2, 1, 1), spec.Float32, spec.Float32, spec.NCHW, four, []float32{1, 0, 3, 0}, true, true},
		{"one pixel", relu(1, 4, 1, 1), spec.Float32, spec.Float32, spec.NHWC, four, []float32{1, 0, 3, 0}, true, true},
		{"bytes", relu(1, 4), spec.Uint8, spec.Float32, spec.Undefined, []byte{1, 2, 3, 4}, []float32{1, 2, 3, 4}, false,
			true},
		{"mean", relu(1, 4).Meta("anynpu.input.x.mean", "[1]"), spec.Float32, spec.Float32, spec.Undefined, four,
			[]float32{0, 0, 2, 0}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := open(t, c.model, 0)
			y := placed(t, x, c.in, c.out, c.format, c.data)
			got, err := tensor.ReadFloat32s(bytesAt(y)[:4*len(c.want)], len(c.want))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Equal(t, c.input, !x.exec.Staged(0), "no memory of the context's own for the input")
			require.Equal(t, c.output, x.out[0].placed != nil)
			stats := x.exec.Stats()
			require.Equal(t, c.input, stats.CopiedIn == 0, "%d bytes copied in", stats.CopiedIn)
			require.Equal(t, c.output, stats.CopiedOut == 0, "%d bytes copied out", stats.CopiedOut)

			require.NoError(t, destroyMem(0, y))
			if c.output {
				requireCode(t, spec.ErrFail, outputsGet(x, []Output{{wantFloat: 1}}, nil), "destroyed")
			}
			requireCode(t, spec.ErrFail, run(x, nil), "destroyed")
		})
	}
}

func TestSetIoMem_inPlaceResultsForOutputsGet(t *testing.T) {
	x := open(t, identity(onnxtest.Float, 1, 4), 0)
	y := placed(t, x, spec.Float32, spec.Float32, spec.Undefined, float32Bytes(1, 2, 3, 4))
	require.Equal(t, []float32{1, 2, 3, 4}, fetch[float32](t, x, 1))
	require.Equal(t, []uint16{0x3c00, 0x4000, 0x4200, 0x4400}, fetch[uint16](t, x, 0))
	// Into the bound memory itself: float16 over the float32 that they come from.
	o := []Output{{isPrealloc: 1, buf: y.Virt + 6, size: 8}}
	require.NoError(t, outputsGet(x, o, nil))
	require.Equal(t, []byte{0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44}, bytesAt(y)[6:14])
}

func TestSetIoMem_sharedMemoryIsCopied(t *testing.T) {
	m := (&onnxtest.Model{}).Node("Neg", "y", "x").Node("Neg", "z", "y").Input("x", onnxtest.Float, 1, 4).
		Output("y", onnxtest.Float, 1,
			4).Output("z", onnxtest.Float, 1, 4)
	c := open(t, m, 0)
	memory := created(t, 32)
	copy(bytesAt(memory), float32Bytes(1, 2, 3, 4))
	in, y, z := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryOutputAttr), attrOf(t, c, spec.QueryOutputAttr)
	setText(z.Name[:], "z")
	in.Kind, y.Kind, z.Kind = spec.Float32, spec.Float32, spec.Float32
	for _, a := range []*spec.TensorAttr{&in, &y, &z} {
		require.NoError(t, setIoMem(c, memory, a))
	}
	require.NoError(t, run(c, nil))
	require.Equal(t, float32Bytes(1, 2, 3, 4), bytesAt(memory)[:16], "the last output wins")
	require.Nil(t, c.out[0].placed)
	require.Nil(t, c.out[1].placed)
}
