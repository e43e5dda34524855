package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// nonZero is where x, 2 x 3 numbers, is not 0: as rows of an index each, [n,2], or as columns, [2,n].
func nonZero(rows bool) *model {
	m := (&model{}).Input("x", onnxFloat, 2, 3)
	if rows {
		return m.Node("NonZero", "z", "x").Node("Transpose", "y", "z").Output("y", onnxInt64, -1, 2)
	}
	return m.Node("NonZero", "y", "x").Output("y", onnxInt64, 2, -1)
}

// found runs with x and returns output 0, all of its bytes.
func (t *T) found(ctx uintptr, x ...float32) []int64 {
	t.Set(ctx, float32T, undefined, x)
	t.Run(ctx)
	return slices.Clone(cmem.As[int64](t.Raw(ctx, 0, 0)))
}

// openOutputs are outputs whose sizes a run alone tells.
var openOutputs = []*Rule{
	rule("6.l_open_outputs", "an output of open size is usable with a bound, anynpu.output.NAME.max_shape: attributes "+
		"have "+
		"it, results are filled with zeros, and CURRENT_OUTPUT_ATTR tells the size of the last run").
		OK("rows", func(t *T) {
			ctx := t.Open(nonZero(true).Meta("anynpu.output.y.max_shape", []int{6, 2}), 0)
			a := t.Attr(ctx, queryOutput, 0)
			t.Check(slices.Equal(a.Shape(), []uint32{6, 2}) && a.Elems == 12 && a.Size == 96, "dims %v, n_elems %d, size %d",
				a.Shape(), a.Elems, a.Size)
			got := t.found(ctx, 0, 5, 0, 7, 0, 8)
			t.Check(slices.Equal(got, []int64{0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0}), "got %v", got)
			a = t.Attr(ctx, queryCurrentOutput, 0)
			t.Check(slices.Equal(a.Shape(), []uint32{3, 2}) && a.Elems == 6 && a.Size == 48, "dims %v, n_elems %d, size %d",
				a.Shape(), a.Elems, a.Size)
			got = t.found(ctx, 0, 0, 0, 0, 0, 9)
			t.Check(slices.Equal(got, []int64{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "got %v", got)
			t.Check(slices.Equal(t.Attr(ctx, queryCurrentOutput, 0).Shape(), []uint32{1, 2}), "dims of the second run")
			t.Check(slices.Equal(t.Attr(ctx, queryOutput, 0).Shape(), []uint32{6, 2}), "the bound")
		}).
		OK("columns", func(t *T) { // elements lie at their places in the bound; w_stride is its width
			ctx := t.Open(nonZero(false).Meta("anynpu.output.y.max_shape", []int{2, 6}), 0)
			got := t.found(ctx, 0, 5, 0, 7, 0, 8)
			t.Check(slices.Equal(got, []int64{0, 1, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0}), "got %v", got)
			a := t.Attr(ctx, queryCurrentOutput, 0)
			t.Check(slices.Equal(a.Shape(), []uint32{2, 3}) && a.WStride == 6, "dims %v, w_stride %d", a.Shape(), a.WStride)
		}).
		OK("none", func(t *T) {
			ctx := t.Open(nonZero(true).Meta("anynpu.output.y.max_shape", []int{6, 2}), 0)
			got := t.found(ctx, 0, 0, 0, 0, 0, 0)
			t.Check(!slices.ContainsFunc(got, func(v int64) bool { return v != 0 }), "got %v", got)
			a := t.Attr(ctx, queryCurrentOutput, 0)
			t.Check(slices.Equal(a.Shape(), []uint32{0, 2}) && a.Elems == 0, "dims %v", a.Shape())
		}).
		OK("before_a_run", func(t *T) {
			ctx := t.Open(nonZero(true).Meta("anynpu.output.y.max_shape", []int{6, 2}), 0)
			t.Check(slices.Equal(t.Attr(ctx, queryCurrentOutput, 0).Shape(), []uint32{6, 2}), "dims")
		}).
		OK("bound_memory", func(t *T) {
			ctx := t.Open(nonZero(true).Meta("anynpu.output.y.max_shape", []int{6, 2}), 0)
			m := t.Mem(ctx, 96)
			t.OK("set_io_mem", ctx, cmem.Address(m), t.Attr(ctx, queryOutput, 0))
			rknn.Fill[int64](m, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)
			t.Set(ctx, float32T, undefined, []float32{1, 0, 0, 0, 0, 1})
			t.Run(ctx)
			got := cmem.As[int64](m.Bytes())
			t.Check(slices.Equal(got, []int64{0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0}), "got %v", got)
		}).
		OK("custom_operator", func(t *T) { // makes the largest shape, of which it fills what it likes
			m := (&model{}).Custom("Evens", "y", 1, 1, "x").Input("x", onnxFloat, 4).Output("y", onnxFloat, -1)
			ctx := t.Open(m.Meta("anynpu.output.y.max_shape", []int{4}), 0)
			set := t.opsOf(0, map[stage]func(opCall) int{stageCompute: func(c opCall) int {
				in, out := c.in[0].Floats(), c.out[0].Floats()
				clear(out)
				out[0], out[1] = in[0], in[2]
				return 0
			}})
			t.OK("register_custom_ops", ctx, set.op("Evens"), 1)
			t.Check(slices.Equal(t.Attr(ctx, queryOutput, 0).Shape(), []uint32{4}), "the bound")
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			t.Computes(ctx, 1, 3, 0, 0)
		}).
		No("no_bound", func(t *T) {
			t.refusedModel(nonZero(true).Bytes())
			t.Says("output \"y\" has the shape", "anynpu.output.y.max_shape")
		}).
		No("rank", func(t *T) {
			t.refusedModel(nonZero(true).Meta("anynpu.output.y.max_shape", []int{12}).Bytes())
			t.Says("anynpu.output.y.max_shape")
		}).
		No("beyond", func(t *T) {
			ctx := t.Open(nonZero(true).Meta("anynpu.output.y.max_shape", []int{2, 2}), 0)
			t.Set(ctx, float32T, undefined, []float32{0, 5, 0, 7, 0, 8})
			t.Is(failed, "run", ctx, nil)
			t.Says("output \"y\" has the shape [3 2]", "anynpu.output.y.max_shape", "[2 2]")
			got := t.found(ctx, 0, 5, 0, 0, 0, 8) // the next run is as any
			t.Check(slices.Equal(got, []int64{0, 1, 1, 2}), "got %v", got)
		}),
}
