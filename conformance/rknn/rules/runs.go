package rules

import (
	"encoding/binary"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// ran is a context of relu(1, 4) that has computed 0, 2, 0, 4.
func (t *T) ran() uintptr {
	ctx := t.Open(relu(1, 4), 0)
	t.works(ctx)
	return ctx
}

func (t *T) refusedOutput(code int, o output, parts ...string) {
	list := []output{o}
	t.Is(code, "outputs_get", t.ran(), 1, list, nil)
	t.Says(parts...)
}

// threeOutputs is a context that has computed Relu, Neg and Abs of -1, 2.
func (t *T) threeOutputs() uintptr {
	ctx := t.Open((&model{}).Node("Relu", "y", "x").Node("Neg", "n", "x").Node("Abs", "a", "x").Input("x", onnxFloat, 2).
		Output("y", onnxFloat, 2).Output("n", onnxFloat, 2).Output("a", onnxFloat, 2), 0)
	t.Set(ctx, float32T, undefined, []float32{-1, 2})
	t.Run(ctx)
	t.TakeLog()
	return ctx
}

// fetches demands that entries with these indices get these outputs of threeOutputs.
func (t *T) fetches(ctx uintptr, indices, want []uint32) {
	o := make([]output, len(indices))
	for k, i := range indices {
		o[k] = output{WantFloat: 1, Index: i}
	}
	t.OK("outputs_get", ctx, len(o), o, nil)
	for k, i := range want {
		got := cmem.Span[float32](o[k].Buf, 2)
		t.Check(slices.Equal(got, [][]float32{{0, 2}, {1, -2}, {1, 2}}[i]), "indices %v: entry %d is %v, want output %d",
			indices, k, got, i)
	}
	t.OK("outputs_release", ctx, len(o), o)
}

// indexed is y = x[i] of four elements; i is an input if it is nil.
func indexed(op string, i *int64) *model {
	m := (&model{}).Node(op, "y", "x", "i").Input("x", onnxFloat, 4)
	if i == nil {
		m.Input("i", onnxInt64, 1)
	} else {
		m.Constant("i", onnxInt64, binary.LittleEndian.AppendUint64(nil, uint64(*i)), 1)
	}
	if op == "GatherND" {
		return m.Output("y", onnxFloat)
	}
	return m.Output("y", onnxFloat, 1)
}

// movedAs gathers elements of x, which has four, by four indices and scatters x by them, both as elements of a type.
func movedAs(elem, index int64, at ...int64) *model {
	m := (&model{}).Input("x", onnxFloat, 4).Constant("w", onnxInt64, cmem.Bytes(at), 4)
	m.Op("Cast", []string{"i"}, []string{"w"}, rknn.Attrs{"to": int(index)})
	m.Op("Cast", []string{"e"}, []string{"x"}, rknn.Attrs{"to": int(elem)})
	m.Node("GatherElements", "g", "e", "i").Node("ScatterElements", "s", "e", "i", "e")
	m.Op("Concat", []string{"c"}, []string{"g", "s"}, rknn.Attrs{"axis": 0})
	m.Op("Cast", []string{"y"}, []string{"c"}, rknn.Attrs{"to": onnxFloat})
	return m.Output("y", onnxFloat, 8)
}

var runs = []*Rule{
	rule("4.ra_run", "extend may be NULL; a run blocks and wants data for every input").
		OK("NULL", func(t *T) { t.works(t.Open(relu(1, 4), 0)) }).
		No("no_data", func(t *T) {
			t.Is(failed, "run", t.Open(relu(1, 4), 0), nil)
			t.Says(`"x"`)
		}),
	rule("4.rb_frame_id", "extend gets the number of the run, from 1, per context; what else it asks for has no effect").
		OK("counted", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			for i := range 3 {
				e := runExtend{Frame: 99, NonBlock: int32(i % 2), TimeoutMS: int32(i) - 1, Fence: -1}
				t.OK("run", ctx, &e)
				t.Check(e.Frame == uint64(i)+1 && e.Fence == -1, "frame_id %d, fence_fd %d", e.Frame, e.Fence)
				t.Gives(ctx, 1, 2, 3, 4)
			}
			e := runExtend{}
			d := t.Dup(ctx)
			t.Set(d, float32T, undefined, []float32{1, 2, 3, 4})
			t.OK("run", d, &e)
			t.Check(e.Frame == 1, "frame_id %d in a duplicate", e.Frame)
		}).
		No("failed_runs_do_not_count", func(t *T) {
			ctx, e := t.Open(relu(1, 4), 0), runExtend{Frame: 9}
			t.Is(failed, "run", ctx, &e)
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			t.OK("run", ctx, &e)
			t.Check(e.Frame == 1, "frame_id %d", e.Frame)
		}),
	rule("4.rbb_failed_runs", "results fetched after a run that failed are never given as those of a new run").
		OK("older", func(t *T) {
			ctx := t.ran()
			m := t.Mem(ctx, 16)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			rknn.Fill(m, float32(5), 6, 7, 8)
			t.OK("destroy_mem", ctx, cmem.Address(m))
			e, x := runExtend{Frame: 77}, outputExtend{Frame: 77}
			t.Check(t.Code("run", ctx, &e) != success, "a run with destroyed memory succeeds")
			o := []output{{WantFloat: 1}}
			if t.Code("outputs_get", ctx, 1, o, &x) == success {
				t.Check(x.Frame == 1, "frame_id is %d, want that of the run that succeeded, 1", x.Frame)
				t.Check(slices.Equal(cmem.Span[float32](o[0].Buf, 4), []float32{0, 2, 0, 4}), "other results than those of frame 1")
				t.OK("outputs_release", ctx, 1, o)
			}
			t.Set(ctx, float32T, undefined, []float32{1, -2, 3, -4})
			t.OK("run", ctx, &e)
			t.Check(e.Frame == 2, "frame_id is %d, want 2", e.Frame)
			t.Gives(ctx, 1, 0, 3, 0)
		}).
		No("other_shape", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			x, _ := elements(24)
			t.Set(ctx, float32T, nhwc, x)
			t.Run(ctx)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 2, 3, 2))
			t.Is(failed, "outputs_get", ctx, 1, []output{{WantFloat: 1}}, nil)
			t.Is(failed, "run", ctx, nil)
			t.Is(failed, "outputs_get", ctx, 1, []output{{WantFloat: 1}}, nil)
		}),
	rule("4.rbc_indices", "indices count from behind if they are negative; one outside of its axis is an error, of the "+
		"model where it is constant, of the run where it is given").
		OK("inside", func(t *T) {
			for _, op := range []string{"Gather", "GatherElements", "GatherND"} {
				for _, i := range []int64{-4, -1, 0, 3} {
					want := []float32{10, 11, 12, 13}[(i+4)%4]
					ctx := t.Open(indexed(op, &i), 0)
					t.Set(ctx, float32T, undefined, []float32{10, 11, 12, 13})
					t.Computes(ctx, want)
					ctx = t.Open(indexed(op, nil), 0)
					t.OK("inputs_set", ctx, 2, []input{t.Given(0, float32T, undefined, []float32{10, 11, 12, 13}),
						t.Given(1, int64T, undefined, []int64{i})})
					t.Computes(ctx, want)
				}
			}
		}).
		OK("every_width", func(t *T) {
			for _, elem := range []int64{onnxUint8, onnxInt16, onnxInt32, onnxInt64} {
				for _, index := range []int64{onnxInt32, onnxInt64} {
					ctx := t.Open(movedAs(elem, index, 3, -4, 1, 1), 0)
					t.Set(ctx, float32T, undefined, []float32{10, 11, 12, 13})
					t.Computes(ctx, 13, 10, 11, 11, 11, 13, 12, 10)
				}
			}
		}).
		No("outside", func(t *T) {
			for _, op := range []string{"Gather", "GatherElements", "GatherND"} {
				for _, i := range []int64{4, -5, 1 << 40, -1 << 62} {
					ctx, m := new(uintptr), indexed(op, &i).Bytes()
					if t.Code("init", ctx, m, len(m), 0, nil) == success {
						t.Owned(*ctx)
						t.Set(*ctx, float32T, undefined, []float32{10, 11, 12, 13})
						t.Check(t.Code("run", *ctx, nil) != success, "%s takes the constant index %d of 4 elements", op, i)
					}
					given := t.Open(indexed(op, nil), 0)
					t.OK("inputs_set", given, 2, []input{t.Given(0, float32T, undefined, []float32{10, 11, 12, 13}),
						t.Given(1, int64T, undefined, []int64{i})})
					t.Is(failed, "run", given, nil)
				}
			}
		}),
	rule("4.rba_older_run_extend", "of rknn_run_extend only frame_id is written: older headers' structs have 8 or 16 "+
		"bytes").
		OK("first_bytes", func(t *T) {
			ctx, b := t.Open(relu(1, 4), 0), make([]byte, 24)
			for i := range b {
				b[i] = 0xaa
			}
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			t.OK("run", ctx, b)
			t.Check(b[0] == 1 && untouched(b[8:]), "% x", b)
		}).
		No("wait_too", func(t *T) {
			b := []byte{0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
				0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa}
			t.Is(failed, "wait", t.Open(relu(1, 4), 0), b)
			t.Check(untouched(b), "% x", b)
		}),
	rule("4.rc_wait", "rknn_wait after a run succeeds at once, before one it is FAIL").
		OK("after", func(t *T) {
			ctx, e := t.ran(), runExtend{}
			t.OK("wait", ctx, &e)
			t.Check(e.Frame == 1, "frame_id %d", e.Frame)
			t.OK("wait", ctx, nil)
		}).
		No("before", func(t *T) { t.Is(failed, "wait", t.Open(relu(1, 4), 0), nil) }),
	rule("4.rd_async_emulation", "a run with non_block, then rknn_wait, gives the same results").
		OK("same", func(t *T) {
			ctx := t.Open(relu(1, 4), flagAsync)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			t.OK("run", ctx, &runExtend{NonBlock: 1})
			t.OK("wait", ctx, nil)
			t.Gives(ctx, 0, 2, 0, 4)
		}).
		No("no_data", func(t *T) { t.Is(failed, "run", t.Open(relu(1, 4), flagAsync), &runExtend{NonBlock: 1}) }),
	rule("4.sa_n_outputs", "1 to all outputs may be fetched at once; none, more and NULL are PARAM_INVALID").
		OK("one", func(t *T) { t.Gives(t.ran(), 0, 2, 0, 4) }).
		No("none", func(t *T) { t.Bad("outputs_get", t.ran(), 0, []output{{}}, nil) }).
		No("more", func(t *T) {
			t.Bad("outputs_get", t.ran(), 2, []output{{}, {}}, nil)
			t.Says("n_outputs is 2")
		}).
		No("NULL", func(t *T) { t.Bad("outputs_get", t.ran(), 1, nil, nil) }),
	rule("4.sb_index", "indices that are distinct and those of outputs select them, in any order and for some of them; "+
		"a buffer of the program for another index is OUTPUT_INVALID").
		OK("any", func(t *T) {
			ctx := t.threeOutputs()
			for _, order := range [][]uint32{{0, 1, 2}, {2, 0, 1}, {1, 2}, {2}, {1}, {0}} {
				t.fetches(ctx, order, order)
			}
		}).
		No("none", func(t *T) {
			b := make([]byte, 64)
			t.refusedOutput(badOutput, output{Index: 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 64},
				"outputs[0].index is 1")
			t.refusedOutput(badOutput, output{Index: 1<<32 - 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 64})
		}),
	rule("4.sba_index_not_set", "without is_prealloc index need not be set: where indices repeat or are none, entry i "+
		"is output i").
		OK("zero", func(t *T) {
			ctx := t.threeOutputs()
			t.fetches(ctx, []uint32{0, 0, 0}, []uint32{0, 1, 2})
			t.fetches(ctx, []uint32{0, 0}, []uint32{0, 1})
			t.Silent()
		}).
		OK("arbitrary", func(t *T) {
			ctx := t.threeOutputs()
			t.fetches(ctx, []uint32{0xcccccccc, 7, 1}, []uint32{0, 1, 2})
			t.fetches(ctx, []uint32{3}, []uint32{0})
			t.fetches(ctx, []uint32{1, 2, 1}, []uint32{0, 1, 2})
		}).
		OK("own_buffers", func(t *T) {
			ctx, a, b := t.threeOutputs(), []float32{9, 9}, []float32{9, 9}
			t.TakeLog()
			o := []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(a), Size: 8},
				{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 8}}
			t.OK("outputs_get", ctx, 2, o, nil)
			t.Check(slices.Equal(a, []float32{0, 2}) && slices.Equal(b, []float32{1, -2}), "%v, %v", a, b)
			t.Logs("entry i is output i", "entry=1 index=0")
			t.OK("outputs_get", ctx, 2, o, nil)
			t.Silent()
		}).
		No("too_many", func(t *T) {
			t.Bad("outputs_get", t.threeOutputs(), 4, make([]output, 4), nil)
		}),
	rule("4.sc_order_of_elements", "results are contiguous, NCHW at rank 4").
		OK("nchw", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nhwc, image)
			t.Computes(ctx, planes...)
		}).
		No("before_run", func(t *T) {
			ctx := t.images()
			t.Set(ctx, uint8T, nhwc, image)
			t.Is(failed, "outputs_get", ctx, 1, []output{{WantFloat: 1}}, nil)
		}),
	rule("4.sd_want_float", "want_float gives float32: (q - zp) x scale of codes, reals as they are").
		OK("codes", func(t *T) {
			ctx := t.Open(quantized(0.5, -10, 1, 4), 0)
			t.Set(ctx, int8T, undefined, []int8{-10, -9, 0, 127})
			t.Computes(ctx, 0, 0.5, 5, 68.5)
		}).
		OK("halves", func(t *T) {
			ctx := t.Open(same(onnxHalf, 3), 0)
			t.Set(ctx, float32T, undefined, []float32{1.5, -0.25, 1024})
			t.Computes(ctx, 1.5, -0.25, 1024)
		}).
		OK("integers", func(t *T) {
			ctx := t.Open(same(onnxInt64, 2), 0)
			t.Set(ctx, int64T, undefined, []int64{-7, 1 << 20})
			t.Computes(ctx, -7, 1<<20)
		}).
		No("size_of_floats", func(t *T) {
			b := make([]byte, 8)
			t.refusedOutput(badOutput, output{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 8},
				"outputs[0].size is 8",
				"16 bytes", "want_float 1")
		}),
	rule("4.se_raw", "want_float 0 gives the type of the attributes: codes, FLOAT16 for reals, integers").
		OK("each", func(t *T) {
			ctx := t.Open(quantized(0.5, -10, 1, 3), 0)
			t.Set(ctx, int8T, undefined, []int8{-20, -10, 5})
			t.Run(ctx)
			t.Check(slices.Equal(cmem.As[int8](t.Raw(ctx, 0, 0)), []int8{-10, -10, 5}), "codes")
			ctx = t.ran()
			t.Check(slices.Equal(cmem.As[uint16](t.Raw(ctx, 0, 0)), rknn.Halves(0, 2, 0, 4)), "halves")
			ctx = t.Open(same(onnxInt64, 2), 0)
			t.Set(ctx, int64T, undefined, []int64{-7, 1 << 40})
			t.Run(ctx)
			t.Check(slices.Equal(cmem.As[int64](t.Raw(ctx, 0, 0)), []int64{-7, 1 << 40}), "integers")
		}).
		No("short", func(t *T) {
			b := make([]byte, 8)
			t.refusedOutput(badOutput, output{IsPrealloc: 1, Buf: cmem.First(b), Size: 7}, "8 bytes", "want_float 0")
		}),
	rule("4.sf_made_buffers", "with is_prealloc 0 the library makes a buffer per call and sets buf and size; it stays "+
		"until its release or the context's end").
		OK("independent", func(t *T) {
			ctx, a, b := t.ran(), []output{{WantFloat: 1}}, []output{{WantFloat: 1}}
			t.OK("outputs_get", ctx, 1, a, nil)
			t.Set(ctx, float32T, undefined, []float32{9, 9, 9, 9})
			t.Run(ctx)
			t.OK("outputs_get", ctx, 1, b, nil)
			t.Check(a[0].Size == 16 && a[0].Buf != b[0].Buf && slices.Equal(cmem.Span[float32](a[0].Buf, 4), []float32{0, 2, 0,
				4}),
				"the first buffer changed")
			t.OK("outputs_release", ctx, 1, a)
			t.Check(slices.Equal(cmem.Span[float32](b[0].Buf, 4), []float32{9, 9, 9, 9}), "the second buffer changed")
			t.OK("outputs_release", ctx, 1, b)
		}).
		No("no_results", func(t *T) {
			o := []output{{WantFloat: 1, Size: 5}}
			t.Is(failed, "outputs_get", t.Open(relu(1, 4), 0), 1, o, nil)
			t.Check(o[0] == output{WantFloat: 1, Size: 5}, "%+v", o[0])
		}),
	rule("4.sg_own_buffers", "with is_prealloc 1 results go to the program's buffer; NULL and too small are "+
		"OUTPUT_INVALID").
		OK("filled", func(t *T) {
			b := []float32{9, 9, 9, 9, 9}
			o := []output{{WantFloat: 1, IsPrealloc: 1, Buf: cmem.First(b), Size: 20}}
			ctx := t.ran()
			t.OK("outputs_get", ctx, 1, o, nil)
			t.Check(slices.Equal(b, []float32{0, 2, 0, 4, 9}) && o[0].Buf == cmem.First(b), "%v", b)
			t.OK("outputs_release", ctx, 1, o)
			t.Check(o[0].Buf == cmem.First(b) && b[1] == 2, "the release touched it")
		}).
		No("NULL", func(t *T) {
			t.refusedOutput(badOutput, output{IsPrealloc: 1, Size: 64}, "outputs[0].buf is NULL", "is_prealloc is 1")
		}).
		No("small", func(t *T) {
			b := []byte{9, 9, 9, 9, 9, 9, 9, 9}
			t.refusedOutput(badOutput, output{IsPrealloc: 1, Buf: cmem.First(b), Size: 7})
			t.Check(b[0] == 9, "something was written")
		}),
	rule("4.sh_get_again", "results may be fetched again and again after one run").
		OK("again", func(t *T) {
			ctx := t.ran()
			for range 3 {
				t.Gives(ctx, 0, 2, 0, 4)
			}
		}).
		No("failed_run", func(t *T) {
			ctx := t.Open(add(1, 2), 0)
			t.OK("inputs_set", ctx, 1, []input{t.Given(0, float32T, undefined, []float32{1, 2})})
			t.Is(failed, "run", ctx, nil)
			t.Is(failed, "outputs_get", ctx, 1, []output{{}}, nil)
		}),
	rule("4.si_frame_of_results", "rknn_output_extend gets the number of the run").
		OK("number", func(t *T) {
			ctx, e, o := t.ran(), outputExtend{}, []output{{}}
			t.Run(ctx)
			t.OK("outputs_get", ctx, 1, o, &e)
			t.Check(e.Frame == 2, "frame_id %d", e.Frame)
			t.OK("outputs_release", ctx, 1, o)
		}).
		No("before_run", func(t *T) { t.Is(failed, "outputs_get", t.Open(relu(1, 4), 0), 1, []output{{}}, &outputExtend{}) }),
	rule("4.ta_release", "frees what the context made and clears buf; counts of none or more are PARAM_INVALID").
		OK("clears", func(t *T) {
			ctx, o := t.ran(), []output{{}}
			t.OK("outputs_get", ctx, 1, o, nil)
			t.OK("outputs_release", ctx, 1, o)
			t.Check(o[0].Buf == 0, "buf is %#x", o[0].Buf)
		}).
		No("counts", func(t *T) {
			ctx := t.ran()
			t.Bad("outputs_release", ctx, 0, []output{{}})
			t.Bad("outputs_release", ctx, 2, []output{{}, {}})
			t.Bad("outputs_release", ctx, 1, nil)
		}),
	rule("4.taa_release_looks_at_is_prealloc", "a buffer that is said to be the program's is not freed").
		OK("left", func(t *T) {
			ctx, o := t.ran(), []output{{WantFloat: 1}}
			t.OK("outputs_get", ctx, 1, o, nil)
			o[0].IsPrealloc = 1
			t.OK("outputs_release", ctx, 1, o)
			t.Check(o[0].Buf != 0 && slices.Equal(cmem.Span[float32](o[0].Buf, 4), []float32{0, 2, 0, 4}), "it was freed")
			o[0].IsPrealloc = 0
			t.OK("outputs_release", ctx, 1, o)
			t.Check(o[0].Buf == 0, "it was not freed")
		}).
		No("counts", func(t *T) { t.Bad("outputs_release", t.ran(), 2, []output{{IsPrealloc: 1}, {IsPrealloc: 1}}) }),
	rule("4.tb_release_is_harmless", "a second release, a foreign pointer and the buffers of another context are left "+
		"alone").
		OK("left", func(t *T) {
			ctx, other, o, mine := t.ran(), t.ran(), []output{{WantFloat: 1}}, make([]byte, 64)
			t.OK("outputs_get", ctx, 1, o, nil)
			kept := o[0].Buf
			t.OK("outputs_release", other, 1, []output{{Buf: kept}})
			t.Check(slices.Equal(cmem.Span[float32](kept, 4), []float32{0, 2, 0, 4}), "another context freed it")
			t.OK("outputs_release", ctx, 1, []output{{Buf: cmem.First(mine)}})
			t.OK("outputs_release", ctx, 1, o)
			t.OK("outputs_release", ctx, 1, []output{{Buf: kept}})
			t.OK("outputs_release", ctx, 1, o)
		}).
		No("ended_context", func(t *T) {
			ctx := t.ran()
			t.OK("destroy", ctx)
			t.Is(badContext, "outputs_release", ctx, 1, []output{{}})
		}),
}
