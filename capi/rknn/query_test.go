package rknn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/abi"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// ask queries into a struct, of which the program says that it has size bytes.
func ask[T any](c *Context, cmd spec.QueryCmd, v *T, size int) error {
	return query(c, cmd, unsafe.Slice((*byte)(unsafe.Pointer(v)), size))
}

func attrOf(t *testing.T, c *Context, cmd spec.QueryCmd) spec.TensorAttr {
	t.Helper()
	var a spec.TensorAttr
	require.NoError(t, ask(c, cmd, &a, int(unsafe.Sizeof(a))))
	return a
}

func TestQuery_attributes(t *testing.T) {
	c := open(t, quantized(0.5, -10, 1, 20, 3, 4), 0)
	in := attrOf(t, c, spec.QueryInputAttr)
	require.Equal(t, []uint32{1, 3, 4, 20, 0}, in.Dims[:5])
	require.Equal(t, "x", textOf(in.Name[:]))
	require.Equal(t, [...]uint32{4, 240, 240, 4, 240}, [...]uint32{in.Rank, in.Elems, in.Size, in.WStride,
		in.SizeWithStride})
	require.Equal(t, spec.NHWC, in.Format)
	require.Equal(t, spec.Int8, in.Kind)
	require.Equal(t, spec.QntAffine, in.Qnt)
	require.Equal(t, int32(-10), in.Zp)
	require.Equal(t, float32(0.5), in.Scale)
	require.Equal(t, in, attrOf(t, c, spec.QueryNativeInputAttr))
	require.Equal(t, in, attrOf(t, c, spec.QueryNativeNHWCInputAttr))
	require.Equal(t, in, attrOf(t, c, spec.QueryCurrentInputAttr))

	out, native, nhwc := attrOf(t, c, spec.QueryOutputAttr), attrOf(t, c, spec.QueryNativeOutputAttr),
		attrOf(t, c, spec.QueryNativeNHWCOutputAttr)
	require.Equal(t, []uint32{1, 20, 3, 4, 0}, out.Dims[:5])
	require.Equal(t, []uint32{1, 2, 3, 4, 16, 0}, native.Dims[:6], "20 channels in two groups of 16 bytes")
	require.Equal(t, []uint32{1, 3, 4, 20}, nhwc.Dims[:4])
	require.Equal(t, [...]spec.Format{spec.NCHW, spec.NC1HWC2, spec.NHWC}, [...]spec.Format{out.Format, native.Format,
		nhwc.Format})
	require.Equal(t, [...]uint32{240, 384, 384, 384}, [...]uint32{out.Size, out.SizeWithStride, native.Size, native.Elems})
	require.Zero(t, out.WStride)

	real := attrOf(t, open(t, identity(onnxtest.Float, 2, 3, 4), 0), spec.QueryInputAttr)
	require.Equal(t, spec.Undefined, real.Format)
	require.Equal(t, [...]spec.Type{spec.Float16}, [...]spec.Type{real.Kind})
	require.Equal(t, spec.QntAffine, real.Qnt)
	require.Equal(t, float32(1), real.Scale)
	require.Equal(t, uint32(48), real.Size)
	ints := attrOf(t, open(t, identity(onnxtest.Int64, 2), 0), spec.QueryOutputAttr)
	require.Equal(t, spec.Int64, ints.Kind)
	require.Equal(t, spec.QntNone, ints.Qnt)
}

