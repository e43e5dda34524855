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

// feature is a rule about a device that lacks something, which no case can have here.
const feature = "the device under test has every feature; devices without are tested beside the façade"

// lateSetter is a setting that comes after Build: the manual forbids it, the reference implementation takes it without effect.
func lateSetter(function string, args ...any) *Rule {
	return rule("s14_"+function+"_after_build", "after Build the setting is FORBIDDEN by the manual; the reference implementation ignores it").
		ok("before", func(t *T) { t.ok("Compilation_"+function, append([]any{t.unbuilt()}, args...)...) }).
		no("after", func(t *T) { t.after(forbid, success, "Compilation_"+function, args...) })
}

// lateValue is lateSetter where the reference implementation judges the value.
func lateValue(function string, good, bad int) *Rule {
	return rule("s14_"+function+"_after_build", "after Build the setting is FORBIDDEN by the manual; the reference implementation judges the value at once").
		ok("before", func(t *T) { t.ok("Compilation_"+function, t.unbuilt(), good) }).
		no("good_value", func(t *T) { t.after(forbid, success, "Compilation_"+function, good) }).
		no("bad_value", func(t *T) { t.after(forbid, invalid, "Compilation_"+function, bad) })
}

var differences = []*Rule{
	rule("s14_EnableFloat16", "the call is accepted whatever the device has; Build judges it").
		ok("call", func(t *T) { t.ok("Compilation_EnableFloat16", t.unbuilt(), true) }).only(feature),
	rule("s14_SetPerformanceMode", "the call is accepted whatever the device has; Build judges it").
		ok("call", func(t *T) { t.ok("Compilation_SetPerformanceMode", t.unbuilt(), 4) }).only(feature),
	rule("s14_SetPriority", "the call is accepted whatever the device has; Build judges it").
		ok("call", func(t *T) { t.ok("Compilation_SetPriority", t.unbuilt(), 3) }).only(feature),
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
		}).only("nothing is refused"),
	rule("s14_SetCache_missing", "a missing directory is accepted by the call and INVALID at Build").
		ok("there", func(t *T) { t.buildAfter(success, "Compilation_SetCache", t.dir, 1) }).
		no("missing", func(t *T) { t.buildAfter(invalid, "Compilation_SetCache", t.dir+"/missing", 1) }),
	rule("s14_SetCache_unsupported", "a cache for a device without caches is accepted by the call and FORBIDDEN at Build").
		ok("call", func(t *T) { t.ok("Compilation_SetCache", t.unbuilt(), t.dir, 1) }).only(feature),
	rule("s14_SetCache_files", "files go directly into the path and no directory is made").
		ok("flat", func(t *T) {
			t.cached(2)
			entries, err := os.ReadDir(t.dir)
			t.check(err == nil, "%v", err)
			for _, e := range entries {
				t.check(e.Type().IsRegular(), "%s is no file", e.Name())
			}
			t.exists(infoFile, "0.nncache")
		}).only("a statement about files"),
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
		}).only("a statement about lifetime"),
	rule("s14_offline", "an offline model is compiled by default; in reference mode every offline model is FAILED").
		ok("own_buffer", func(t *T) {
			if t.Mode == Reference {
				t.offlineBuffer([]byte("anything"))
				return
			}
			t.builds(t.offlineBuffer(t.exported(2)))
		}).
		ok("own_file", func(t *T) {
			if t.Mode == Reference {
				t.offlineFile(t.dir)
				return
			}
			t.write("model", t.exported(2))
			t.builds(t.offlineFile(t.dir + "/model"))
		}).
		no("another_vendors", func(t *T) { t.is(failed, "Compilation_Build", t.offlineBuffer(slices.Repeat([]byte("RKNN"), 100))) }).
		no("reference_refuses_all", func(t *T) {
			t.write("model", []byte("x"))
			t.is(failed, "Compilation_Build", t.offlineFile(t.dir+"/model"))
		}),
	rule("s14_Export", "a built compilation is written into the buffer and its size told; in reference mode it is UNSUPPORTED").
		ok("size", func(t *T) {
			n := uint64(0)
			b := make([]byte, 1<<20)
			t.is(t.by(success, unsup), "Compilation_ExportCacheToBuffer", t.built(2), b, len(b), &n)
			t.check(t.Mode == Reference || n > 0 && n < 1<<20, "size %d", n)
		}).
		no("too_small", func(t *T) {
			n, b := uint64(0), slices.Repeat([]byte{0xee}, 64)
			t.is(t.by(invalid, unsup), "Compilation_ExportCacheToBuffer", t.built(2), b, 16, &n)
			t.check(t.Mode == Reference || n > 16, "the size that it takes is not told")
			t.check(b[16] == 0xee, "bytes behind the buffer were written")
		}),
	rule("s14_Import_with_model", "an imported cache beside the model it was made from is used by the manual; in reference mode two sources are INVALID").
		ok("used", func(t *T) {
			if t.Mode == Reference {
				t.builds(t.unbuilt())
				return
			}
			t.builds(t.imports(t.unbuilt(), t.exported(2)))
		}).
		no("no_cache", func(t *T) {
			t.is(t.by(success, invalid), "Compilation_Build", t.imports(t.unbuilt(), []byte("anything")))
		}),
	rule("s14_Import_for_cache", "an imported cache is restored by default; in reference mode it is FAILED").
		ok("restored", func(t *T) {
			if t.Mode == Reference {
				t.imports(t.forCache(), []byte("anything"))
				return
			}
			t.builds(t.imports(t.forCache(), t.exported(2)))
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
		only("nothing is refused"),
	rule("s14_AddExtensionConfig_copy", "name and value are copied at once").
		ok("copied", func(t *T) {
			c, name, value := t.withCache(t.unbuilt(), t.dir, 1), []byte("ModelName\x00"), []byte("abc")
			t.ok("Compilation_AddExtensionConfig", c, name, value, 3)
			copy(name, "XXXXXXXXX")
			copy(value, "xyz")
			t.builds(c)
			t.exists("abc" + infoFile)
		}).only("a statement about memory"),
	rule("s14_GetByteSize_dynamic", "the size of a dynamic shape is 0 with DYNAMIC_SHAPE by the manual, with SUCCESS in the reference implementation").
		ok("fixed", func(t *T) { t.size("TensorDesc_GetByteSize", t.desc(float32T, 2)) }).
		no("dynamic", func(t *T) {
			n := uint64(9)
			t.is(t.by(dynamic, success), "TensorDesc_GetByteSize", t.desc(float32T, 2, -1), &n)
			t.check(n == 0, "size %d", n)
		}),
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
		}).only("0 is always a device where there is one"),
	rule("s14_AddTensorToModel_finished", "after Finish it is FORBIDDEN by the manual; the reference implementation takes it without effect").
		ok("open", func(t *T) { t.ok("Model_AddTensorToModel", t.unfinished(2), t.desc(float32T, 2)) }).
		no("finished", func(t *T) {
			m := t.model(2)
			t.is(t.by(forbid, success), "Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.builds(t.compilation(m))
		}),
	rule("s14_Specify_constant", "a tensor that has constant data is accepted as an input").
		ok("accepted", func(t *T) {
			m := t.unspecified(2)
			t.ok("Model_SetTensorData", m, 1, []float32{1, 2}, 8)
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(2))
		}).only("nothing is refused"),
	rule("s14_AddOperation_surplus", "a foreign parameter and too many parameters are INVALID; AVG_POOL and MAX_POOL take each other's").
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
	rule("s14_legacy_order", "SetOutput comes before Run; without it Run is INVALID").
		ok("before", func(t *T) {
			e, _ := t.ready()
			t.ok("Executor_Run", e)
		}).
		no("after", func(t *T) {
			e := twoFloats(t)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			t.bad("Executor_Run", e)
		}),
	rule("s14_SetInput_bytes", "only the tensor's own bytes are copied, however long the data is").
		ok("48_for_8", func(t *T) {
			e, out := t.ready()
			t.ok("Executor_SetInput", e, 1, two, make([]float32, 12), 48)
			t.ok("Executor_Run", e)
			t.check(slices.Equal(out[:2], []float32{1, 2}), "got %v", out)
		}).only("nothing is refused"),
	rule("s14_SetInput_attributes", "data type, dimensions and tensor type are compared with the model's, quantisation parameters are not").
		ok("quantisation", func(t *T) { t.setInput(success, twoFloats(t), 0, quantised(legacy(float32T, 2)), 8) }).
		no("data_type", func(t *T) { t.setInput(invalid, twoFloats(t), 0, legacy(int32T, 2), 8) }).
		no("dimensions", func(t *T) { t.setInput(invalid, twoFloats(t), 0, legacy(float32T, 1), 8) }).
		no("tensor_type", func(t *T) { t.setInput(invalid, twoFloats(t), 0, typed(legacy(float32T, 2), 5), 8) }),
	rule("s14_GetOutputShape_before_run", "before any run the declared shape is given").
		ok("declared", func(t *T) {
			got := t.outputShape(t.executor(-1, 3))
			t.check(slices.Equal(got, []int32{-1, 3}), "shape %v", got)
		}).only("nothing is refused"),
	rule("s14_GetOutputShape_entry", "the variable must hold NULL on entry").
		ok("NULL", func(t *T) { t.outputShape(twoFloats(t)) }).
		no("not_NULL", func(t *T) { t.bad("Executor_GetOutputShape", twoFloats(t), 0, &[]uintptr{8}[0], new(uint32)) }),
	rule("s14_GetInputDimRange_entry", "what the variables hold on entry does not matter").
		ok("not_NULL", func(t *T) {
			lo, hi := uintptr(8), uintptr(8)
			t.ok("Executor_GetInputDimRange", twoFloats(t), 0, &lo, &hi, new(uint64))
			t.check(lo != 8 && hi != 8, "the variables were not written")
		}).only("nothing is refused"),
	rule("s14_GetInputDimRange_type", "the arrays are of size_t").
		ok("size_t", func(t *T) {
			var lo, hi uintptr
			var n uint64
			t.ok("Executor_GetInputDimRange", t.executor(2, 3), 0, &lo, &hi, &n)
			t.check(slices.Equal(load[uint64](lo, int(n)), []uint64{2, 3}), "got %v", load[uint64](lo, int(n)))
		}).only("a statement about a type"),
	asyncSetter(rule("s14_SetOnRunDone", "the function is taken by the manual and FORBIDDEN by the reference implementation"), "Executor_SetOnRunDone"),
	asyncSetter(rule("s14_SetOnServiceDied", "the function is taken by the manual and FORBIDDEN by the reference implementation"), "Executor_SetOnServiceDied"),
	rule("s14_RunAsync", "runs and calls back by the manual; FORBIDDEN by the reference implementation").
		ok("calls_back", func(t *T) {
			e := twoFloats(t)
			in, out := t.pair()
			if t.Mode == Reference {
				t.is(forbid, "Executor_RunAsync", e, in, 2, out, 1, 0, 1)
				return
			}
			t.ok("Executor_SetOnRunDone", e, runDone())
			got := t.async(e, in, out, 0)
			t.check(got.code == success && got.n == 1, "the callback was told %+v", got)
		}).
		no("nobody_to_call", func(t *T) {
			in, out := t.pair()
			t.is(forbid, "Executor_RunAsync", twoFloats(t), in, 2, out, 1, 0, 1)
		}),
	rule("s14_RunAsync_user_data", "NULL user data is INVALID, because an upstream test asserts it").
		ok("given", func(t *T) {
			in, out := t.pair()
			e := twoFloats(t)
			if t.Mode == Reference {
				t.is(forbid, "Executor_RunAsync", e, in, 2, out, 1, 0, 1)
				return
			}
			t.ok("Executor_SetOnRunDone", e, runDone())
			t.async(e, in, out, 0)
		}).
		no("NULL", func(t *T) {
			in, out := t.pair()
			t.bad("Executor_RunAsync", twoFloats(t), in, 2, out, 1, 0, nil)
		}),
	rule("s14_RunSync_real_shape", "the real shape is in the output tensor's descriptor and in GetOutputShape").
		ok("both", func(t *T) {
			e, x := t.executor(-1), t.tensor(make([]float32, 4), 4)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			t.ok("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			t.wantShape(t.ptr("Tensor_GetTensorDesc", out), 4)
			got := t.outputShape(e)
			t.check(slices.Equal(got, []int32{4}), "shape %v", got)
		}).only("a statement about results"),
	rule("s14_Build_contradiction", "shapes that an operator cannot be computed with are FAILED by Build; the reference implementation leaves it to the runs, which are UNAVAILABLE_DEVICE").
		ok("fitting", func(t *T) { t.builds(t.compilation(t.additionOf(2, 2, 2))) }).
		no("not_fitting", func(t *T) {
			c := t.compilation(t.additionOf(2, 3, 3))
			t.is(t.by(failed, success), "Compilation_Build", c)
			if t.Mode == Reference {
				in, out := []uintptr{t.tensor(nil, 2), t.tensor(nil, 3)}, []uintptr{t.tensor(nil, 3)}
				t.is(unavail, "Executor_RunSync", t.executorOf(c), in, 2, out, 1)
			}
		}),
	rule("s14_Build_declared_output", "an output declared with another shape than the operator gives is built; every run is UNAVAILABLE_DEVICE").
		ok("as_given", func(t *T) { t.builds(t.compilation(t.additionOf(2, 2, 2))) }).
		no("another", func(t *T) {
			c := t.compilation(t.additionOf(2, 2, 4))
			t.ok("Compilation_Build", c)
			in, _ := t.pair()
			t.is(unavail, "Executor_RunSync", t.executorOf(c), in, 2, []uintptr{t.tensor(nil, 4)}, 1)
		}),
	rule("s14_threads", "models, compilations and executors work in parallel without a lock of the program").
		ok("parallel", func(t *T) {
			var wg sync.WaitGroup
			errs := make(chan any, 4)
			for range 4 {
				wg.Go(func() {
					own := &T{library: &library{t.symbols, map[string]bool{}}, Mode: t.Mode, dir: t.dir}
					defer func() {
						for i := len(own.defers) - 1; i >= 0; i-- {
							own.defers[i]()
						}
						if v := recover(); v != nil {
							errs <- v
						}
					}()
					for range 5 {
						own.runs(own.executor(2))
					}
				})
			}
			wg.Wait()
			select {
			case v := <-errs:
				t.failf("%v", v)
			default:
			}
		}).only("a statement about threads"),
}
