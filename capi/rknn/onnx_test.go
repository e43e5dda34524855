package rknn

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// identity is y = x.
func identity(elem int64, dims ...int64) *onnxtest.Model {
	return (&onnxtest.Model{}).Node("Identity", "y", "x").Input("x", elem, dims...).Output("y", elem, dims...)
}

// quantized is y = Relu(x) with x and y in int8 of this scale and zero point.
func quantized(scale float32, zero int8, dims ...int64) *onnxtest.Model {
	m := (&onnxtest.Model{}).Scalar("s", onnxtest.Float, binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale)))
	m.Scalar("z", onnxtest.Int8, []byte{byte(zero)})
	m.Node("QuantizeLinear", "a", "x", "s", "z").Node("DequantizeLinear", "b", "a", "s", "z").Node("Relu", "c", "b")
	m.Node("QuantizeLinear", "d", "c", "s", "z").Node("DequantizeLinear", "y", "d", "s", "z")
	return m.Input("x", onnxtest.Float, dims...).Output("y", onnxtest.Float, dims...)
}

// open makes a context that ends with the test.
func open(t *testing.T, m *onnxtest.Model, flags uint32) *Context {
	t.Helper()
	loaded, err := load(m.Bytes(), "", flags)
	require.NoError(t, err)
	c, err := newContext(loaded, flags, loaded.run)
	require.NoError(t, err)
	t.Cleanup(c.release)
	return c
}

// cMemory copies v to C memory that ends with the test.
func cMemory[T any](t *testing.T, v []T) uintptr {
	var b boundary.Block
	boundary.SetSlice(&b, v)
	t.Cleanup(b.Free)
	return b.Addr()
}

// inputOf is an rknn_input of all of v.
func inputOf[T any](t *testing.T, kind spec.Type, f spec.Format, v []T) Input {
	var e T
	return Input{buf: cMemory(t, v), size: uint32(len(v)) * uint32(unsafe.Sizeof(e)), kind: kind, format: f}
}

// floats runs and returns output 0 as reals.
func floats(t *testing.T, c *Context) []float32 {
	t.Helper()
	require.NoError(t, run(c, nil))
	return fetch[float32](t, c, 1)
}

// fetch returns output 0.
func fetch[T any](t *testing.T, c *Context, wantFloat uint8) []T {
	t.Helper()
	o := []Output{{wantFloat: wantFloat}}
	require.NoError(t, outputsGet(c, o, nil))
	var e T
	got := append([]T(nil), unsafe.Slice((*T)(cPointer(o[0].buf)), int(o[0].size)/int(unsafe.Sizeof(e)))...)
	require.NoError(t, outputsRelease(c, o))
	require.Zero(t, o[0].buf)
	return got
}

func requireCode(t *testing.T, want spec.Code, err error, parts ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, status(err), "%v", err)
	for _, p := range parts {
		require.ErrorContains(t, err, p)
	}
}
