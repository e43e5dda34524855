package rules

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// variant is a model of one operation on an input and a constant. Variants differ in one thing each.
type variant struct {
	name       string
	op         int
	activation byte
	seed       int     // of the constant
	last       float32 // added to the last element of the constant
	dims       []int32
	swapped    bool // the constant is the first operand
}

var variants = []variant{
	{"sum", opAdd, 0, 1, 0, []int32{2, 3}, false},
	{"difference", opSub, 0, 1, 0, []int32{2, 3}, false},
	{"turned_difference", opSub, 0, 1, 0, []int32{2, 3}, true},
	{"activation", opAdd, 1, 1, 0, []int32{2, 3}, false},
	{"constant", opAdd, 0, 2, 0, []int32{2, 3}, false},
	{"last_of_the_constant", opAdd, 0, 1, 0.25, []int32{2, 3}, false},
	{"shape", opAdd, 0, 1, 0, []int32{3, 2}, false},
	{"rank", opAdd, 0, 1, 0, []int32{6}, false},
	{"column", opAdd, 0, 1, 0, []int32{4, 1}, false},
}

func (v variant) size() int {
	n := 1
	for _, d := range v.dims {
		n *= int(d)
	}
	return n
}

func (v variant) constant() []float32 {
	c := pattern(v.size(), v.seed)
	c[len(c)-1] += v.last
	return c
}

// of computes the variant.
func (v variant) of(x []float32) []float32 {
	out := slices.Clone(x)
	for i, c := range v.constant() {
		switch {
		case v.op == opAdd:
			out[i] += c
		case v.swapped:
			out[i] = c - out[i]
		default:
			out[i] -= c
		}
		if v.activation == 1 {
			out[i] = max(out[i], 0)
		}
	}
	return out
}

// variant makes the finished model.
func (t *T) variant(v variant) uintptr {
	m, kind := t.emptyModel(), addActivation
	if v.op == opSub {
		kind = subActivation
	}
	t.open(m, float32T, v.dims, v.dims, v.dims)
	t.open(m, int8T, nil)
	t.OK("Model_SetTensorType", m, 3, kind)
	t.OK("Model_SetTensorData", m, 3, []byte{v.activation}, 1)
	t.OK("Model_SetTensorData", m, 1, v.constant(), 4*v.size())
	in := ohnn.List(0, 1)
	if v.swapped {
		in = ohnn.List(1, 0)
	}
	t.OK("Model_AddOperation", m, v.op, ohnn.List(3), in, ohnn.List(2))
	return t.closed(m, ohnn.List(0), ohnn.List(2))
}

// isVariant demands that a compilation can be built, and computes v.
func (t *T) isVariant(c uintptr, v variant) {
	t.OK("Compilation_Build", c)
	t.computes(t.executorOf(c), v)
}

// computes demands that e computes v and has its shapes.
func (t *T) computes(e uintptr, v variant) {
	for i, create := range []string{"Executor_CreateInputTensorDesc", "Executor_CreateOutputTensorDesc"} {
		d := t.object("TensorDesc_Destroy", t.Ptr(create, e, 0))
		t.describes(d, port{2 * i, float32T, v.dims}, v.dims, v.name, i)
	}
	x, out := pattern(v.size(), 5), t.newTensor("CreateWithSize", 0, t.desc(float32T, v.dims...), 256)
	t.OK("Executor_RunSync", e, []uintptr{t.tensor(x, v.dims...)}, 1, []uintptr{out}, 1)
	got, want := t.floats(out, len(x)), v.of(x)
	t.Check(slices.Equal(got, want), "%s: got %v, want %v", v.name, got, want)
	t.Check(slices.Equal(t.outputShape(e), v.dims), "%s: GetOutputShape %v", v.name, t.outputShape(e))
	t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), v.dims...)
}

// cacheAs builds a variant with the cache in a directory, and demands that it computes.
func (t *T) cacheAs(dir string, version uint32, v variant) {
	t.isVariant(t.withCache(t.compilation(t.variant(v)), dir, version), v)
}

// fromCache demands that the cache in a directory gives a variant.
func (t *T) fromCache(dir string, version uint32, v variant) {
	t.isVariant(t.withCache(t.forCache(), dir, version), v)
}

// exportOf is a finished model in a buffer.
func (t *T) exportOf(m uintptr) []byte {
	c := t.compilation(m)
	t.OK("Compilation_Build", c)
	return t.exportFrom(c)
}

func (t *T) exportFrom(c uintptr) []byte {
	b, n := make([]byte, 1<<20), uint64(0)
	t.OK("Compilation_ExportCacheToBuffer", c, b, len(b), &n)
	t.Check(n > 0 && n <= uint64(len(b)), "size %d", n)
	return b[:n]
}

