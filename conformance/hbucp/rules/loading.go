package rules

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var functions = []*Rule{
	rule("2.a_exports", "the 31 functions of the headers are exported").
		OK("functions", func(t *T) {
			for _, f := range hbucp.API.Functions {
				t.Check(t.Has(f), "%s is missing", f)
			}
			t.Ptr("UCPGetVersion")
		}).
		No("others", func(t *T) {
			t.Check(!t.Exports("hbDNNRoiInferV2"), "a function that no header has")
			t.Judged(false)
		}),
	rule("2.b_versions", "versions and the chip are texts that stay").
		OK("texts", func(t *T) {
			for _, f := range []string{"UCPGetVersion", "DNNGetVersion", "UCPGetSocName"} {
				a, b := t.Ptr(f), t.Ptr(f)
				t.Check(a == b && cmem.Text(a) != "", "%s: %q and %q", f, cmem.Text(a), cmem.Text(b))
			}
			v := cmem.Text(t.Ptr("UCPGetVersion"))
			t.Check(strings.HasPrefix(cmem.Text(t.Ptr("DNNGetVersion")), v+"_("), "want both of one version")
		}).
		No("model", func(t *T) { t.Bad("DNNGetInputCount", number(), t.Ptr("DNNGetVersion")) }),
	rule("2.c_chip", "the chip's name says which alignment programs take").
		OK("known", func(t *T) {
			name := cmem.Text(t.Ptr("UCPGetSocName"))
			t.Check(strings.Contains(name, "S100") || strings.Contains(name, "S600"), "%q", name)
		}).
		No("unknown", func(t *T) {
			t.Check(!strings.Contains(cmem.Text(t.Ptr("UCPGetSocName")), "S100"), "S100 where the target is S600")
			t.Judged(false)
		}).With("ANYNPU_HBDNN_TARGET=s600"),
	rule("9.a_error_text", "both functions for errors have a text for each code, and one for what is none").
		OK("codes", func(t *T) {
			texts := map[string]bool{}
			for code := range hbucp.API.Codes {
				text := t.Ptr("UCPGetErrorDesc", int32(code))
				t.Check(text == t.Ptr("DNNGetErrorDesc", int32(code)), "two texts for %d", code)
				texts[cmem.Text(text)] = true
			}
			t.Check(len(texts) == len(hbucp.API.Codes), "%d texts for %d codes", len(texts), len(hbucp.API.Codes))
		}).
		No("unknown", func(t *T) {
			a, b := cmem.Text(t.Ptr("UCPGetErrorDesc", int32(1))), cmem.Text(t.Ptr("DNNGetErrorDesc", int32(-6000001)))
			t.Check(a == b && a != "", "%q and %q", a, b)
			t.Judged(false)
		}),
	rule("9.b_generations", "the names that both generations have write this one's structs").
		OK("structs", func(t *T) {
			p := t.Port(true, t.Model(hbucp.Relu(1, 2, 3, 4, 5, 6, 7, 8, 9)), 0)
			t.Check(p.Valid.Rank == 9 && p.Stride[8] == 4 && p.Valid.Dims[8] == 9, "%+v", p)
		}).
		No("older", func(t *T) {
			p := &hbucp.Properties{Valid: hbucp.Shape{Rank: 77}}
			t.Bad("DNNGetInputTensorProperties", p, t.Model(hbucp.Relu(1, 4)), 1)
			t.Check(p.Valid.Rank == 77, "a refused call writes")
		}),
}

// files passes names of files to hbDNNInitializeFromFiles.
func (t *T) files(want int, names ...string) uintptr {
	var list []uintptr
	for _, n := range names {
		b := append([]byte(n), 0)
		t.Keep(b)
		list = append(list, cmem.First(b))
	}
	pack := new(uintptr)
	t.Is(want, "DNNInitializeFromFiles", pack, list, len(names))
	t.Check((want == 0) == (*pack != 0), "the handle is %#x", *pack)
	t.Later(func() { t.Code("DNNRelease", *pack) })
	return *pack
}