func TestQuery_sizes(t *testing.T) {
	c := open(t, identity(onnxtest.Float, 1, 2), 0)
	type large struct {
		attr spec.TensorAttr
		rest [64]byte
	}
	for _, s := range []struct{ size, written int }{{376, 376}, {440, 376}, {372, 372}, {360, 360}} {
		v := large{}
		for i := range v.rest {
			v.rest[i] = 0xaa
		}
		v.attr.HStride, v.attr.PassThrough = 0xaaaaaaaa, 0xaa
		require.NoError(t, ask(c, spec.QueryInputAttr, &v, s.size), "size %d", s.size)
		require.Equal(t, uint32(2), v.attr.Elems)
		require.Equal(t, s.written == 376, v.attr.HStride == 0, "size %d", s.size)
		require.Equal(t, s.written >= 372, v.attr.PassThrough == 0, "size %d", s.size)
		require.Equal(t, byte(0xaa), v.rest[0])
	}
	var v large
	v.attr.Elems = 77
	for _, size := range []int{4, 359, 371, 375} {
		requireCode(t, spec.ErrParam, ask(c, spec.QueryInputAttr, &v, size), "376")
	}
	require.Equal(t, uint32(77), v.attr.Elems, "untouched")
	v.attr.Index = 1
	requireCode(t, spec.ErrParam, ask(c, spec.QueryInputAttr, &v, 376), "info->index is 1")
	requireCode(t, spec.ErrParam, ask(c, 18, &v, 376), "cmd is 18")

	var m MemSize
	require.NoError(t, ask(c, spec.QueryMemSize, &m, 8))
	require.NotZero(t, m.weight)
	require.NotZero(t, m.internal)
	require.Zero(t, m.dma)
	requireCode(t, spec.ErrParam, ask(c, spec.QueryMemSize, &m, 63), "64")
	var n spec.InOutNum
	requireCode(t, spec.ErrParam, ask(c, spec.QueryInOutNum, &n, 7), "8")
	require.NoError(t, ask(c, spec.QueryInOutNum, &n, 8))
	require.Equal(t, spec.InOutNum{Inputs: 1, Outputs: 1}, n)
	requireCode(t, spec.ErrParam, ask(c, spec.QueryPerfDetail, &PerfDetail{}, 15), "16")
	requireCode(t, spec.ErrParam, ask(c, spec.QueryInputDynamicRange, &v, 376), "33040")
}

func TestQuery_dynamicRange(t *testing.T) {
	c := open(t, dynamicModel(), 0)
	r := &InputRange{}
	require.NoError(t, ask(c, spec.QueryInputDynamicRange, r, 33040))
	require.Equal(t, [...]uint32{3, 4}, [...]uint32{r.shapes, r.rank})
	require.Equal(t, spec.NHWC, r.format)
	require.Equal(t, []uint32{1, 4, 2, 1, 0}, r.dims[1][:5])
	require.NoError(t, setInputShapes(c, []spec.TensorAttr{shapeAttr(spec.NHWC, 1, 1, 2, 1)}))
	current, largest := attrOf(t, c, spec.QueryCurrentOutputAttr), attrOf(t, c, spec.QueryOutputAttr)
	require.Equal(t, []uint32{1, 1, 1, 2}, current.Dims[:4])
	require.Equal(t, []uint32{1, 1, 4, 2}, largest.Dims[:4])
	requireCode(t, spec.ErrModel, ask(open(t, identity(onnxtest.Float, 2), 0), spec.QueryInputDynamicRange, r, 33040))
}

func TestQuery_perfDetail(t *testing.T) {
	c := open(t, quantized(0.5, 0, 1, 4), flagCollectPerf)
	var d PerfDetail
	text := func() string {
		require.NoError(t, ask(c, spec.QueryPerfDetail, &d, 16))
		require.NotZero(t, d.data)
		s, err := boundary.CString(cPointer(d.data))
		require.NoError(t, err)
		require.Len(t, s, int(d.length))
		return s
	}
	require.Empty(t, text())
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Int8, spec.Undefined, []int8{1, 2, 3, 4})}))
	require.NoError(t, run(c, nil))
	s := text()
	for _, want := range []string{"ID ", "OpType", "FullName", "InputOperator", "OutputOperator",
		"Total Operator Elapsed Per Frame Time(us): ", "Operator Time Consuming Ranking Table", "(1,4)"} {
		require.Contains(t, s, want)
	}
	require.Contains(t, strings.ToLower(s), "relu")
}

// TestVersion_isNoOlderThanTheHeaders: runtimes newer than the newest public headers serve programs with those.
func TestVersion_isNoOlderThanTheHeaders(t *testing.T) {
	numbers := func(text string) []int {
		list := make([]int, 3)
		_, err := fmt.Sscanf(text, "%d.%d.%d", &list[0], &list[1], &list[2])
		require.NoError(t, err)
		return list
	}
	assert.LessOrEqual(t, slices.Compare(numbers(abi.RKNN.Version), numbers(apiVersion)), 0, "%s, the table says %s",
		apiVersion, abi.RKNN.Version)
}
