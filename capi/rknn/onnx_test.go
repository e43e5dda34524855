package rknn

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/capi/boundary"
)

// ONNX element types.
const (
	onnxFloat = 1
	onnxUint8 = 2
	onnxInt8  = 3
	onnxInt32 = 6
	onnxInt64 = 7
	onnxBool  = 9
	onnxHalf  = 10
)

// onnxModel is an ONNX model under construction.
type onnxModel struct{ graph, props []byte }

func field(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func number(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

// value appends an input (field 11) or output (field 12); a size of -1 is open.
func (m *onnxModel) value(n protowire.Number, name string, elem int64, dims ...int64) *onnxModel {
	var shape []byte
	for _, d := range dims {
		dim := number(nil, 1, d)
		if d < 0 {
			dim = field(nil, 2, []byte("n"))
		}
		shape = field(shape, 1, dim)
	}
	tensor := field(number(nil, 1, elem), 2, shape)
	m.graph = field(m.graph, n, field(field(nil, 1, []byte(name)), 2, field(nil, 1, tensor)))
	return m
}

func (m *onnxModel) input(name string, elem int64, dims ...int64) *onnxModel {
	return m.value(11, name, elem, dims...)
}

func (m *onnxModel) output(name string, elem int64, dims ...int64) *onnxModel {
	return m.value(12, name, elem, dims...)
}

func (m *onnxModel) node(op, out string, in ...string) *onnxModel {
	var n []byte
	for _, i := range in {
		n = field(n, 1, []byte(i))
	}
	m.graph = field(m.graph, 1, field(field(field(n, 2, []byte(out)), 3, []byte(op+"_"+out)), 4, []byte(op)))
	return m
}

// scalar appends a constant of one element.
func (m *onnxModel) scalar(name string, elem int64, raw []byte) *onnxModel {
	m.graph = field(m.graph, 5, field(field(number(nil, 2, elem), 8, []byte(name)), 9, raw))
	return m
}

func (m *onnxModel) meta(key, value string) *onnxModel {
	m.props = field(m.props, 14, field(field(nil, 1, []byte(key)), 2, []byte(value)))
	return m
}

func (m *onnxModel) bytes() []byte {
	b := field(number(nil, 1, 8), 7, field(m.graph, 2, []byte("test")))
	return append(field(b, 8, number(nil, 2, 17)), m.props...)
}

// identity is y = x.
func identity(elem int64, dims ...int64) *onnxModel {
	return (&onnxModel{}).node("Identity", "y", "x").input("x", elem, dims...).output("y", elem, dims...)
}

// quantized is y = Relu(x) with x and y in int8 of this scale and zero point.
func quantized(scale float32, zero int8, dims ...int64) *onnxModel {
	m := (&onnxModel{}).scalar("s", onnxFloat, binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale)))
	m.scalar("z", onnxInt8, []byte{byte(zero)})
	m.node("QuantizeLinear", "a", "x", "s", "z").node("DequantizeLinear", "b", "a", "s", "z").node("Relu", "c", "b")
	m.node("QuantizeLinear", "d", "c", "s", "z").node("DequantizeLinear", "y", "d", "s", "z")
	return m.input("x", onnxFloat, dims...).output("y", onnxFloat, dims...)
}

// open makes a context that ends with the test.
func open(t *testing.T, m *onnxModel, flags uint32) *Context {
	t.Helper()
	loaded, err := load(m.bytes(), "", flags)
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
func inputOf[T any](t *testing.T, kind Type, f Format, v []T) Input {
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

func requireCode(t *testing.T, want Code, err error, parts ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, status(err), "%v", err)
	for _, p := range parts {
		require.ErrorContains(t, err, p)
	}
}