var loading = []*Rule{
	rule("5.1.a_files", "models of all files are in one pack").
		OK("two", func(t *T) {
			pack := t.files(0, t.file("b.onnx", hbucp.Relu(1, 2).Bytes()), t.file("a.onnx", hbucp.Relu(1, 3).Bytes()))
			names := t.Names(pack) // a converted model has its name inside
			t.Check(len(names) > 0 && t.Converted() || slices.Equal(names, []string{"b", "a"}), "names %v", names)
		}).
		No("one_missing", func(t *T) {
			t.files(hbucp.FileOpenFailed, t.file("a.onnx", hbucp.Relu(1, 2).Bytes()), t.Dir+"/none.onnx")
			t.Says("none.onnx")
		}).
		No("none", func(t *T) { t.files(hbucp.InvalidArgument) }),
	rule("5.1.b_pack_list", "a file may name several models").Ours("pack lists").
		OK("list", func(t *T) {
			t.file("a.onnx", hbucp.Relu(1, 2).Bytes())
			t.file("b.onnx", hbucp.Relu(1, 2).Bytes())
			pack := t.files(0, t.file("list.json", []byte(`{"anynpu.models": ["a.onnx", "b.onnx"]}`)))
			t.Check(slices.Equal(t.Names(pack), []string{"a", "b"}), "names %v", t.Names(pack))
		}).
		No("itself", func(t *T) {
			t.files(hbucp.ModelInvalid, t.file("list.json", []byte(`{"anynpu.models": ["list.json"]}`)))
		}),
	rule("5.1.c_ddr", "models come from memory, which may change afterwards").
		OK("overwritten", func(t *T) {
			b := hbucp.Relu(1, 4).Bytes()
			pack := address()
			t.OK("DNNInitializeFromDDR", pack, []uintptr{cmem.First(b)}, []int32{int32(len(b))}, 1)
			t.Later(func() { t.Code("DNNRelease", *pack) })
			clear(b)
			r := t.On(t.Named(*pack, t.Names(*pack)[0]))
			hbucp.Fill[float32](r, -1, 2, -3, 4)
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 0, 2, 0, 4)
		}).
		No("no_bytes", func(t *T) {
			b := hbucp.Relu(1, 4).Bytes()
			t.Bad("DNNInitializeFromDDR", address(), []uintptr{cmem.First(b)}, []int32{0}, 1)
			t.Bad("DNNInitializeFromDDR", address(), []uintptr{0}, []int32{4}, 1)
			t.Is(hbucp.ModelInvalid, "DNNInitializeFromDDR", address(), []uintptr{cmem.First(b)}, []int32{int32(len(b) / 2)}, 1)
		}),
	rule("5.1.d_no_model", "what is no model is HB_UCP_MODEL_INVALID").
		OK("any_name", func(t *T) { t.files(0, t.file("any.name", hbucp.Relu(1, 2).Bytes())) }).
		No("text", func(t *T) { t.files(hbucp.ModelInvalid, t.file("a.onnx", []byte("no model"))) }),
	rule("5.1.e_compiled", "for a compiled model the ONNX file beside it is loaded, also where the compiled one is not there").
		Ours("an ONNX model beside a compiled one is loaded in its place").
		OK("beside", func(t *T) {
			t.file("net.onnx", hbucp.Relu(1, 5).Bytes())
			for _, name := range []string{"net.hbm", "net.bin", t.file("net.hbm", []byte("compiled"))[len(t.Dir)+1:]} {
				p := t.Port(true, t.Named(t.files(0, t.Dir+"/"+name), "net"), 0)
				t.Check(p.Valid.Dims[1] == 5, "shape %v", p.Valid.Sizes())
			}
		}).
		No("alone", func(t *T) {
			t.files(hbucp.ModelIncompatible, t.file("net.hbm", []byte("compiled")))
			t.Says("net.onnx", "ANYNPU_MODEL_MAP")
		}).
		No("missing", func(t *T) { t.files(hbucp.FileOpenFailed, t.Dir+"/none.hbm") }),
	rule("5.1.f_folder", "a folder is no file").
		OK("in_it", func(t *T) { t.files(0, t.file("a.onnx", hbucp.Relu(1, 2).Bytes())) }).
		No("folder", func(t *T) {
			code := t.Code("DNNInitializeFromFiles", address(), []uintptr{t.text(t.Dir)}, 1)
			t.Check(code == hbucp.FileOpenFailed || code == hbucp.ModelInvalid, "code %d", code)
			t.Judged(false)
		}),
	rule("5.1.g_release", "a pack is released once, and everything of it ends then").
		OK("once", func(t *T) {
			pack := address()
			t.Load(0, pack, hbucp.Relu(1, 4))
			t.OK("DNNRelease", *pack)
		}).
		No("twice", func(t *T) {
			pack := address()
			t.Load(0, pack, hbucp.Relu(1, 4))
			model := t.Named(*pack, t.Names(*pack)[0])
			t.OK("DNNRelease", *pack)
			t.Bad("DNNRelease", *pack)
			t.Bad("DNNGetInputCount", number(), model)
		}),
	rule("5.1.h_in_use", "a pack stays while a task is not released, finished or not").
		OK("released", func(t *T) {
			pack := t.Pack(hbucp.Relu(1, 4))
			task := t.Compute(t.On(t.Named(pack, t.Names(pack)[0])))
			t.OK("UCPReleaseTask", task)
			t.OK("DNNRelease", pack)
		}).
		No("done", func(t *T) {
			pack := t.Pack(hbucp.Relu(1, 4))
			r := t.On(t.Named(pack, t.Names(pack)[0]))
			task := t.Compute(r)
			t.Is(hbucp.ModelInUse, "DNNRelease", pack)
			t.OK("DNNGetInputCount", number(), r.Model)
			t.OK("UCPReleaseTask", task)
			t.OK("DNNRelease", pack)
		}).
		No("never_submitted", func(t *T) {
			pack := t.Pack(hbucp.Relu(1, 4))
			task := t.Make(t.On(t.Named(pack, t.Names(pack)[0])))
			t.Is(hbucp.ModelInUse, "DNNRelease", pack)
			t.OK("UCPReleaseTask", task)
		}),
	rule("9.c_names", "of models with one name the first is kept").
		OK("first", func(t *T) {
			pack := t.Pack(hbucp.Relu(1, 2).Meta("anynpu.name", "a"), hbucp.Relu(1, 3).Meta("anynpu.name", "a"),
				hbucp.Relu(1, 4).Meta("anynpu.name", "b"))
			t.Check(slices.Equal(t.Names(pack), []string{"a", "b"}), "names %v", t.Names(pack))
			t.Check(t.Port(true, t.Named(pack, "a"), 0).Valid.Dims[1] == 2, "another model is called a")
		}).
		No("unknown", func(t *T) {
			t.Bad("DNNGetModelHandle", address(), t.Pack(hbucp.Relu(1, 2)), "none")
			t.Says("none")
		}),
}

