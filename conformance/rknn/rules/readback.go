package rules

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var readBack = []*Rule{
	rule("3.va_answers_of_duplicates", "a duplicate, and a second context of the same bytes, answer every query as the "+
		"source does, but for what runs have told").
		OK("same", func(t *T) {
			m := dynamic().Meta("anynpu.custom_string", "board 7")
			a := t.Open(m, 0)
			t.OK("set_input_shapes", a, 1, shapeAttr(0, nhwc, 1, 4, 3, 2))
			t.Set(a, float32T, nhwc, make([]float32, 24))
			t.Run(a)
			for _, b := range []uintptr{t.Dup(a), t.Open(m, 0)} {
				t.OK("set_input_shapes", b, 1, shapeAttr(0, nhwc, 1, 4, 3, 2))
				for cmd, size := range structs {
					if cmd == queryPerfDetail || cmd == queryPerfRun {
						continue
					}
					x, y := t.answered(success, a, cmd, size), t.answered(success, b, cmd, size)
					t.Check(slices.Equal(x, y), "command %d differs", cmd)
				}
				v := int64(-1)
				t.OK("query", b, queryPerfRun, &v, 8)
				t.Check(v == 0, "a context that never ran tells of a run of %d us", v)
			}
		}).
		No("range_of_a_static_one", func(t *T) {
			t.Is(badModel, "query", t.Dup(t.Open(relu(1, 4), 0)), queryRange, new(inputRange), structSizeRange)
		}),
	rule("3.vb_times_of_a_context", "PERF_RUN and PERF_DETAIL are those of the context's own last run").
		OK("own", func(t *T) {
			a, b := t.Open(powers(), flagPerf), t.Open(relu(1, 4), flagPerf)
			x, _ := numbered(1)
			t.Set(a, float32T, undefined, x)
			t.Run(a)
			first, again, d := int64(0), int64(0), perfDetail{}
			t.OK("query", a, queryPerfRun, &first, 8)
			t.works(b)
			t.OK("query", a, queryPerfRun, &again, 8)
			t.Check(first > 0 && first == again, "%d us, after a run of another context %d", first, again)
			t.OK("query", b, queryPerfDetail, &d, 16)
			t.Check(!strings.Contains(cmem.Text(d.Data), "MatMul") && strings.Contains(cmem.Text(d.Data), "Relu"),
				"rows of another context:\n%s", cmem.Text(d.Data))
		}).
		No("ended", func(t *T) {
			a := t.ran()
			t.OK("destroy", a)
			t.Is(badContext, "query", a, queryPerfRun, new(int64), 8)
		}),
	rule("3.vc_long_strings", "a custom string takes all but one of the bytes there are, and is cut off there").
		OK("lengths", func(t *T) {
			for _, n := range []int{1, 1022, 1023, 1024, 3000} {
				long := strings.Repeat("0123456789abcdef_", 200)[:n]
				b := make([]byte, 1024)
				for i := range b {
					b[i] = 'x'
				}
				t.OK("query", t.Open(relu(1, 4).Meta("anynpu.custom_string", long), 0), queryString, b, 1024)
				t.Check(rknn.TextOf(b) == long[:min(n, 1023)] && b[1023] == 0, "%d bytes of %d", len(rknn.TextOf(b)), n)
			}
		}).
		No("small", func(t *T) {
			t.answered(badParam, t.Open(relu(1, 4).Meta("anynpu.custom_string", "s"), 0), queryString, 1000)
		}),
	rule("3.vd_attributes_after_bindings", "attributes with which memory is bound are the program's: queries answer as "+
		"before").
		OK("unchanged", func(t *T) {
			ctx := t.Open(quantized(0.5, 3, 2, 3, 4, 5), 0)
			var before, after []tensorAttr
			all := func() (list []tensorAttr) {
				for _, cmd := range []int{1, 2, 8, 9, 10, 11, 14, 15, 16, 17} {
					list = append(list, *t.Attr(ctx, cmd, 0))
				}
				return list
			}
			before = all()
			a := *t.Attr(ctx, queryInput, 0)
			a.Kind, a.PassThrough, a.HStride, a.Zp, a.Scale, a.WStride = uint8T, 1, 6, 77, 7, 99
			t.OK("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 2*6*5*3)), &a)
			t.Bind(ctx, t.Mem(ctx, 2*5*4*5*16), t.Attr(ctx, queryNHWCOutput, 0), float32T, -1)
			t.Run(ctx)
			after = all()
			t.Check(slices.Equal(before, after), "%+v, before %+v", after, before)
			t.Attr(ctx, queryInput, 0)
		}).
		No("refused_ones_too", func(t *T) {
			ctx := t.Open(quantized(0.5, 3, 2, 3, 4, 5), 0)
			before, a := *t.Attr(ctx, queryInput, 0), *t.Attr(ctx, queryInput, 0)
			a.Kind = 99
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 4096)), &a)
			t.Check(*t.Attr(ctx, queryInput, 0) == before, "the attributes changed")
		}),
}
