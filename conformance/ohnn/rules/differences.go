package rules

import (
	"os"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// buildAfter is a Build after one setting of a new compilation.
func (t *T) buildAfter(want int, setter string, args ...any) {
	c := t.unbuilt()
	t.OK(setter, append([]any{c}, args...)...)
	t.Is(want, "Compilation_Build", c)
}

// buildWithout is buildAfter for a device without features.
func (t *T) buildWithout(want int, setter string, args ...any) {
	c := t.unbuiltOn(plainDevice)
	t.OK(setter, append([]any{c}, args...)...)
	t.Is(want, "Compilation_Build", c)
}

// lateSetter is a setting that comes after Build: the manual forbids it, the reference implementation takes it without
// effect.
func lateSetter(function string, args ...any) *Rule {
	return rule("s14_"+function+"_after_build", "after Build the setting is FORBIDDEN by the manual; the reference "+
		"implementation ignores it").
		OK("before", func(t *T) { t.OK("Compilation_"+function, append([]any{t.unbuilt()}, args...)...) }).
		No("after", func(t *T) { t.after(forbid, "Compilation_"+function, args...) }).In(ohnn.Manual).
		OK("after", func(t *T) { t.after(success, "Compilation_"+function, args...) }).In(ohnn.Reference).
		No("NULL", func(t *T) { t.Bad("Compilation_"+function, append([]any{nil}, args...)...) })
}

// lateValue is lateSetter where the reference implementation judges the value.
func lateValue(function string, good, bad int) *Rule {
	return rule("s14_"+function+"_after_build", "after Build the setting is FORBIDDEN by the manual; the reference "+
		"implementation judges the value at once").
		OK("before", func(t *T) { t.OK("Compilation_"+function, t.unbuilt(), good) }).
		No("good_value", func(t *T) { t.after(forbid, "Compilation_"+function, good) }).In(ohnn.Manual).
		OK("good_value", func(t *T) { t.after(success, "Compilation_"+function, good) }).In(ohnn.Reference).
		No("bad_value", func(t *T) { t.after(t.by(forbid, invalid), "Compilation_"+function, bad) }).
		No("feature_missing", func(t *T) {
			c := t.unbuiltOn(plainDevice)
			t.OK("Compilation_Build", c)
			t.Is(forbid, "Compilation_"+function, c, good)
		})
}

var differences = []*Rule{
	rule("s14_EnableFloat16", "the call is accepted whatever the device has; Build judges it").
		OK("call", func(t *T) { t.OK("Compilation_EnableFloat16", t.unbuilt(), true) }).
		OK("build", func(t *T) { t.buildAfter(success, "Compilation_EnableFloat16", true) }).
		No("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_EnableFloat16", true) }),
	rule("s14_SetPerformanceMode", "the call is accepted whatever the device has; Build judges it").
		OK("call", func(t *T) { t.OK("Compilation_SetPerformanceMode", t.unbuilt(), 4) }).
		OK("build", func(t *T) { t.buildAfter(success, "Compilation_SetPerformanceMode", 4) }).
		No("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_SetPerformanceMode", 1) }),
	rule("s14_SetPriority", "the call is accepted whatever the device has; Build judges it").
		OK("call", func(t *T) { t.OK("Compilation_SetPriority", t.unbuilt(), 3) }).
		OK("build", func(t *T) { t.buildAfter(success, "Compilation_SetPriority", 3) }).
		No("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_SetPriority", 1) }),
	rule("s14_option_range", "a performance mode or priority out of range is accepted by the call and INVALID at Build").
		OK("in_range", func(t *T) { t.buildAfter(success, "Compilation_SetPriority", 3) }).
		No("performance", func(t *T) { t.buildAfter(invalid, "Compilation_SetPerformanceMode", 5) }).
		No("priority", func(t *T) { t.buildAfter(invalid, "Compilation_SetPriority", 4) }),
	rule("s14_SetDevice", "an unknown id is accepted by the call and FAILED at Build").
		OK("known", func(t *T) { t.buildAfter(success, "Compilation_SetDevice", t.deviceIDs()[0]) }).
		No("unknown", func(t *T) { t.buildAfter(failed, "Compilation_SetDevice", t.unknownDevice()) }),
	rule("s14_SetCache_newer", "a stored version above the argument is accepted by the call and FORBIDDEN at Build").
		OK("equal", func(t *T) { t.cached(2); t.cached(2) }).
		No("newer", func(t *T) {
			t.cached(2)
			t.buildAfter(forbid, "Compilation_SetCache", t.Dir, 1)
		}),
	rule("s14_SetCache_damaged", "a damaged cache is rebuilt and Build succeeds").
		OK("rebuilt", func(t *T) {
			t.cached(2)
			t.write(infoFile, []byte("damaged"))
			t.cached(2)
		}).
		No("for_cache", func(t *T) {
			t.cached(2)
			t.write(infoFile, []byte("damaged"))
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 2))
		}),
	rule("s14_SetCache_missing", "a missing directory is accepted by the call and INVALID at Build").
		OK("there", func(t *T) { t.buildAfter(success, "Compilation_SetCache", t.Dir, 1) }).
		No("missing", func(t *T) { t.buildAfter(invalid, "Compilation_SetCache", t.Dir+"/missing", 1) }),
	rule("s14_SetCache_unsupported", "a cache for a device without caches is accepted by the call and FORBIDDEN at Build").
		OK("call", func(t *T) { t.OK("Compilation_SetCache", t.unbuilt(), t.Dir, 1) }).
		OK("no_path", func(t *T) { t.buildWithout(success, "Compilation_SetCache", "", 1) }).
		No("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_SetCache", t.Dir, 1) }),
	rule("s14_SetCache_files", "files go directly into the path and no directory is made").
		OK("flat", func(t *T) {
			t.cached(2)
			entries, err := os.ReadDir(t.Dir)
			t.Check(err == nil, "%v", err)
			for _, e := range entries {
				t.Check(e.Type().IsRegular(), "%s is no file", e.Name())
			}
			t.exists(infoFile, "0.nncache")
		}).
		No("nothing_created", func(t *T) {
			t.buildAfter(invalid, "Compilation_SetCache", t.Dir+"/sub", 2)
			entries, err := os.ReadDir(t.Dir)
			t.Check(err == nil && len(entries) == 0, "there are %v", entries)
		}),
	lateSetter("SetDevice", 0),
	lateSetter("SetCache", "/tmp", 1),
	lateSetter("EnableFloat16", true),
	lateValue("SetPerformanceMode", 1, 9),
	lateValue("SetPriority", 1, 9),
	rule("s14_Build_second", "a second Build is INVALID, not FORBIDDEN").
		OK("first", func(t *T) { t.built(2) }).
		No("second", func(t *T) { t.Bad("Compilation_Build", t.built(2)) }),
	rule("s14_Construct_unfinished", "a model that is not finished gives an object whose Build is INVALID").
		OK("object", func(t *T) { t.compilation(t.unfinished(2)) }).
		No("build", func(t *T) { t.Bad("Compilation_Build", t.compilation(t.unfinished(2))) }),
	rule("s14_Construct_model_destroyed", "a model that is destroyed before Build still compiles").
		OK("compiles", func(t *T) {
			m := t.model(2)
			c := t.compilation(m)
			t.Call("Model_Destroy", &m)
			t.builds(c)
		}).
		No("unfinished", func(t *T) {
			m := t.unfinished(2)
			c := t.compilation(m)
			t.Call("Model_Destroy", &m)
			t.Bad("Compilation_Build", c)
		}),
	rule("s14_offline", "an offline model is compiled by default; in reference mode every offline model is FAILED").
		OK("own_buffer", func(t *T) {

			t.builds(t.offlineBuffer(t.exported(2)))
		}).In(ohnn.Manual).
		OK("own_file", func(t *T) {

			t.write("model", t.exported(2))
			t.builds(t.offlineFile(t.Dir + "/model"))
		}).In(ohnn.Manual).
		OK("taken", func(t *T) {
			t.offlineBuffer([]byte("anything"))
			t.offlineFile(t.Dir)
		}).
		No("another_vendors", func(t *T) {
			t.Is(failed, "Compilation_Build",
				t.offlineBuffer(slices.Repeat([]byte("RKNN"), 100)))
		}).
		No("reference_refuses_all", func(t *T) {
			t.write("model", []byte("x"))
			t.Is(failed, "Compilation_Build", t.offlineFile(t.Dir+"/model"))
		}),
	rule("s14_Export", "a built compilation is written into the buffer and its size told; in reference mode it is "+
		"UNSUPPORTED").
		OK("size", func(t *T) {
			n := len(t.exported(2))
			t.Check(n > 0 && n < 1<<20, "size %d", n)
		}).In(ohnn.Manual).
		OK("by_files", func(t *T) { t.cached(1) }).
		No("too_small", func(t *T) {
			n, b := uint64(0), slices.Repeat([]byte{0xee}, 64)
			t.Is(t.by(invalid, unsup), "Compilation_ExportCacheToBuffer", t.built(2), b, 16, &n)
			t.Check(t.Mode == ohnn.Reference || n > 16, "the size that it takes is not told")
			t.Check(b[16] == 0xee, "bytes behind the buffer were written")
		}),
	rule("s14_Import_with_model", "an imported cache beside the model it was made from is used by the manual; in "+
		"reference mode two sources are INVALID").
		OK("used", func(t *T) {

			t.builds(t.imports(t.unbuilt(), t.exported(2)))
		}).In(ohnn.Manual).
		OK("model_alone", func(t *T) { t.builds(t.unbuilt()) }).
		OK("no_cache", func(t *T) { t.builds(t.imports(t.unbuilt(), []byte("anything"))) }).In(ohnn.Manual).
		No("no_cache", func(t *T) {
			t.Bad("Compilation_Build", t.imports(t.unbuilt(), []byte("anything")))
		}).In(ohnn.Reference).
		No("three_sources", func(t *T) {
			c := t.imports(t.offlineFile(t.Dir), []byte("anything"))
			t.Bad("Compilation_Build", c)
		}).
		No("unfinished_model", func(t *T) {
			t.Bad("Compilation_Build", t.imports(t.compilation(t.unfinished(2)),
				[]byte("anything")))
		}),
	rule("s14_Import_for_cache", "an imported cache is restored by default; in reference mode it is FAILED").
		OK("restored", func(t *T) {

			t.builds(t.imports(t.forCache(), t.exported(2)))
		}).In(ohnn.Manual).
		OK("by_files", func(t *T) {
			t.cached(1)
			t.builds(t.withCache(t.forCache(), t.Dir, 1))
		}).
		No("changed", func(t *T) {
			b := []byte("anything")
			if t.Mode != ohnn.Reference {
				b = t.exported(2)
				b[len(b)/2] ^= 1
			}
			t.Is(failed, "Compilation_Build", t.imports(t.forCache(), b))
		}),
	rule("s14_AddExtensionConfig_unknown", "an attribute that the device does not know is accepted").
		OK("accepted", func(t *T) { t.buildAfter(success, "Compilation_AddExtensionConfig", "NoSuchThing", []byte("1"), 1) }).
		No("NULLs", func(t *T) {
			c := t.unbuilt()
			t.Bad("Compilation_AddExtensionConfig", nil, "NoSuchThing", []byte("1"), 1)
			t.Bad("Compilation_AddExtensionConfig", c, nil, []byte("1"), 1)
			t.Bad("Compilation_AddExtensionConfig", c, "NoSuchThing", nil, 1)
		}),
	rule("s14_AddExtensionConfig_copy", "name and value are copied at once").
		OK("copied", func(t *T) {
			c, name, value := t.withCache(t.unbuilt(), t.Dir, 1), []byte("ModelName\x00"), []byte("abc")
			t.OK("Compilation_AddExtensionConfig", c, name, value, 3)
			copy(name, "XXXXXXXXX")
			copy(value, "xyz")
			t.builds(c)
			t.exists("abc" + infoFile)
		}).
		No("nothing_of_a_refused_call", func(t *T) {
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.Bad("Compilation_AddExtensionConfig", c, "ModelName", []byte("abc"), 0)
			t.builds(c)
			t.exists(infoFile)
		}),
	rule("s14_GetByteSize_dynamic", "the size of a dynamic shape is 0 with DYNAMIC_SHAPE by the manual, with SUCCESS in "+
		"the reference implementation").
		OK("fixed", func(t *T) { t.size("TensorDesc_GetByteSize", t.desc(float32T, 2)) }).
		No("dynamic", func(t *T) {
			n := uint64(9)
			t.Is(dynamic, "TensorDesc_GetByteSize", t.desc(float32T, 2, -1), &n)
			t.Check(n == 0, "size %d", n)
		}).In(ohnn.Manual).
		OK("dynamic", func(t *T) {
			n := t.size("TensorDesc_GetByteSize", t.desc(float32T, 2, -1))
			t.Check(n == 0, "size %d", n)
		}).In(ohnn.Reference).
		No("element_count", func(t *T) { t.Is(dynamic, "TensorDesc_GetElementCount", t.desc(float32T, 2, -1), new(uint64)) }),
	rule("s14_SetShape_rank", "more than 10 dimensions are INVALID").
		OK("10", func(t *T) { t.desc(float32T, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) }).
		No("11", func(t *T) { t.Bad("TensorDesc_SetShape", t.desc(float32T), make([]int32, 11), 11) }),
	rule("s14_CreateWithFd_offset", "an offset of 4096 is accepted; the data begins there and GetOffset tells it").
		OK("4096", func(t *T) {
			x := t.newTensor("CreateWithFd", 0, floatDesc(t), t.sharedMemory(3*4096), 3*4096, 4096)
			offset, size := t.size("Tensor_GetOffset", x), t.size("Tensor_GetSize", x)
			t.Check(offset == 4096 && size == 3*4096, "offset %d, size %d", offset, size)
		}).
		No("no_room", func(t *T) {
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), t.sharedMemory(3*4096), 4096, 4096)
		}),
	rule("s14_GetAllDevicesID_type", "ids are size_t and their array stays valid").
		OK("size_t", func(t *T) {
			for _, id := range t.deviceIDs() {
				t.deviceName(id)
			}
		}).
		No("lower_half", func(t *T) {
			id := t.deviceIDs()[0]
			if id>>32 != 0 {
				t.Is(failed, "Device_GetName", id&0xffffffff, new(uintptr))
			}
		}),
	rule("s14_device_0", "id 0 is the first device wherever an id is taken").
		OK("everywhere", func(t *T) {
			t.deviceName(0)
			t.OK("Device_GetType", 0, new(int32))
			t.newTensor("Create", 0, floatDesc(t))
			t.OK("Model_GetAvailableOperations", t.model(2), 0, new(uintptr), new(uint32))
			t.buildAfter(success, "Compilation_SetDevice", 0)
		}).
		No("no_first", func(t *T) {
			t.Is(failed, "Device_GetName", 0, new(uintptr))
			t.Bad("Device_GetType", 0, new(int32))
			t.Null("Tensor_CreateWithSize", 0, floatDesc(t), 64)
			t.Is(failed, "Model_GetAvailableOperations", t.model(2), 0, new(uintptr), new(uint32))
			t.buildAfter(failed, "Compilation_SetDevice", 0)
		}).With(noDevice),
	rule("s14_AddTensorToModel_finished", "after Finish it is FORBIDDEN by the manual; the reference implementation "+
		"takes it without effect").
		OK("open", func(t *T) { t.OK("Model_AddTensorToModel", t.unfinished(2), t.desc(float32T, 2)) }).
		No("finished", func(t *T) {
			m := t.model(2)
			t.Is(forbid, "Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.builds(t.compilation(m))
		}).In(ohnn.Manual).
		OK("finished", func(t *T) {
			m := t.model(2)
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.builds(t.compilation(m))
		}).In(ohnn.Reference).
		No("older_function", func(t *T) { t.Is(forbid, "Model_AddTensor", t.model(2), legacy(float32T, 2)) }),
	rule("s14_Specify_constant", "a tensor that has constant data is accepted as an input").
		OK("accepted", func(t *T) {
			m := t.unspecified(2)
			t.OK("Model_SetTensorData", m, 1, []float32{1, 2}, 8)
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
		}).
		No("constant_parameter", func(t *T) {
			m := t.unspecified(2)
			t.Bad("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 3), ohnn.List(2))
		}),
	rule("s14_AddOperation_surplus", "a foreign parameter and too many parameters are INVALID; AVG_POOL and MAX_POOL "+
		"take each other's").
		OK("pools", func(t *T) {
			for _, op := range []int{2, 21} {
				m := t.emptyModel()
				t.OK("Model_AddTensorToModel", m, t.desc(float32T, 1, 4, 4, 1))
				t.OK("Model_AddTensorToModel", m, t.desc(float32T, 1, 3, 3, 1))
				for i, p := range []int{2, 37, 4} { // AVG_POOL_KERNEL_SIZE, MAX_POOL_STRIDE, AVG_POOL_PAD_MODE
					if p == 4 {
						t.OK("Model_AddTensorToModel", m, t.desc(int8T))
						t.OK("Model_SetTensorData", m, i+2, []byte{1}, 1)
					} else {
						t.OK("Model_AddTensorToModel", m, t.desc(int64T, 2))
						t.OK("Model_SetTensorData", m, i+2, []int32{int32(2 - i), 0, int32(2 - i), 0}, 16)
					}
					t.OK("Model_SetTensorType", m, i+2, p)
				}
				t.OK("Model_AddOperation", m, op, ohnn.List(2, 3, 4), ohnn.List(0), ohnn.List(1))
			}
		}).
		OK("repeated", func(t *T) {
			m := t.openModel(1, 2)
			for i := range 2 {
				t.OK("Model_AddTensorToModel", m, t.desc(boolean))
				t.OK("Model_SetTensorType", m, 4+i, 33) // MATMUL_TRANSPOSE_A
				t.OK("Model_SetTensorData", m, 4+i, []byte{1}, 1)
			}
			t.OK("Model_AddOperation", m, 19, ohnn.List(4, 5), ohnn.List(0, 1), ohnn.List(2))
		}).
		No("foreign", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), 58, ohnn.List(3), ohnn.List(0), ohnn.List(2))
		}).
		No("too_many", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), opAdd, ohnn.List(3, 3), ohnn.List(0, 1), ohnn.List(2))
		}),
}