// text is a C string that lives as long as the case.
func (t *T) text(s string) uintptr {
	b := append([]byte(s), 0)
	t.Keep(b)
	return cmem.First(b)
}

// desc calls a function for descriptions with its arguments behind the three results.
func (t *T) desc(function string, args ...any) (string, uint32) {
	text, size, kind := address(), length(), number()
	t.OK(function, append([]any{text, size, kind}, args...)...)
	t.Check(*text != 0 && *kind == 1, "%s: text %#x of type %d", function, *text, *kind)
	return cmem.Text(*text), *size
}

var queries = []*Rule{
	rule("5.1.i_properties", "properties say shape, type, strides and the bytes to allocate").
		OK("numbers", func(t *T) {
			model := t.Model(hbucp.Relu(1, 1000))
			for _, input := range []bool{true, false} {
				p := t.Port(input, model, 0)
				t.Check(p.Kind == hbucp.F32 && p.Quant == 0 && p.Bytes == 4096 && slices.Equal(p.Valid.Sizes(), []int32{1, 1000}) &&
					slices.Equal(p.Strides(), []int64{4000, 4}), "%+v", p)
			}
			t.Check(t.Port(true, t.Model(hbucp.Relu(1, 4)), 0).Bytes == 128, "want a multiple of 128")
		}).
		OK("ten_sizes", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 2, 1, 1, 2, 1, 1, 1, 1, 2))
			p := r.In[0].Properties
			t.Check(slices.Equal(p.Valid.Sizes(), []int32{1, 2, 1, 1, 2, 1, 1, 1, 1, 2}) && p.Stride[0] == 32 &&
				p.Stride[1] == 16 && p.Stride[9] == 4, "%+v", p)
			hbucp.Fill[float32](r, -1, 2, -3, 4, -5, 6, -7, 8)
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 0, 2, 0, 4, 0, 6, 0, 8)
		}).
		No("eleven_sizes", func(t *T) {
			t.Load(hbucp.ModelInvalid, address(), hbucp.Relu(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2))
			t.Says("at most 10")
		}).
		No("beyond", func(t *T) { t.Bad("DNNGetInputTensorProperties", &hbucp.Properties{}, t.Model(hbucp.Relu(1, 4)), 1) }),
	rule("5.1.j_types", "element types are the model's").
		OK("each", func(t *T) {
			for onnx, kind := range map[int64]int32{1: hbucp.F32, 10: hbucp.F16, 7: hbucp.S64, 9: hbucp.BOOL8,
				3: hbucp.S8, 2: hbucp.U8} {
				m := (&hbucp.ONNX{}).Input("x", onnx, 2).Output("y", onnx, 2).Node("Identity", "y", "x")
				t.Check(t.Port(true, t.Model(m), 0).Kind == kind, "ONNX type %d", onnx)
			}
		}).
		No("other_type", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 4))
			r.In[0].Properties.Kind = hbucp.S8
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.1.k_descriptions", "descriptions succeed without a text, and a model's is JSON").
		OK("empty", func(t *T) {
			pack := t.Pack(hbucp.Relu(1, 4))
			model := t.Named(pack, t.Names(pack)[0])
			for _, text := range []string{"DNNGetInputDesc", "DNNGetOutputDesc"} {
				s, n := t.desc(text, model, 0)
				t.Check(s == "" && n == 0, "%q of %d bytes", s, n)
			}
			s, n := t.desc("DNNGetHBMDesc", pack, 0)
			t.Check(s == "" && n == 0, "%q of %d bytes", s, n)
			s, n = t.desc("DNNGetModelDesc", model)
			t.Check(s == "{}" && n == 2, "%q of %d bytes", s, n)
		}).
		OK("custom", func(t *T) {
			s, n := t.desc("DNNGetModelDesc", t.Model(hbucp.Relu(1, 4).Meta("anynpu.custom_string", `{"MARCH": "nash-e"}`)))
			t.Check(s == `{"MARCH": "nash-e"}` && int(n) == len(s), "%q of %d bytes", s, n)
		}).
		No("no_such_file", func(t *T) {
			for _, i := range []int32{-1, 1} {
				t.Bad("DNNGetHBMDesc", address(), length(), number(), t.Pack(hbucp.Relu(1, 4)), i)
			}
		}),
	rule("5.1.l_cores", "a model is made for one core").
		OK("one", func(t *T) {
			n := number()
			t.OK("DNNGetCompileBpuCoreNum", n, t.Model(hbucp.Relu(1, 4)))
			t.Check(*n == 1, "%d cores", *n)
		}).
		No("null", func(t *T) { t.Bad("DNNGetCompileBpuCoreNum", nil, t.Model(hbucp.Relu(1, 4))) }),
	rule("5.1.m_same_handle", "a model has one handle, and names stay").
		OK("same", func(t *T) {
			pack := t.Pack(hbucp.Relu(1, 4))
			a, b := t.Named(pack, t.Names(pack)[0]), t.Named(pack, t.Names(pack)[0])
			t.Check(a == b, "handles %#x and %#x", a, b)
			first, again := address(), address()
			t.OK("DNNGetInputName", first, a, 0)
			t.OK("DNNGetInputName", again, a, 0)
			t.Check(*first == *again && cmem.Text(*first) == "x", "%q", cmem.Text(*first))
			t.OK("DNNGetOutputName", first, a, 0)
			t.Check(cmem.Text(*first) == "y", "%q", cmem.Text(*first))
		}).
		No("null_name", func(t *T) { t.Bad("DNNGetModelHandle", address(), t.Pack(hbucp.Relu(1, 4)), nil) }),
}
