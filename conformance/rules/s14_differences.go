package rules

import (
	"os"
	"slices"
	"sync"
)

// buildAfter is a Build after one setting of a new compilation.
func (t *T) buildAfter(want int, setter string, args ...any) {
	c := t.unbuilt()
	t.ok(setter, append([]any{c}, args...)...)
	t.is(want, "Compilation_Build", c)
}

// buildWithout is buildAfter for a device without features.
func (t *T) buildWithout(want int, setter string, args ...any) {
	c := t.unbuiltOn(plainDevice)
	t.ok(setter, append([]any{c}, args...)...)
	t.is(want, "Compilation_Build", c)
}

// lateSetter is a setting that comes after Build: the manual forbids it, the reference implementation takes it without
// effect.
func lateSetter(function string, args ...any) *Rule {
	return rule("s14_"+function+"_after_build", "after Build the setting is FORBIDDEN by the manual; the reference "+
		"implementation ignores it").
		ok("before", func(t *T) { t.ok("Compilation_"+function, append([]any{t.unbuilt()}, args...)...) }).
		no("after", func(t *T) { t.after(forbid, "Compilation_"+function, args...) }).when(Default).
		ok("after", func(t *T) { t.after(success, "Compilation_"+function, args...) }).when(Reference).
		no("NULL", func(t *T) { t.bad("Compilation_"+function, append([]any{nil}, args...)...) })
}

// lateValue is lateSetter where the reference implementation judges the value.
func lateValue(function string, good, bad int) *Rule {
	return rule("s14_"+function+"_after_build", "after Build the setting is FORBIDDEN by the manual; the reference "+
		"implementation judges the value at once").
		ok("before", func(t *T) { t.ok("Compilation_"+function, t.unbuilt(), good) }).
		no("good_value", func(t *T) { t.after(forbid, "Compilation_"+function, good) }).when(Default).
		ok("good_value", func(t *T) { t.after(success, "Compilation_"+function, good) }).when(Reference).
		no("bad_value", func(t *T) { t.after(t.by(forbid, invalid), "Compilation_"+function, bad) }).
		no("feature_missing", func(t *T) {
			c := t.unbuiltOn(plainDevice)
			t.ok("Compilation_Build", c)
			t.is(forbid, "Compilation_"+function, c, good)
		})
}

// parallel does f five times in each of four threads; objects of each end with it.
func (t *T) parallel(f func(own *T)) {
	var wg sync.WaitGroup
	errs := make(chan any, 4)
	for range 4 {
		wg.Go(func() {
			own := &T{library: &library{symbols: t.symbols, called: map[string]bool{}}, Mode: t.Mode, dir: t.dir}
			defer func() {
				for i := len(own.defers) - 1; i >= 0; i-- {
					own.defers[i]()
				}
				if v := recover(); v != nil {
					errs <- v
				}
			}()
			for range 5 {
				f(own)
			}
		})
	}
	wg.Wait()
	select {
	case v := <-errs:
		t.failf("%v", v)
	default:
	}
}

