package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// refusedModel demands that bytes are refused as a model and the variable cleared.
func (t *T) refusedModel(data []byte) {
	ctx := uintptr(77)
	t.Is(badModel, "init", &ctx, data, len(data), 0, nil)
	t.Check(ctx == 0, "the variable holds %#x", ctx)
}

// container is the form of a model that was compiled for a chip: a header of 64 bytes, which says how long the code is,
// code, and a description in JSON behind its length.
func container(chip string) []byte {
	const code = "code"
	text := `{"target_platform": ["` + chip + `"]}`
	b := make([]byte, 64)
	copy(b, "RKNN")
	b[8], b[16] = 6, byte(len(code)) // version of the container, length of the code
	b = binary.LittleEndian.AppendUint64(append(b, code...), uint64(len(text)))
	return append(b, text...)
}

var models = []*Rule{
	rule("2.a_bytes", "with size above 0 model is the bytes of a model; NULLs are PARAM_INVALID").
		OK("bytes", func(t *T) { t.works(t.Open(relu(1, 4), 0)) }).
		No("NULL_model", func(t *T) { t.Bad("init", new(uintptr), nil, 64, 0, nil) }).
		No("NULL_context", func(t *T) { t.Bad("init", nil, relu(1, 4).Bytes(), len(relu(1, 4).Bytes()), 0, nil) }),
	rule("2.b_path", "with size 0 model is a path; one that cannot be read is MODEL_INVALID").
		OK("path", func(t *T) {
			ctx := new(uintptr)
			t.OK("init", ctx, t.file("model.rknn", relu(1, 4).Bytes()), 0, 0, nil)
			t.works(t.Owned(*ctx))
		}).
		No("none", func(t *T) {
			t.Is(badModel, "init", new(uintptr), filepath.Join(t.Dir, "none.rknn"), 0, 0, nil)
			t.Says("none.rknn")
		}).
		No("folder", func(t *T) { t.Is(badModel, "init", new(uintptr), t.Dir, 0, 0, nil) }).
		No("empty_name", func(t *T) { t.Is(badModel, "init", new(uintptr), "", 0, 0, nil) }).
		No("NULL", func(t *T) { t.Bad("init", new(uintptr), nil, 0, 0, nil) }),
	rule("2.c_bytes_are_copied", "the bytes of a model may be freed when rknn_init has returned").
		OK("overwritten", func(t *T) {
			data, ctx := add(1, 4).Constant("unused", onnxFloat, rknn.RealBytes(1, 2), 2).Bytes(), new(uintptr)
			t.OK("init", ctx, data, len(data), 0, nil)
			t.Owned(*ctx)
			clear(data)
			t.OK("inputs_set", *ctx, 2, []input{t.Given(0, float32T, undefined, []float32{1, 2, 3, 4}),
				t.Given(1, float32T, undefined, []float32{5, 5, 5, 5})})
			t.Computes(*ctx, 6, 7, 8, 9)
		}).
		OK("large_constants", func(t *T) {
			const n = 1 << 15
			w := make([]float32, n)
			for i := range w {
				w[i] = float32(i % 1000)
			}
			m := (&model{}).Node("Add", "a", "x", "v").Node("Mul", "y", "a", "w").Constant("v", onnxFloat, rknn.RealBytes(w...),
				n)
			m.Constant("w", onnxFloat, rknn.RealBytes(w...), n)
			ctx := t.Open(m.Input("x", onnxFloat, n).Output("y", onnxFloat, n), 0)
			t.Set(ctx, float32T, undefined, make([]float32, n))
			t.Run(ctx)
			got := t.Floats(ctx)
			for i, v := range got {
				t.Check(v == w[i]*w[i], "element %d is %g, want %g", i, v, w[i]*w[i])
			}
		}).
		No("overwritten_before", func(t *T) {
			data := relu(1, 4).Bytes()
			clear(data)
			t.refusedModel(data)
		}),
	rule("2.d_context_on_failure", "the variable gets a handle that is not 0, and 0 when the model is refused").
		OK("handle", func(t *T) { t.Open(relu(1, 4), 0) }).
		No("cleared", func(t *T) { t.refusedModel([]byte("no model")) }),
	rule("2.e_foreign_models", "text, an empty or truncated file and an unknown operator are MODEL_INVALID; a model may "+
		"have any file name").
		OK("any_name", func(t *T) {
			ctx := new(uintptr)
			t.OK("init", ctx, t.file("weights.jpg", relu(1, 4).Bytes()), 0, 0, nil)
			t.works(t.Owned(*ctx))
		}).
		No("text", func(t *T) {
			t.refusedModel([]byte("hello, world"))
			t.Says("hello")
		}).
		No("empty", func(t *T) { t.Is(badModel, "init", new(uintptr), t.file("empty", nil), 0, 0, nil) }).
		No("truncated", func(t *T) {
			data := relu(1, 4).Bytes()
			for _, n := range []int{1, len(data) / 2, len(data) - 9} {
				t.refusedModel(data[:n])
			}
		}).
		No("unknown_operator", func(t *T) {
			t.refusedModel((&model{}).Node("Nonsense", "y", "x").Input("x", onnxFloat, 1).Output("y", onnxFloat, 1).Bytes())
			t.Says("Nonsense")
		}).
		No("open_dimension", func(t *T) {
			t.refusedModel(relu(1, -1).Bytes())
			t.Says("anynpu.input.x.shapes")
		}),
	rule("2.f_compiled_models", "a model compiled for a chip is MODEL_INVALID with its chip and what to do, unless "+
		"NAME.onnx lies beside it").
		Ours("an ONNX model beside a compiled one is loaded in its place").
		OK("beside", func(t *T) {
			ctx, path := new(uintptr), t.file("net.rknn", container("rk3566"))
			t.file("net.onnx", relu(1, 4).Bytes())
			t.OK("init", ctx, path, 0, 0, nil)
			t.Logs("net.rknn", "net.onnx")
			t.works(t.Owned(*ctx))
		}).
		OK("missing", func(t *T) {
			ctx := new(uintptr)
			t.file("gone.onnx", relu(1, 4).Bytes())
			t.OK("init", ctx, t.Dir+"/gone.rknn", 0, 0, nil)
			t.works(t.Owned(*ctx))
		}).
		No("alone", func(t *T) {
			t.Is(badModel, "init", new(uintptr), t.file("net.rknn", container("rk3566")), 0, 0, nil)
			t.Says("net.rknn", "rk3566", "ONNX")
		}).
		No("bytes", func(t *T) {
			t.refusedModel(container("rv1126"))
			t.Says("rv1126", "ONNX")
		}).
		No("beside_is_no_model", func(t *T) {
			path := t.file("net.rknn", container("rk3566"))
			t.file("net.onnx", container("rk3566"))
			t.Is(badModel, "init", new(uintptr), path, 0, 0, nil)
		}),
	rule("2.fa_model_map", "ANYNPU_MODEL_MAP names the ONNX file for a compiled model's SHA-256 or path; a file that is "+
		"none, and off, are MODEL_INVALID").Ours("the model map").
		OK("sha256", func(t *T) {
			data, ctx := container("rk3566"), new(uintptr)
			t.file("other.onnx", relu(1, 4).Bytes())
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", fmt.Appendf(nil, "# models\n%x -> other.onnx\n", sha256.Sum256(data))))
			t.OK("init", ctx, data, len(data), 0, nil)
			t.Logs("other.onnx")
			t.works(t.Owned(*ctx))
		}).
		OK("path", func(t *T) {
			ctx, path := new(uintptr), t.file("net.rknn", container("rk3566"))
			t.file("other.onnx", relu(1, 4).Bytes())
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", []byte("net.rknn -> other.onnx\n")))
			t.OK("init", ctx, path, 0, 0, nil)
			t.works(t.Owned(*ctx))
		}).
		No("off", func(t *T) {
			t.setenv("ANYNPU_MODEL_MAP", "off")
			t.file("net.onnx", relu(1, 4).Bytes())
			t.Is(badModel, "init", new(uintptr), t.file("net.rknn", container("rk3566")), 0, 0, nil)
			t.Says("ANYNPU_MODEL_MAP=off")
		}).
		No("not_named", func(t *T) {
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", []byte("another.rknn -> other.onnx\n")))
			t.refusedModel(container("rk3566"))
		}).
		No("another_hash", func(t *T) {
			data := container("rk3566")
			t.file("other.onnx", relu(1, 4).Bytes())
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", fmt.Appendf(nil, "%x -> other.onnx\n", sha256.Sum256(data[1:]))))
			t.refusedModel(data)
		}).
		No("no_map", func(t *T) {
			t.setenv("ANYNPU_MODEL_MAP", t.Dir+"/none")
			t.refusedModel(container("rk3566"))
			t.Says("ANYNPU_MODEL_MAP")
		}).
		No("no_file", func(t *T) {
			data := container("rk3566")
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", fmt.Appendf(nil, "%x -> none.onnx\n", sha256.Sum256(data))))
			t.refusedModel(data)
			t.Says("none.onnx")
		}),
	rule("2.fb_model_map_of_onnx", "ANYNPU_MODEL_MAP names a file for an ONNX model too, by SHA-256 or path, so that "+
		"metadata beside it serve programs that pass bytes").Ours("the model map").
		OK("sha256", func(t *T) {
			data, ctx := same(onnxFloat, 1, 4).Bytes(), new(uintptr)
			t.file("net.onnx", data)
			t.file("net.onnx.anynpu.json", []byte(`{"anynpu.input.x.std": [2]}`))
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", fmt.Appendf(nil, "%x -> net.onnx\n", sha256.Sum256(data))))
			t.OK("init", ctx, data, len(data), 0, nil)
			t.Set(t.Owned(*ctx), uint8T, undefined, []uint8{2, 4, 6, 8})
			t.Computes(*ctx, 1, 2, 3, 4)
			m := tensorMem{}
			t.OK("query", *ctx, queryDeviceMem, &m, structSizeMem)
			t.Check(int(m.Size) == len(data), "%d bytes", m.Size)
		}).
		OK("path", func(t *T) {
			ctx, path := new(uintptr), t.file("net.onnx", same(onnxFloat, 1, 4).Bytes())
			t.file("other.onnx", relu(1, 4).Bytes())
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", []byte("net.onnx -> other.onnx\n")))
			t.OK("init", ctx, path, 0, 0, nil)
			t.works(t.Owned(*ctx))
		}).
		OK("off", func(t *T) {
			t.setenv("ANYNPU_MODEL_MAP", "off")
			t.works(t.Open(relu(1, 4), 0))
		}).
		OK("no_map", func(t *T) {
			t.setenv("ANYNPU_MODEL_MAP", t.Dir+"/none")
			ctx := t.Open(relu(1, 4), 0)
			t.Logs("ANYNPU_MODEL_MAP", "/none")
			t.works(ctx)
		}).With("ANYNPU_LOG=").
		No("no_file", func(t *T) {
			data := relu(1, 4).Bytes()
			t.setenv("ANYNPU_MODEL_MAP", t.file("map", fmt.Appendf(nil, "%x -> none.onnx\n", sha256.Sum256(data))))
			t.refusedModel(data)
			t.Says("none.onnx")
		}),
	rule("2.g_extend", "may be NULL; for a path the place and size of the model are written to it").
		OK("NULL", func(t *T) { t.Open(relu(1, 4), 0) }).
		OK("path", func(t *T) {
			data := relu(1, 4).Bytes()
			e, ctx := &initExtend{Offset: 99, Size: 99}, new(uintptr)
			t.OK("init", ctx, t.file("model", data), 0, 0, e)
			t.Owned(*ctx)
			size := len(data)
			if t.Converted() { // whose size is another
				size = int(e.Size)
			}
			t.Check(e.Offset == 0 && int(e.Size) == size, "offset %d, size %d, want 0 and %d", e.Offset, e.Size, size)
		}).
		No("wanted", func(t *T) {
			t.Bad("init", new(uintptr), relu(1, 4).Bytes(), len(relu(1, 4).Bytes()), flagShareWeight, nil)
		}),
	rule("2.h_share_weight", "SHARE_WEIGHT_MEM wants a living context in extend->ctx").
		OK("living", func(t *T) {
			ctx := t.OpenWith(relu(1, 4), flagShareWeight, &initExtend{Context: t.Open(relu(1, 4), 0)})
			t.works(ctx)
		}).
		OK("source_ends_first", func(t *T) {
			source := t.Open(relu(1, 4), 0)
			ctx := t.OpenWith(relu(1, 4), flagShareWeight, &initExtend{Context: source})
			t.OK("destroy", source)
			t.works(ctx)
		}).
		No("none_or_ended", func(t *T) {
			data, old := relu(1, 4).Bytes(), t.Open(relu(1, 4), 0)
			t.OK("destroy", old)
			for _, h := range []uintptr{0, old} {
				t.Is(badContext, "init", new(uintptr), data, len(data), flagShareWeight, &initExtend{Context: h})
			}
		}),
	rule("2.i_zero_copy_model", "MODEL_BUFFER_ZERO_COPY reads the place of the model from extend, which must lie in the "+
		"buffer").
		OK("in_memory", func(t *T) {
			data := relu(1, 4).Bytes()
			first, ctx := t.Open(relu(1, 4), 0), new(uintptr)
			m := t.Mem(first, 4096)
			copy(m.Bytes()[100:], data)
			t.OK("init", ctx, m.Virt, 4096, flagZeroCopyModel, &initExtend{Offset: 100, Size: uint32(len(data)), FD: m.FD})
			t.works(t.Owned(*ctx))
		}).
		OK("without_a_place", func(t *T) {
			data, ctx := relu(1, 4).Bytes(), new(uintptr)
			t.OK("init", ctx, data, len(data), flagZeroCopyModel, nil)
			t.works(t.Owned(*ctx))
		}).
		No("outside", func(t *T) {
			data := relu(1, 4).Bytes()
			for _, e := range []initExtend{{Offset: 1, Size: uint32(len(data))}, {Offset: -1, Size: 8}, {Size: 1 << 31}} {
				t.Bad("init", new(uintptr), data, len(data), flagZeroCopyModel, &e)
			}
		}),
	rule("2.j_duplicate", "rknn_dup_context takes the address of a handle and gives a context with inputs, outputs and "+
		"runs of its own").
		OK("own_data", func(t *T) {
			a := t.Open(relu(1, 4), 0)
			t.Set(a, float32T, undefined, []float32{1, 2, 3, 4})
			b := t.Dup(a)
			t.Check(a != b, "the same handle")
			t.Set(b, float32T, undefined, []float32{5, 6, 7, 8})
			t.Run(a)
			t.Computes(b, 5, 6, 7, 8)
			t.Gives(a, 1, 2, 3, 4)
		}).
		No("no_inputs_yet", func(t *T) {
			a := t.Open(relu(1, 4), 0)
			t.works(a)
			t.Is(failed, "run", t.Dup(a), nil)
		}).
		No("NULL", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Bad("dup_context", nil, new(uintptr))
			t.Bad("dup_context", &ctx, nil)
		}).
		No("none_or_ended", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("destroy", ctx)
			t.Is(badContext, "dup_context", &ctx, new(uintptr))
			t.Is(badContext, "dup_context", new(uintptr), new(uintptr))
		}),
	rule("2.k_duplicate_inherits_flags", "a duplicate has the flags of its source").
		OK("times", func(t *T) {
			ctx := t.Dup(t.Open(relu(1, 4), flagPerf))
			t.works(ctx)
			d := perfDetail{}
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			t.Check(d.Length > 0, "no times")
		}).
		No("answers_only", func(t *T) { t.Is(failed, "run", t.Dup(t.Open(relu(1, 4), flagInfoOnly)), nil) }).
		No("outside", func(t *T) {
			ctx := t.Dup(t.Open(relu(1, 4), flagOutside))
			t.Set(ctx, float32T, undefined, []float32{1, 2, 3, 4})
			t.Is(failed, "run", ctx, nil)
		}),
	rule("2.l_duplicates_end_in_any_order", "source and duplicates may end in any order").
		OK("source_first", func(t *T) {
			a := t.Open(relu(1, 4), 0)
			b := t.Dup(a)
			c := t.Dup(b)
			t.OK("destroy", a)
			t.OK("destroy", b)
			t.works(c)
		}).
		No("ended", func(t *T) {
			a := t.Open(relu(1, 4), 0)
			b := t.Dup(a)
			t.OK("destroy", a)
			t.Is(badContext, "run", a, nil)
			t.works(b)
		}),
	rule("2.m_duplicates_are_cheap", "a duplicate per inference leaves nothing behind, and its constants are those of "+
		"the source").
		OK("per_inference", func(t *T) {
			a, before := t.Open(relu(1, 4), 0), 0
			for i := range 100 {
				from, to := &[]uintptr{a}[0], new(uintptr)
				t.OK("dup_context", from, to)
				t.works(*to)
				t.OK("destroy", *to)
				if now := t.Live()[1]; i == 0 {
					before = now
				} else {
					t.Check(now == before, "%d buffers after %d duplicates, %d after one", now, i+1, before)
				}
			}
		}).
		No("ended", func(t *T) {
			b := t.Dup(t.Open(relu(1, 4), 0))
			t.OK("destroy", b)
			t.Is(badContext, "destroy", b)
		}),
	rule("2.n_flags_without_effect", "priorities, SRAM, nice value, cache flags, GPU fallback, ASYNC and unknown bits "+
		"are accepted").
		OK("each", func(t *T) {
			for _, flags := range []uint32{0, 1, 2, 3, flagAsync, 0x400, 0x800, 0x1800, 0x2000, 0x4000, 0x8000, 0xc000, 0x40000,
				1 << 31} {
				t.works(t.Open(relu(1, 4), flags))
			}
		}).
		No("model_is_judged", func(t *T) {
			t.Is(badModel, "init", new(uintptr), []byte("no model"), 8, uint32(1<<31|0x2000|2), nil)
		}),
}
