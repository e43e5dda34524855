package rknn

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/abi"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// ask queries into a struct, of which the program says that it has size bytes.
func ask[T any](c *Context, cmd QueryCmd, v *T, size int) error {
	return query(c, cmd, unsafe.Slice((*byte)(unsafe.Pointer(v)), size))
}

func attrOf(t *testing.T, c *Context, cmd QueryCmd) TensorAttr {
	t.Helper()
	var a TensorAttr
	require.NoError(t, ask(c, cmd, &a, int(unsafe.Sizeof(a))))
	return a
}

func TestQuery_attributes(t *testing.T) {
	c := open(t, quantized(0.5, -10, 1, 20, 3, 4), 0)
	in := attrOf(t, c, QueryInputAttr)
	require.Equal(t, []uint32{1, 3, 4, 20, 0}, in.dims[:5])
	require.Equal(t, "x", textOf(in.name[:]))
	require.Equal(t, [...]uint32{4, 240, 240, 4, 240}, [...]uint32{in.rank, in.elems, in.size, in.wStride,
		in.sizeWithStride})
	require.Equal(t, NHWC, in.format)
	require.Equal(t, Int8, in.kind)
	require.Equal(t, QntAffine, in.qnt)
	require.Equal(t, int32(-10), in.zp)
	require.Equal(t, float32(0.5), in.scale)
	require.Equal(t, in, attrOf(t, c, QueryNativeInputAttr))
	require.Equal(t, in, attrOf(t, c, QueryNativeNHWCInputAttr))
	require.Equal(t, in, attrOf(t, c, QueryCurrentInputAttr))

	out, native, nhwc := attrOf(t, c, QueryOutputAttr), attrOf(t, c, QueryNativeOutputAttr),
		attrOf(t, c, QueryNativeNHWCOutputAttr)
	require.Equal(t, []uint32{1, 20, 3, 4, 0}, out.dims[:5])
	require.Equal(t, []uint32{1, 2, 3, 4, 16, 0}, native.dims[:6], "20 channels in two groups of 16 bytes")
	require.Equal(t, []uint32{1, 3, 4, 20}, nhwc.dims[:4])
	require.Equal(t, [...]Format{NCHW, NC1HWC2, NHWC}, [...]Format{out.format, native.format, nhwc.format})
	require.Equal(t, [...]uint32{240, 384, 384, 384}, [...]uint32{out.size, out.sizeWithStride, native.size, native.elems})
	require.Zero(t, out.wStride)

	real := attrOf(t, open(t, identity(onnxtest.Float, 2, 3, 4), 0), QueryInputAttr)
	require.Equal(t, Undefined, real.format)
	require.Equal(t, [...]Type{Float16}, [...]Type{real.kind})
	require.Equal(t, QntAffine, real.qnt)
	require.Equal(t, float32(1), real.scale)
	require.Equal(t, uint32(48), real.size)
	ints := attrOf(t, open(t, identity(onnxtest.Int64, 2), 0), QueryOutputAttr)
	require.Equal(t, Int64, ints.kind)
	require.Equal(t, QntNone, ints.qnt)
}

func TestQuery_sizes(t *testing.T) {
	c := open(t, identity(onnxtest.Float, 1, 2), 0)
	type large struct {
		attr TensorAttr
		rest [64]byte
	}
	for _, s := range []struct{ size, written int }{{376, 376}, {440, 376}, {372, 372}, {360, 360}} {
		v := large{}
		for i := range v.rest {
			v.rest[i] = 0xaa
		}
		v.attr.hStride, v.attr.passThrough = 0xaaaaaaaa, 0xaa
		require.NoError(t, ask(c, QueryInputAttr, &v, s.size), "size %d", s.size)
		require.Equal(t, uint32(2), v.attr.elems)
		require.Equal(t, s.written == 376, v.attr.hStride == 0, "size %d", s.size)
		require.Equal(t, s.written >= 372, v.attr.passThrough == 0, "size %d", s.size)
		require.Equal(t, byte(0xaa), v.rest[0])
	}
	var v large
	v.attr.elems = 77
	for _, size := range []int{4, 359, 371, 375} {
		requireCode(t, errParam, ask(c, QueryInputAttr, &v, size), "376")
	}
	require.Equal(t, uint32(77), v.attr.elems, "untouched")
	v.attr.index = 1
	requireCode(t, errParam, ask(c, QueryInputAttr, &v, 376), "info->index is 1")
	requireCode(t, errParam, ask(c, 18, &v, 376), "cmd is 18")

	var m MemSize
	require.NoError(t, ask(c, QueryMemSize, &m, 8))
	require.NotZero(t, m.weight)
	require.NotZero(t, m.internal)
	require.Zero(t, m.dma)
	requireCode(t, errParam, ask(c, QueryMemSize, &m, 63), "64")
	var n InOutNum
	requireCode(t, errParam, ask(c, QueryInOutNum, &n, 7), "8")
	require.NoError(t, ask(c, QueryInOutNum, &n, 8))
	require.Equal(t, InOutNum{1, 1}, n)
	requireCode(t, errParam, ask(c, QueryPerfDetail, &PerfDetail{}, 15), "16")
	requireCode(t, errParam, ask(c, QueryInputDynamicRange, &v, 376), "33040")
}

func TestQuery_dynamicRange(t *testing.T) {
	c := open(t, dynamicModel(), 0)
	r := &InputRange{}
	require.NoError(t, ask(c, QueryInputDynamicRange, r, 33040))
	require.Equal(t, [...]uint32{3, 4}, [...]uint32{r.shapes, r.rank})
	require.Equal(t, NHWC, r.format)
	require.Equal(t, []uint32{1, 4, 2, 1, 0}, r.dims[1][:5])
	require.NoError(t, setInputShapes(c, []TensorAttr{shapeAttr(NHWC, 1, 1, 2, 1)}))
	current, largest := attrOf(t, c, QueryCurrentOutputAttr), attrOf(t, c, QueryOutputAttr)
	require.Equal(t, []uint32{1, 1, 1, 2}, current.dims[:4])
	require.Equal(t, []uint32{1, 1, 4, 2}, largest.dims[:4])
	requireCode(t, errModel, ask(open(t, identity(onnxtest.Float, 2), 0), QueryInputDynamicRange, r, 33040))
}

func TestQuery_perfDetail(t *testing.T) {
	c := open(t, quantized(0.5, 0, 1, 4), flagCollectPerf)
	var d PerfDetail
	text := func() string {
		require.NoError(t, ask(c, QueryPerfDetail, &d, 16))
		require.NotZero(t, d.data)
		s, err := cString(cPointer(d.data))
		require.NoError(t, err)
		require.Len(t, s, int(d.length))
		return s
	}
	require.Empty(t, text())
	require.NoError(t, inputsSet(c, []Input{inputOf(t, Int8, Undefined, []int8{1, 2, 3, 4})}))
	require.NoError(t, run(c, nil))
	s := text()
	for _, want := range []string{"ID ", "OpType", "FullName", "InputOperator", "OutputOperator",
		"Total Operator Elapsed Per Frame Time(us): ", "Operator Time Consuming Ranking Table", "(1,4)"} {
		require.Contains(t, s, want)
	}
	require.Contains(t, strings.ToLower(s), "relu")
}

func TestVersion_isTheTables(t *testing.T) {
	assert.True(t, strings.HasPrefix(apiVersion, abi.RKNN.Version+" "), "%s, the table says %s", apiVersion, abi.RKNN.Version)
}