var differences = []*Rule{
	rule("s14_EnableFloat16", "the call is accepted whatever the device has; Build judges it").
		ok("call", func(t *T) { t.ok("Compilation_EnableFloat16", t.unbuilt(), true) }).
		ok("build", func(t *T) { t.buildAfter(success, "Compilation_EnableFloat16", true) }).
		no("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_EnableFloat16", true) }),
	rule("s14_SetPerformanceMode", "the call is accepted whatever the device has; Build judges it").
		ok("call", func(t *T) { t.ok("Compilation_SetPerformanceMode", t.unbuilt(), 4) }).
		ok("build", func(t *T) { t.buildAfter(success, "Compilation_SetPerformanceMode", 4) }).
		no("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_SetPerformanceMode", 1) }),
	rule("s14_SetPriority", "the call is accepted whatever the device has; Build judges it").
		ok("call", func(t *T) { t.ok("Compilation_SetPriority", t.unbuilt(), 3) }).
		ok("build", func(t *T) { t.buildAfter(success, "Compilation_SetPriority", 3) }).
		no("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_SetPriority", 1) }),
	rule("s14_option_range", "a performance mode or priority out of range is accepted by the call and INVALID at Build").
		ok("in_range", func(t *T) { t.buildAfter(success, "Compilation_SetPriority", 3) }).
		no("performance", func(t *T) { t.buildAfter(invalid, "Compilation_SetPerformanceMode", 5) }).
		no("priority", func(t *T) { t.buildAfter(invalid, "Compilation_SetPriority", 4) }),
	rule("s14_SetDevice", "an unknown id is accepted by the call and FAILED at Build").
		ok("known", func(t *T) { t.buildAfter(success, "Compilation_SetDevice", t.deviceIDs()[0]) }).
		no("unknown", func(t *T) { t.buildAfter(failed, "Compilation_SetDevice", t.unknownDevice()) }),
	rule("s14_SetCache_newer", "a stored version above the argument is accepted by the call and FORBIDDEN at Build").
		ok("equal", func(t *T) { t.cached(2); t.cached(2) }).
		no("newer", func(t *T) {
			t.cached(2)
			t.buildAfter(forbid, "Compilation_SetCache", t.dir, 1)
		}),
	rule("s14_SetCache_damaged", "a damaged cache is rebuilt and Build succeeds").
		ok("rebuilt", func(t *T) {
			t.cached(2)
			t.write(infoFile, []byte("damaged"))
			t.cached(2)
		}).
		no("for_cache", func(t *T) {
			t.cached(2)
			t.write(infoFile, []byte("damaged"))
			t.bad("Compilation_Build", t.withCache(t.forCache(), t.dir, 2))
		}),
	rule("s14_SetCache_missing", "a missing directory is accepted by the call and INVALID at Build").
		ok("there", func(t *T) { t.buildAfter(success, "Compilation_SetCache", t.dir, 1) }).
		no("missing", func(t *T) { t.buildAfter(invalid, "Compilation_SetCache", t.dir+"/missing", 1) }),
	rule("s14_SetCache_unsupported", "a cache for a device without caches is accepted by the call and FORBIDDEN at Build").
		ok("call", func(t *T) { t.ok("Compilation_SetCache", t.unbuilt(), t.dir, 1) }).
		ok("no_path", func(t *T) { t.buildWithout(success, "Compilation_SetCache", "", 1) }).
		no("build_without", func(t *T) { t.buildWithout(forbid, "Compilation_SetCache", t.dir, 1) }),
	rule("s14_SetCache_files", "files go directly into the path and no directory is made").
		ok("flat", func(t *T) {
			t.cached(2)
			entries, err := os.ReadDir(t.dir)
			t.check(err == nil, "%v", err)
			for _, e := range entries {
				t.check(e.Type().IsRegular(), "%s is no file", e.Name())
			}
			t.exists(infoFile, "0.nncache")
		}).
		no("nothing_created", func(t *T) {
			t.buildAfter(invalid, "Compilation_SetCache", t.dir+"/sub", 2)
			entries, err := os.ReadDir(t.dir)
			t.check(err == nil && len(entries) == 0, "there are %v", entries)
		}),
	lateSetter("SetDevice", 0),
	lateSetter("SetCache", "/tmp", 1),
	lateSetter("EnableFloat16", true),
	lateValue("SetPerformanceMode", 1, 9),
	lateValue("SetPriority", 1, 9),
	rule("s14_Build_second", "a second Build is INVALID, not FORBIDDEN").
		ok("first", func(t *T) { t.built(2) }).
		no("second", func(t *T) { t.bad("Compilation_Build", t.built(2)) }),
	rule("s14_Construct_unfinished", "a model that is not finished gives an object whose Build is INVALID").
		ok("object", func(t *T) { t.compilation(t.unfinished(2)) }).
		no("build", func(t *T) { t.bad("Compilation_Build", t.compilation(t.unfinished(2))) }),
	rule("s14_Construct_model_destroyed", "a model that is destroyed before Build still compiles").
		ok("compiles", func(t *T) {
			m := t.model(2)
			c := t.compilation(m)
			t.call("Model_Destroy", &m)
			t.builds(c)
		}).
		no("unfinished", func(t *T) {
			m := t.unfinished(2)
			c := t.compilation(m)
			t.call("Model_Destroy", &m)
			t.bad("Compilation_Build", c)
		}),
	rule("s14_offline", "an offline model is compiled by default; in reference mode every offline model is FAILED").
		ok("own_buffer", func(t *T) {

			t.builds(t.offlineBuffer(t.exported(2)))
		}).when(Default).
		ok("own_file", func(t *T) {

			t.write("model", t.exported(2))
			t.builds(t.offlineFile(t.dir + "/model"))
		}).when(Default).
		ok("taken", func(t *T) {
			t.offlineBuffer([]byte("anything"))
			t.offlineFile(t.dir)
		}).
		no("another_vendors", func(t *T) {
			t.is(failed, "Compilation_Build",
				t.offlineBuffer(slices.Repeat([]byte("RKNN"), 100)))
		}).
		no("reference_refuses_all", func(t *T) {
			t.write("model", []byte("x"))
			t.is(failed, "Compilation_Build", t.offlineFile(t.dir+"/model"))
		}),
	rule("s14_Export", "a built compilation is written into the buffer and its size told; in reference mode it is "+
		"UNSUPPORTED").
		ok("size", func(t *T) {
			n := len(t.exported(2))
			t.check(n > 0 && n < 1<<20, "size %d", n)
		}).when(Default).
		ok("by_files", func(t *T) { t.cached(1) }).
		no("too_small", func(t *T) {
			n, b := uint64(0), slices.Repeat([]byte{0xee}, 64)
			t.is(t.by(invalid, unsup), "Compilation_ExportCacheToBuffer", t.built(2), b, 16, &n)
			t.check(t.Mode == Reference || n > 16, "the size that it takes is not told")
			t.check(b[16] == 0xee, "bytes behind the buffer were written")
		}),
	rule("s14_Import_with_model", "an imported cache beside the model it was made from is used by the manual; in "+
		"reference mode two sources are INVALID").
		ok("used", func(t *T) {

			t.builds(t.imports(t.unbuilt(), t.exported(2)))
		}).when(Default).
		ok("model_alone", func(t *T) { t.builds(t.unbuilt()) }).
		ok("no_cache", func(t *T) { t.builds(t.imports(t.unbuilt(), []byte("anything"))) }).when(Default).
		no("no_cache", func(t *T) { t.bad("Compilation_Build", t.imports(t.unbuilt(), []byte("anything"))) }).when(Reference).
		no("three_sources", func(t *T) {
			c := t.imports(t.offlineFile(t.dir), []byte("anything"))
			t.bad("Compilation_Build", c)
		}).
		no("unfinished_model", func(t *T) {
			t.bad("Compilation_Build", t.imports(t.compilation(t.unfinished(2)),
				[]byte("anything")))
		}),
	rule("s14_Import_for_cache", "an imported cache is restored by default; in reference mode it is FAILED").
		ok("restored", func(t *T) {

			t.builds(t.imports(t.forCache(), t.exported(2)))
		}).when(Default).
		ok("by_files", func(t *T) {
			t.cached(1)
			t.builds(t.withCache(t.forCache(), t.dir, 1))
		}).
		no("changed", func(t *T) {
			b := []byte("anything")
			if t.Mode != Reference {
				b = t.exported(2)
				b[len(b)/2] ^= 1
			}
			t.is(failed, "Compilation_Build", t.imports(t.forCache(), b))
		}),
	rule("s14_AddExtensionConfig_unknown", "an attribute that the device does not know is accepted").
		ok("accepted", func(t *T) { t.buildAfter(success, "Compilation_AddExtensionConfig", "NoSuchThing", []byte("1"), 1) }).
		no("NULLs", func(t *T) {
			c := t.unbuilt()
			t.bad("Compilation_AddExtensionConfig", nil, "NoSuchThing", []byte("1"), 1)
			t.bad("Compilation_AddExtensionConfig", c, nil, []byte("1"), 1)
			t.bad("Compilation_AddExtensionConfig", c, "NoSuchThing", nil, 1)
		}),
	rule("s14_AddExtensionConfig_copy", "name and value are copied at once").
		ok("copied", func(t *T) {
			c, name, value := t.withCache(t.unbuilt(), t.dir, 1), []byte("ModelName\x00"), []byte("abc")
			t.ok("Compilation_AddExtensionConfig", c, name, value, 3)
			copy(name, "XXXXXXXXX")
			copy(value, "xyz")
			t.builds(c)
			t.exists("abc" + infoFile)
		}).
		no("nothing_of_a_refused_call", func(t *T) {
			c := t.withCache(t.unbuilt(), t.dir, 1)
			t.bad("Compilation_AddExtensionConfig", c, "ModelName", []byte("abc"), 0)
			t.builds(c)
			t.exists(infoFile)
		}),
	rule("s14_GetByteSize_dynamic", "the size of a dynamic shape is 0 with DYNAMIC_SHAPE by the manual, with SUCCESS in "+
		"the reference implementation").
		ok("fixed", func(t *T) { t.size("TensorDesc_GetByteSize", t.desc(float32T, 2)) }).
		no("dynamic", func(t *T) {
			n := uint64(9)
			t.is(dynamic, "TensorDesc_GetByteSize", t.desc(float32T, 2, -1), &n)
			t.check(n == 0, "size %d", n)
		}).when(Default).
		ok("dynamic", func(t *T) {
			n := t.size("TensorDesc_GetByteSize", t.desc(float32T, 2, -1))
			t.check(n == 0, "size %d", n)
		}).when(Reference).
		no("element_count", func(t *T) { t.is(dynamic, "TensorDesc_GetElementCount", t.desc(float32T, 2, -1), new(uint64)) }),
	rule("s14_SetShape_rank", "more than 10 dimensions are INVALID").
		ok("10", func(t *T) { t.desc(float32T, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) }).
		no("11", func(t *T) { t.bad("TensorDesc_SetShape", t.desc(float32T), make([]int32, 11), 11) }),
	rule("s14_CreateWithFd_offset", "an offset of 4096 is accepted; the data begins there and GetOffset tells it").
		ok("4096", func(t *T) {
			x := t.newTensor("CreateWithFd", 0, floatDesc(t), t.sharedMemory(3*4096), 3*4096, 4096)
			offset, size := t.size("Tensor_GetOffset", x), t.size("Tensor_GetSize", x)
			t.check(offset == 4096 && size == 3*4096, "offset %d, size %d", offset, size)
		}).
		no("no_room", func(t *T) {
			t.null("Tensor_CreateWithFd", 0, floatDesc(t), t.sharedMemory(3*4096), 4096, 4096)
		}),
	rule("s14_GetAllDevicesID_type", "ids are size_t and their array stays valid").
		ok("size_t", func(t *T) {
			for _, id := range t.deviceIDs() {
				t.deviceName(id)
			}
		}).
		no("lower_half", func(t *T) {
			id := t.deviceIDs()[0]
			if id>>32 != 0 {
				t.is(failed, "Device_GetName", id&0xffffffff, new(uintptr))
			}
		}),
	rule("s14_device_0", "id 0 is the first device wherever an id is taken").
		ok("everywhere", func(t *T) {
			t.deviceName(0)
			t.ok("Device_GetType", 0, new(int32))
			t.newTensor("Create", 0, floatDesc(t))
			t.ok("Model_GetAvailableOperations", t.model(2), 0, new(uintptr), new(uint32))
			t.buildAfter(success, "Compilation_SetDevice", 0)
		}).
		no("no_first", func(t *T) {
			t.is(failed, "Device_GetName", 0, new(uintptr))
			t.bad("Device_GetType", 0, new(int32))
			t.null("Tensor_CreateWithSize", 0, floatDesc(t), 64)
			t.is(failed, "Model_GetAvailableOperations", t.model(2), 0, new(uintptr), new(uint32))
			t.buildAfter(failed, "Compilation_SetDevice", 0)
		}).in(NoDevice),
	rule("s14_AddTensorToModel_finished", "after Finish it is FORBIDDEN by the manual; the reference implementation "+
		"takes it without effect").
		ok("open", func(t *T) { t.ok("Model_AddTensorToModel", t.unfinished(2), t.desc(float32T, 2)) }).
		no("finished", func(t *T) {
			m := t.model(2)
			t.is(forbid, "Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.builds(t.compilation(m))
		}).when(Default).
		ok("finished", func(t *T) {
			m := t.model(2)
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.builds(t.compilation(m))
		}).when(Reference).
		no("older_function", func(t *T) { t.is(forbid, "Model_AddTensor", t.model(2), legacy(float32T, 2)) }),
	rule("s14_Specify_constant", "a tensor that has constant data is accepted as an input").
		ok("accepted", func(t *T) {
			m := t.unspecified(2)
			t.ok("Model_SetTensorData", m, 1, []float32{1, 2}, 8)
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(2))
		}).
		no("constant_parameter", func(t *T) {
			m := t.unspecified(2)
			t.bad("Model_SpecifyInputsAndOutputs", m, list(0, 3), list(2))
		}),
	rule("s14_AddOperation_surplus", "a foreign parameter and too many parameters are INVALID; AVG_POOL and MAX_POOL "+
		"take each other's").
		ok("pools", func(t *T) {
			for _, op := range []int{2, 21} {
				m := t.emptyModel()
				t.ok("Model_AddTensorToModel", m, t.desc(float32T, 1, 4, 4, 1))
				t.ok("Model_AddTensorToModel", m, t.desc(float32T, 1, 3, 3, 1))
				for i, p := range []int{2, 37, 4} { // AVG_POOL_KERNEL_SIZE, MAX_POOL_STRIDE, AVG_POOL_PAD_MODE
					if p == 4 {
						t.ok("Model_AddTensorToModel", m, t.desc(int8T))
						t.ok("Model_SetTensorData", m, i+2, []byte{1}, 1)
					} else {
						t.ok("Model_AddTensorToModel", m, t.desc(int64T, 2))
						t.ok("Model_SetTensorData", m, i+2, []int32{int32(2 - i), 0, int32(2 - i), 0}, 16)
					}
					t.ok("Model_SetTensorType", m, i+2, p)
				}
				t.ok("Model_AddOperation", m, op, list(2, 3, 4), list(0), list(1))
			}
		}).
		ok("repeated", func(t *T) {
			m := t.openModel(1, 2)
			for i := range 2 {
				t.ok("Model_AddTensorToModel", m, t.desc(boolean))
				t.ok("Model_SetTensorType", m, 4+i, 33) // MATMUL_TRANSPOSE_A
				t.ok("Model_SetTensorData", m, 4+i, []byte{1}, 1)
			}
			t.ok("Model_AddOperation", m, 19, list(4, 5), list(0, 1), list(2))
		}).
		no("foreign", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), 58, list(3), list(0), list(2)) }).
		no("too_many", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), opAdd, list(3, 3), list(0, 1), list(2)) }),
}
