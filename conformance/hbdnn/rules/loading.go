package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var versions = []*Rule{
	rule("2.a_exports", "the 48 functions of the headers are exported").
		OK("functions", func(t *T) {
			for _, f := range hbdnn.API.Functions {
				t.Check(t.Has(f), "%s is missing", f)
			}
			t.Ptr("DNNGetVersion")
		}).
		No("others", func(t *T) {
			t.Check(!t.Exports("hbDNNCvtColor"), "a function that no header has")
			t.Judged(false)
		}),
	rule("2.b_plugin", "the two functions that register layers have C++ names").
		OK("names", func(t *T) {
			t.Check(t.Exports("_Z25hbDNNRegisterLayerCreatorPKcPFPN5hobot3dnn5LayerEvE") &&
				t.Exports("_Z27hbDNNUnregisterLayerCreatorPKc"), "a name is missing")
			t.Judged(true)
		}).
		No("c_names", func(t *T) {
			t.Check(!t.Exports("hbDNNRegisterLayerCreator"), "a C name")
			t.Judged(false)
		}),
	rule("2.c_version", "hbDNNGetVersion gives the same text at each call").
		OK("text", func(t *T) {
			a, b := t.Ptr("DNNGetVersion"), t.Ptr("DNNGetVersion")
			t.Check(cmem.Text(a) != "" && cmem.Text(a) == cmem.Text(b), "%q and %q", cmem.Text(a), cmem.Text(b))
		}).
		No("model", func(t *T) { t.Is(hbdnn.InvalidHandle, "DNNGetInputCount", number(), t.Ptr("DNNGetVersion")) }),
	rule("11.a_error_text", "hbDNNGetErrorDesc is never NULL, and says of unknown codes that they are").
		OK("codes", func(t *T) {
			texts := map[string]bool{}
			for code := range hbdnn.API.Codes {
				texts[cmem.Text(t.Ptr("DNNGetErrorDesc", int32(code)))] = true
			}
			t.Check(len(texts) == len(hbdnn.API.Codes), "%d texts for %d codes", len(texts), len(hbdnn.API.Codes))
		}).
		No("unknown", func(t *T) {
			a, b := cmem.Text(t.Ptr("DNNGetErrorDesc", int32(1))), cmem.Text(t.Ptr("DNNGetErrorDesc", int32(-99)))
			t.Check(a == b && a != "", "%q and %q", a, b)
			t.Judged(false)
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
	if want == hbdnn.Success {
		return t.Owned(*pack)
	}
	t.Check(*pack == 0, "the handle is %#x, want NULL", *pack)
	return 0
}

var loading = []*Rule{
	rule("3.a_files", "models of all files are in one pack, in the order of the files").
		OK("two", func(t *T) {
			pack := t.files(0, t.file("b.onnx", hbdnn.Relu(1, 2).Bytes()), t.file("a.onnx", hbdnn.Relu(1, 3).Bytes()))
			names := t.Names(pack) // a converted model has its name inside
			t.Check(len(names) > 0 && t.Converted() || slices.Equal(names, []string{"b", "a"}), "names %v", names)
		}).
		No("one_missing", func(t *T) {
			t.files(hbdnn.CanNotOpenFile, t.file("a.onnx", hbdnn.Relu(1, 2).Bytes()), t.Dir+"/none.onnx")
			t.Says("none.onnx")
		}),
	rule("3.b_pack_list", "a file may name several models").Ours("pack lists").
		OK("list", func(t *T) {
			t.file("a.onnx", hbdnn.Relu(1, 2).Bytes())
			t.file("b.onnx", hbdnn.Relu(1, 2).Bytes())
			pack := t.files(0, t.file("list.json", []byte(`{"anynpu.models": ["a.onnx", "b.onnx", "a.onnx"]}`)))
			t.Check(slices.Equal(t.Names(pack), []string{"a", "b", "a"}), "names %v", t.Names(pack))
		}).
		No("itself", func(t *T) {
			t.files(hbdnn.InvalidModel, t.file("list.json", []byte(`{"anynpu.models": ["list.json"]}`)))
		}).
		No("empty", func(t *T) { t.files(hbdnn.InvalidModel, t.file("list.json", []byte(`{"anynpu.models": []}`))) }).
		No("outside", func(t *T) {
			t.files(hbdnn.InvalidModel, t.file("list.json", []byte(`{"anynpu.models": ["../a.onnx"]}`)))
		}),
	rule("3.c_ddr", "models come from memory, too").
		OK("two", func(t *T) {
			pack := t.Pack(hbdnn.Relu(1, 2).Meta("anynpu.name", "one"), hbdnn.Relu(1, 3).Meta("anynpu.name", "two"))
			t.Check(slices.Equal(t.Names(pack), []string{"one", "two"}), "names %v", t.Names(pack))
		}).
		No("null", func(t *T) { t.Bad("DNNInitializeFromDDR", address(), []uintptr{0}, []int32{4}, 1) }),
	rule("3.d_bytes_are_copied", "the bytes of a model may change when the call has returned").
		OK("overwritten", func(t *T) {
			b := hbdnn.Relu(1, 4).Bytes()
			pack := new(uintptr)
			t.OK("DNNInitializeFromDDR", pack, []uintptr{cmem.First(b)}, []int32{int32(len(b))}, 1)
			t.Owned(*pack)
			clear(b)
			r := t.On(t.Named(*pack, t.Names(*pack)[0]))
			hbdnn.Fill[float32](r, -1, 2, -3, 4)
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 0, 2, 0, 4)
		}).
		No("cut", func(t *T) {
			b := hbdnn.Relu(1, 4).Bytes()
			t.Is(hbdnn.InvalidModel, "DNNInitializeFromDDR", address(), []uintptr{cmem.First(b)}, []int32{int32(len(b) / 2)}, 1)
		}),
	rule("3.e_variable_is_not_read", "the variable of the handle may hold anything before, and is NULL after a failure").
		OK("garbage", func(t *T) {
			b := hbdnn.Relu(1, 4).Bytes()
			pack := &[]uintptr{12345}[0]
			t.OK("DNNInitializeFromDDR", pack, []uintptr{cmem.First(b)}, []int32{int32(len(b))}, 1)
			t.Owned(*pack)
		}).
		No("failure", func(t *T) {
			b := []byte("no model")
			pack := &[]uintptr{12345}[0]
			t.Is(hbdnn.InvalidModel, "DNNInitializeFromDDR", pack, []uintptr{cmem.First(b)}, []int32{int32(len(b))}, 1)
			t.Check(*pack == 0, "the handle is %#x, want NULL", *pack)
		}),
	rule("3.f_open", "a file that is not there is HB_DNN_CAN_NOT_OPEN_FILE").
		OK("there", func(t *T) { t.files(0, t.file("a.onnx", hbdnn.Relu(1, 2).Bytes())) }).
		OK("beside", func(t *T) {
			t.file("gone.onnx", hbdnn.Relu(1, 5).Bytes())
			for _, name := range []string{"gone.bin", "gone.hbm"} {
				p := t.In(t.Named(t.files(0, t.Dir+"/"+name), "gone"), 0)
				t.Check(p.Valid.Dims[1] == 5, "shape %v", p.Valid.Sizes())
			}
		}).With("ANYNPU_MODEL_MAP=").
		No("missing", func(t *T) { t.files(hbdnn.CanNotOpenFile, t.Dir+"/none.onnx") }).
		No("nothing_beside", func(t *T) {
			t.files(hbdnn.CanNotOpenFile, t.Dir+"/none.bin")
			t.Says("none.bin", "none.onnx", "ANYNPU_MODEL_MAP")
		}).
		No("empty_name", func(t *T) { t.files(hbdnn.CanNotOpenFile, "") }),
	rule("3.g_no_model", "what is no model is HB_DNN_INVALID_MODEL").
		OK("model", func(t *T) { t.files(0, t.file("any.name", hbdnn.Relu(1, 2).Bytes())) }).
		No("text", func(t *T) { t.files(hbdnn.InvalidModel, t.file("a.onnx", []byte("no model"))) }).
		No("nothing", func(t *T) { t.files(hbdnn.InvalidModel, t.file("a.onnx", nil)) }).
		No("folder", func(t *T) { t.files(hbdnn.InvalidModel, t.Dir) }).
		No("operator", func(t *T) {
			m := (&hbdnn.ONNX{}).Input("x", 1, 4).Output("y", 1, 4).Node("NoSuchOperator", "y", "x")
			t.files(hbdnn.InvalidModel, t.file("a.onnx", m.Bytes()))
		}),
	rule("3.h_compiled", "for code of a board the ONNX model beside it is loaded").
		Ours("an ONNX model beside a compiled one is loaded in its place").
		OK("beside", func(t *T) {
			t.file("net.onnx", hbdnn.Relu(1, 5).Bytes())
			pack := t.files(0, t.file("net.bin", []byte("\x00code")))
			p := t.In(t.Named(pack, "net"), 0)
			t.Check(p.Valid.Dims[1] == 5, "shape %v", p.Valid.Sizes())
		}).
		No("alone", func(t *T) {
			t.files(hbdnn.InvalidModel, t.file("net.bin", []byte("\x00code")))
			t.Says("net.onnx", "ANYNPU_MODEL_MAP")
		}),
	rule("11.b_counts", "a number of models that is not above 0 is HB_DNN_INVALID_ARGUMENT").
		OK("one", func(t *T) { t.Pack(hbdnn.Relu(1, 2)) }).
		No("none", func(t *T) {
			for _, n := range []int32{0, -1} {
				t.Bad("DNNInitializeFromFiles", address(), []uintptr{0}, n)
				t.Bad("DNNInitializeFromDDR", address(), []uintptr{0}, []int32{1}, n)
			}
		}),
	rule("11.c_lengths", "a length that is not above 0 is HB_DNN_INVALID_ARGUMENT").
		OK("length", func(t *T) { t.Pack(hbdnn.Relu(1, 2)) }).
		No("lengths", func(t *T) {
			b := hbdnn.Relu(1, 2).Bytes()
			for _, n := range []int32{0, -1} {
				t.Bad("DNNInitializeFromDDR", address(), []uintptr{cmem.First(b)}, []int32{n}, 1)
			}
			t.Says("modelDataLengths[0]")
		}),
	rule("11.d_null_lists", "lists and names of NULL are HB_DNN_INVALID_ARGUMENT").
		OK("lists", func(t *T) { t.files(0, t.file("a.onnx", hbdnn.Relu(1, 2).Bytes())) }).
		No("null", func(t *T) {
			t.Bad("DNNInitializeFromFiles", address(), nil, 1)
			t.Bad("DNNInitializeFromFiles", address(), []uintptr{0}, 1)
			t.Bad("DNNInitializeFromFiles", nil, []uintptr{0}, 1)
			t.Bad("DNNInitializeFromDDR", nil, []uintptr{0}, []int32{1}, 1)
			t.Bad("DNNInitializeFromDDR", address(), []uintptr{0}, nil, 1)
		}),
	rule("11.e_duplicates", "of models with one name the first is found; the list has all").
		OK("first", func(t *T) {
			pack := t.Pack(hbdnn.Relu(1, 2).Meta("anynpu.name", "same"), hbdnn.Relu(1, 3).Meta("anynpu.name", "same"))
			t.Check(len(t.Names(pack)) == 2, "names %v", t.Names(pack))
			p := t.In(t.Named(pack, "same"), 0)
			t.Check(p.Valid.Dims[1] == 2, "shape %v", p.Valid.Sizes())
		}).
		No("other", func(t *T) {
			pack := t.Pack(hbdnn.Relu(1, 2).Meta("anynpu.name", "same"))
			model := &[]uintptr{1}[0]
			t.Bad("DNNGetModelHandle", model, pack, "Same")
			t.Check(*model == 0, "the handle is %#x, want NULL", *model)
			t.Says("Same", "same")
		}),
	rule("3.i_same_handle", "a model has one handle").
		OK("twice", func(t *T) {
			pack := t.Pack(hbdnn.Relu(1, 2))
			one, again := t.Named(pack, "model"), t.Named(pack, "model")
			t.Check(one == again, "%#x and %#x", one, again)
		}).
		No("other_pack", func(t *T) {
			pack := t.Pack(hbdnn.Relu(1, 2))
			t.Check(t.Named(pack, "model") != t.Model(hbdnn.Relu(1, 2)), "one handle for models of two packs")
			t.Judged(false)
		}),
	rule("3.j_release", "models, names and handles end with their pack, once").
		OK("once", func(t *T) { t.OK("DNNRelease", t.Pack(hbdnn.Relu(1, 2))) }).
		No("twice", func(t *T) {
			pack := t.Pack(hbdnn.Relu(1, 2))
			model := t.Named(pack, "model")
			t.OK("DNNRelease", pack)
			t.Is(hbdnn.InvalidPackedHandle, "DNNRelease", pack)
			t.Is(hbdnn.InvalidHandle, "DNNGetInputCount", number(), model)
		}),
}