// cachesAgain are the rules of caches that are used more than once.
var cachesAgain = []*Rule{
	rule("s9_again_model", "a directory that holds the cache of another model of the same version is no cache of this "+
		"one, however little they differ").
		OK("each_after_the_first", func(t *T) {
			for _, v := range variants[1:] {
				t.cacheAs(t.Dir, 1, variants[0])
				t.cacheAs(t.Dir, 1, v)
				t.fromCache(t.Dir, 1, v)
			}
		}).
		OK("each_after_the_one_before", func(t *T) {
			for range 2 {
				for _, v := range variants {
					t.cacheAs(t.Dir, 7, v)
					t.cacheAs(t.Dir, 7, v)
					t.fromCache(t.Dir, 7, v)
				}
			}
		}).
		OK("open_dimensions", func(t *T) {
			for range 2 {
				c := t.withCache(t.compilation(t.turned(-1, -1)), t.Dir, 1)
				t.OK("Compilation_Build", c)
				e := t.executorOf(c)
				t.turns(e, t.room(), 3, 2, 1)
				t.turns(e, t.room(), 4, 1, 2)
				c = t.withCache(t.compilation(t.turned(2, 3)), t.Dir, 1)
				t.OK("Compilation_Build", c)
				e = t.executorOf(c)
				t.turns(e, t.room(), 2, 3, 3)
				t.wantRange(e, 0, []uint64{2, 3}, []uint64{2, 3})
			}
		}).
		OK("quantization", func(t *T) {
			for _, v := range []struct {
				zero int32
				want int8
			}{{4, 10}, {-3, 3}, {4, 10}} {
				m := t.quantized8()
				t.OK("Model_SetTensorQuantParams", m, 2, t.quantOf([]float64{0.4}, []int32{v.zero}, []uint32{8}))
				got := t.addsBytes(m, t.Dir, 4, 8)
				t.Check(got == v.want, "4 x 0.2 + 8 x 0.2 as steps of 0.4 from %d: got %d, want %d", v.zero, got, v.want)
			}
		}).
		No("lower_version", func(t *T) {
			t.cacheAs(t.Dir, 3, variants[0])
			for _, v := range variants[1:] {
				t.Is(forbid, "Compilation_Build", t.withCache(t.compilation(t.variant(v)), t.Dir, 2))
				t.fromCache(t.Dir, 3, variants[0])
			}
			t.cacheAs(t.Dir, 4, variants[1])
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}),
	rule("s9_again_restored", "what a cache restores tells and computes what the model does, also several at a time and "+
		"when the files are gone").
		OK("ports", func(t *T) {
			for _, open := range []bool{false, true} {
				dir := filepath.Join(t.Dir, map[bool]string{false: "fixed", true: "open"}[open])
				t.Check(os.Mkdir(dir, 0o755) == nil, "mkdir")
				for range 2 {
					c := t.withCache(t.compilation(t.switchboard(open)), dir, 1)
					t.OK("Compilation_Build", c)
					t.wired(t.executorOf(c), open)
					c = t.withCache(t.forCache(), dir, 1)
					t.OK("Compilation_Build", c)
					e := t.executorOf(c)
					t.wired(e, open)
					t.wantRange(e, 2, []uint64{1, 3}, []uint64{1, 3})
				}
			}
		}).
		OK("several", func(t *T) {
			t.cacheAs(t.Dir, 1, variants[1])
			a, b := t.withCache(t.forCache(), t.Dir, 1), t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_Build", a)
			t.OK("Compilation_Build", b)
			x, y := t.executorOf(a), t.executorOf(b)
			t.Call("Compilation_Destroy", &a)
			t.computes(y, variants[1])
			t.computes(x, variants[1])
			t.computes(t.executorOf(b), variants[1])
		}).
		OK("files_gone", func(t *T) {
			t.cacheAs(t.Dir, 1, variants[2])
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_Build", c)
			entries, err := os.ReadDir(t.Dir)
			t.Check(err == nil && len(entries) > 1, "files %v, %v", entries, err)
			for _, e := range entries {
				t.Check(os.Remove(filepath.Join(t.Dir, e.Name())) == nil, "remove %s", e.Name())
			}
			e := t.executorOf(c)
			t.computes(e, variants[2])
			t.computes(e, variants[2])
		}).
		OK("overwritten", func(t *T) {
			t.cacheAs(t.Dir, 1, variants[2])
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_Build", c)
			t.cacheAs(t.Dir, 2, variants[3])
			t.computes(t.executorOf(c), variants[2])
			t.fromCache(t.Dir, 2, variants[3])
		}).
		OK("shapes", func(t *T) {
			t.OK("Compilation_Build", t.withCache(t.compilation(t.turned(-1, -1)), t.Dir, 1))
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_Build", c)
			a, b := t.executorOf(c), t.executorOf(c)
			out := t.room()
			for i, s := range shapes {
				t.turns(a, out, s[0], s[1], i)
				t.turns(b, t.room(), s[1], s[0], i)
			}
		}).
		No("files_gone_before", func(t *T) {
			t.cacheAs(t.Dir, 1, variants[2])
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.Check(os.Remove(filepath.Join(t.Dir, infoFile)) == nil, "remove")
			t.Bad("Compilation_Build", c)
			t.Null("Executor_Construct", c)
		}),
	rule("s9_again_places", "caches in other directories, of other names and for other devices are others").
		OK("directories", func(t *T) {
			for i, v := range variants {
				dir := filepath.Join(t.Dir, string(compact(i)))
				t.Check(os.Mkdir(dir, 0o755) == nil, "mkdir")
				t.cacheAs(dir, 1, v)
			}
			for i, v := range variants {
				t.fromCache(filepath.Join(t.Dir, string(compact(i))), 1, v)
			}
		}).
		OK("names", func(t *T) {
			for _, build := range []func(v variant) uintptr{
				func(v variant) uintptr { return t.compilation(t.variant(v)) },
				func(variant) uintptr { return t.forCache() },
			} {
				for _, v := range variants {
					c := t.withCache(build(v), t.Dir, 1)
					t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte(v.name), len(v.name))
					t.isVariant(c, v)
				}
			}
		}).
		OK("devices", func(t *T) {
			for _, name := range []string{gpuDevice, fullDevice, plainCacheDevice, gpuDevice} {
				c := t.withCache(t.compilation(t.variant(variants[0])), t.Dir, 1)
				t.OK("Compilation_SetDevice", c, t.named(name))
				t.isVariant(c, variants[0])
				t.Check(number(t.info()["deviceId"]) == string(compact(int64(t.named(name)))), "deviceId %v, want that of %s",
					t.info()["deviceId"], name)
			}
		}).
		No("another_device", func(t *T) {
			t.cacheAs(t.Dir, 1, variants[0])
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_SetDevice", c, t.named(gpuDevice))
			t.Bad("Compilation_Build", c)
		}).
		No("another_directory", func(t *T) {
			t.cacheAs(t.Dir, 1, variants[0])
			t.Check(os.Mkdir(t.Dir+"/other", 0o755) == nil, "mkdir")
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.Bad("Compilation_Build", t.withCache(c, t.Dir+"/other", 1)) // the later path counts
		}),
	rule("s9_again_setting", "of several settings of a cache or an import the last one counts").
		OK("version", func(t *T) {
			c := t.withCache(t.withCache(t.compilation(t.variant(variants[0])), t.Dir, 9), t.Dir, 4)
			t.isVariant(c, variants[0])
			t.fromCache(t.Dir, 4, variants[0])
		}).
		OK("directory", func(t *T) {
			t.isVariant(t.withCache(t.withCache(t.compilation(t.variant(variants[0])), t.Dir+"/missing", 1), t.Dir, 1),
				variants[0])
			t.exists(infoFile)
		}).
		OK("off_again", func(t *T) {
			t.isVariant(t.withCache(t.withCache(t.compilation(t.variant(variants[0])), t.Dir, 1), "", 1), variants[0])
			entries, err := os.ReadDir(t.Dir)
			t.Check(err == nil && len(entries) == 0, "files %v", entries)
		}).
		OK("imports", func(t *T) {
			a, b := t.exportOf(t.variant(variants[0])), t.exportOf(t.variant(variants[6]))
			t.isVariant(t.imports(t.imports(t.forCache(), a), b), variants[6])
			t.isVariant(t.imports(t.imports(t.forCache(), b), a), variants[0])
		}).In(ohnn.Manual).
		No("version_of_before", func(t *T) {
			t.cacheAs(t.Dir, 4, variants[0])
			t.Is(forbid, "Compilation_Build", t.withCache(t.withCache(t.forCache(), t.Dir, 4), t.Dir, 3))
		}),
	rule("s7_again_import", "a buffer is imported any number of times, and belongs to the program again after Build").
		OK("twice", func(t *T) {
			b := t.exportOf(t.turned(-1, -1))
			c, d := t.imports(t.forCache(), b), t.imports(t.forCache(), b)
			t.OK("Compilation_Build", c)
			t.OK("Compilation_Build", d)
			clear(b)
			x, y := t.executorOf(c), t.executorOf(d)
			for i, s := range shapes {
				t.turns(x, t.room(), s[0], s[1], i)
				t.turns(y, t.room(), s[1], s[0], i)
			}
		}).In(ohnn.Manual).
		OK("other_models", func(t *T) {
			var blobs [][]byte
			for _, v := range variants {
				blobs = append(blobs, t.exportOf(t.variant(v)))
			}
			for i, v := range variants {
				t.isVariant(t.imports(t.forCache(), blobs[i]), v)
				t.isVariant(t.imports(t.compilation(t.variant(v)), blobs[(i+1)%len(blobs)]), v)
			}
		}).In(ohnn.Manual).
		OK("ports", func(t *T) {
			for _, open := range []bool{false, true} {
				c := t.imports(t.forCache(), t.exportOf(t.switchboard(open)))
				t.OK("Compilation_Build", c)
				t.wired(t.executorOf(c), open)
			}
		}).In(ohnn.Manual).
		OK("exported_again", func(t *T) {
			first := t.imports(t.forCache(), t.exportOf(t.variant(variants[2])))
			t.isVariant(first, variants[2])
			t.isVariant(t.imports(t.forCache(), t.exportFrom(first)), variants[2])
			t.cacheAs(t.Dir, 1, variants[3])
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_Build", c)
			t.isVariant(t.imports(t.forCache(), t.exportFrom(c)), variants[3])
		}).In(ohnn.Manual).
		OK("model_alone", func(t *T) { t.isVariant(t.compilation(t.variant(variants[0])), variants[0]) }).
		No("damaged", func(t *T) {
			if t.Mode == ohnn.Reference {
				t.Is(failed, "Compilation_Build", t.imports(t.forCache(), noModel(64)))
				return
			}
			good := t.exportOf(t.variant(variants[0]))
			for k := range 24 {
				b := slices.Clone(good)
				b[(len(b)-1)*k/23] ^= 1 << (k % 8)
				t.Is(failed, "Compilation_Build", t.imports(t.forCache(), b))
			}
			for _, n := range []int{1, 8, len(good) / 2, len(good) - 1} {
				t.Is(failed, "Compilation_Build", t.imports(t.forCache(), good[:n:n]))
			}
			t.isVariant(t.imports(t.forCache(), good), variants[0])
		}).
		No("another_device", func(t *T) {
			b := noModel(64)
			if t.Mode == ohnn.Manual {
				b = t.exportOf(t.variant(variants[0]))
			}
			c := t.imports(t.forCache(), b)
			t.OK("Compilation_SetDevice", c, t.named(gpuDevice))
			t.Is(failed, "Compilation_Build", c)
		}),
	rule("s7_again_export", "a compilation is exported any number of times, into a buffer that is large enough; the size "+
		"is told exactly").
		OK("sizes", func(t *T) {
			c := t.compilation(t.variant(variants[0]))
			t.OK("Compilation_Build", c)
			good := slices.Clone(t.exportFrom(c))
			for _, more := range []int{0, 1, 100} {
				b, n := slices.Repeat([]byte{0xee}, len(good)+more+8), uint64(0)
				t.OK("Compilation_ExportCacheToBuffer", c, b, len(good)+more, &n)
				t.Check(int(n) == len(good), "size %d, before %d", n, len(good))
				t.Check(slices.Equal(b[n:], slices.Repeat([]byte{0xee}, more+8)), "bytes behind the size were written")
				t.isVariant(t.imports(t.forCache(), b[:n]), variants[0])
			}
		}).In(ohnn.Manual).
		OK("run_between", func(t *T) { t.isVariant(t.compilation(t.variant(variants[0])), variants[0]) }).
		No("one_byte_less", func(t *T) {
			c := t.compilation(t.variant(variants[0]))
			t.OK("Compilation_Build", c)
			n, least := uint64(0), 1<<20
			if t.Mode == ohnn.Manual {
				least = len(t.exportFrom(c)) - 1
			}
			b := make([]byte, least+1)
			t.Is(t.by(invalid, unsup), "Compilation_ExportCacheToBuffer", c, b, least, &n)
			t.Check(t.Mode == ohnn.Reference || int(n) == least+1, "size %d, want %d", n, least+1)
			t.Check(b[least] == 0, "the byte behind the buffer was written")
			t.computes(t.executorOf(c), variants[0])
		}),
}

// noModel is n bytes that are no model and no cache.
func noModel(n int) []byte { return cmem.Bytes(pattern(n, 3))[:n] }
