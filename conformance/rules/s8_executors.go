package rules

import "slices"

func twoFloats(t *T) uintptr { return t.executor(2) }

// outputShape reads the shape of output 0.
func (t *T) outputShape(e uintptr) []int32 {
	var p uintptr
	var n uint32
	t.ok("Executor_GetOutputShape", e, 0, &p, &n)
	return load[int32](p, int(n))
}

// ports are the rules of the two functions that describe inputs and outputs.
func ports(r *Rule, function string, count int, name string) *Rule {
	return r.ok("describes", func(t *T) {
		e := t.executor(-1, 2)
		for i := range count {
			d := t.object("TensorDesc_Destroy", t.ptr(function, e, i))
			t.wantShape(d, -1, 2)
			t.check(t.enum("TensorDesc_GetDataType", d) == float32T, "data type")
			t.check(t.enum("TensorDesc_GetFormat", d) == 2, "format: want NHWC")
		}
		d := t.object("TensorDesc_Destroy", t.ptr(function, e, 0))
		t.check(t.name(d) == name, "name %q, want %q", t.name(d), name)
	}).
		ok("own", func(t *T) {
			e := twoFloats(t)
			d := t.object("TensorDesc_Destroy", t.ptr(function, e, 0))
			t.ok("TensorDesc_SetShape", d, []int32{9}, 1)
			t.wantShape(t.object("TensorDesc_Destroy", t.ptr(function, e, 0)), 2)
		}).
		no("NULL", func(t *T) { t.null(function, nil, 0) }).
		no("index", func(t *T) { t.null(function, twoFloats(t), count) }).
		no("huge_index", func(t *T) { t.null(function, twoFloats(t), hugeSize) })
}

// counts are the rules of the two functions that count inputs and outputs.
func counts(r *Rule, function string, want uint64) *Rule {
	return nulls(r.ok("counts", func(t *T) {
		n := t.size(function, twoFloats(t))
		t.check(n == want, "%d, want %d", n, want)
	}), function, twoFloats)
}

var callback = uintptr(0x1000) // an address that is set as a callback and never called

var executors = []*Rule{
	rule("s8_Executor_Construct", "makes an executor of a built compilation, any number of them; NULL for NULL and for "+
		"one that is not built").
		ok("several", func(t *T) {
			c := t.built(2)
			a, b := t.executorOf(c), t.executorOf(c)
			t.check(a != b, "the same executor twice")
			t.runs(a)
			t.runs(b)
		}).
		no("NULL", func(t *T) { t.null("Executor_Construct", nil) }).
		no("not_built", func(t *T) { t.null("Executor_Construct", t.unbuilt()) }).
		no("build_failed", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetPriority", c, 99)
			t.bad("Compilation_Build", c)
			t.null("Executor_Construct", c)
		}),
	rule("s8_Executor_Construct_lifetime", "the compilation may be destroyed afterwards").
		ok("destroyed", func(t *T) {
			c := t.built(2)
			e := t.executorOf(c)
			t.call("Compilation_Destroy", &c)
			t.runs(e)
		}).
		no("destroyed_is_gone", func(t *T) {
			c := t.built(2)
			e, stale := t.executorOf(c), c
			t.call("Compilation_Destroy", &c)
			t.null("Executor_Construct", stale)
			t.runs(e)
		}),
	rule("s8_Executor_Destroy", "ends an executor and clears the variable; NULLs are ignored, so a second call does no "+
		"harm").
		ok("clears", func(t *T) {
			e := t.ptr("Executor_Construct", t.built(2))
			t.call("Executor_Destroy", &e)
			t.check(e == 0, "the variable holds %#x", e)
			t.call("Executor_Destroy", &e)
		}).
		no("NULLs_ignored", func(t *T) {
			v := uintptr(0)
			t.call("Executor_Destroy", nil)
			t.call("Executor_Destroy", &v)
			t.noEffect(v != 0, "the variable holds %#x", v)
		}).
		no("other_kind", func(t *T) { t.destroysNoOther("Executor_Destroy") }),
	rule("s8_Executor_Destroy_memory", "memory objects that were not destroyed stay valid").
		ok("readable", func(t *T) {
			e := t.ptr("Executor_Construct", t.built(2))
			m := t.allocate("Input", e, 0, 8)
			t.store(m, 1, 2)
			t.call("Executor_Destroy", &e)
			t.lost = 1
			got := load[float32](at[memory](m).data, 2)
			t.check(slices.Equal(got, []float32{1, 2}), "got %v", got)
		}).
		no("not_freed_any_more", func(t *T) {
			e := t.ptr("Executor_Construct", t.built(2))
			stale, m := e, t.allocate("Input", e, 0, 8)
			t.store(m, 3, 4)
			t.call("Executor_Destroy", &e)
			t.lost = 1
			before := m
			t.call("Executor_DestroyInputMemory", stale, 0, &m)
			t.noEffect(m != before, "the memory was freed through an executor that is gone")
			got := load[float32](at[memory](m).data, 2)
			t.check(slices.Equal(got, []float32{3, 4}), "got %v", got)
		}),
	counts(rule("s8_GetInputCount", "gives the number of inputs; NULLs are INVALID"), "Executor_GetInputCount", 2),
	counts(rule("s8_GetOutputCount", "gives the number of outputs; NULLs are INVALID"), "Executor_GetOutputCount", 1),
	ports(rule("s8_CreateInputTensorDesc", "gives a new descriptor of an input: declared shape, NHWC, named by its "+
		"index; NULL for NULL and a bad index"),
		"Executor_CreateInputTensorDesc", 2, "Tensor: 0"),
	ports(rule("s8_CreateOutputTensorDesc", "gives a new descriptor of an output: declared shape, NHWC, named by its "+
		"index; NULL for NULL and a bad index"),
		"Executor_CreateOutputTensorDesc", 1, "Tensor: 2"),
	rule("s8_GetOutputShape", "gives the declared shape before any run, then the real one; NULLs, a variable that holds "+
		"no NULL and a bad index are INVALID").
		ok("declared", func(t *T) {
			got := t.outputShape(t.executor(-1, 2))
			t.check(slices.Equal(got, []int32{-1, 2}), "shape %v, want [-1 2]", got)
		}).
		ok("real", func(t *T) {
			e := t.executor(-1)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			x := t.tensor([]float32{1, 2, 3}, 3)
			t.ok("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			got := t.outputShape(e)
			t.check(slices.Equal(got, []int32{3}), "shape %v, want [3]", got)
		}).
		ok("until_the_next_run", func(t *T) {
			e := twoFloats(t)
			t.runs(e)
			var p uintptr
			var n uint32
			t.ok("Executor_GetOutputShape", e, 0, &p, &n)
			t.outputShape(e)
			t.check(slices.Equal(load[int32](p, 1), []int32{2}), "the array changed")
		}).
		no("NULL_executor", func(t *T) { t.bad("Executor_GetOutputShape", nil, 0, new(uintptr), new(uint32)) }).
		no("NULL_shape", func(t *T) { t.bad("Executor_GetOutputShape", twoFloats(t), 0, nil, new(uint32)) }).
		no("NULL_length", func(t *T) { t.bad("Executor_GetOutputShape", twoFloats(t), 0, new(uintptr), nil) }).
		no("shape_not_NULL", func(t *T) { t.bad("Executor_GetOutputShape", twoFloats(t), 0, &[]uintptr{1}[0], new(uint32)) }).
		no("index", func(t *T) { t.bad("Executor_GetOutputShape", twoFloats(t), 1, new(uintptr), new(uint32)) }),
	rule("s8_GetOutputShape_own", "a run of one executor does not change what another of the same compilation tells").
		ok("two_executors", func(t *T) {
			c := t.built(-1)
			a, b := t.executorOf(c), t.executorOf(c)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			x := t.tensor([]float32{1, 2, 3}, 3)
			t.ok("Executor_RunSync", a, []uintptr{x, x}, 2, []uintptr{out}, 1)
			got := t.outputShape(b)
			t.check(slices.Equal(got, []int32{-1}), "shape %v, want [-1]", got)
		}).
		no("a_refused_run", func(t *T) {
			c := t.built(-1)
			a, b := t.executorOf(c), t.executorOf(c)
			in := []uintptr{t.tensor(make([]float32, 2), 2), t.tensor(make([]float32, 3), 3)}
			t.is(unavail, "Executor_RunSync", a, in, 2, []uintptr{t.tensor(nil, 3)}, 1)
			for _, e := range []uintptr{a, b} {
				got := t.outputShape(e)
				t.check(slices.Equal(got, []int32{-1}), "shape %v, want [-1]", got)
			}
		}),
	rule("s8_GetInputDimRange", "gives the smallest and largest dimensions, the same one twice where it is fixed; NULLs "+
		"and a bad index are INVALID").
		ok("ranges", func(t *T) {
			var lo, hi uintptr
			var n uint64
			t.ok("Executor_GetInputDimRange", t.executor(-1, 3), 1, &lo, &hi, &n)
			least, most := load[uint64](lo, int(n)), load[uint64](hi, int(n))
			t.check(n == 2 && least[1] == 3 && most[1] == 3 && least[0] < most[0], "ranges %v to %v", least, most)
		}).
		ok("variables_not_NULL", func(t *T) {
			t.ok("Executor_GetInputDimRange", twoFloats(t), 0, &[]uintptr{1}[0], &[]uintptr{1}[0], new(uint64))
		}).
		no("NULL_executor", func(t *T) {
			t.bad("Executor_GetInputDimRange", nil, 0, new(uintptr), new(uintptr), new(uint64))
		}).
		no("NULL_min", func(t *T) { t.bad("Executor_GetInputDimRange", twoFloats(t), 0, nil, new(uintptr), new(uint64)) }).
		no("NULL_max", func(t *T) { t.bad("Executor_GetInputDimRange", twoFloats(t), 0, new(uintptr), nil, new(uint64)) }).
		no("NULL_length", func(t *T) {
			t.bad("Executor_GetInputDimRange", twoFloats(t), 0, new(uintptr), new(uintptr),
				nil)
		}).
		no("index", func(t *T) {
			t.bad("Executor_GetInputDimRange", twoFloats(t), 2, new(uintptr), new(uintptr), new(uint64))
		}),
	rule("s8_GetInputDimRange_without", "a device without ranges is FORBIDDEN, whatever the index").
		ok("with", func(t *T) {
			var lo, hi uintptr
			var n uint64
			t.ok("Executor_GetInputDimRange", t.executorOn(fullDevice, -1), 0, &lo, &hi, &n)
			t.check(n == 1 && load[uint64](hi, 1)[0] == largestDim, "%d ranges up to %v, want one up to %d", n,
				load[uint64](hi, int(n)), largestDim)
		}).
		no("without", func(t *T) {
			for _, index := range []int{0, 9} {
				t.is(forbid, "Executor_GetInputDimRange", t.executorOn(plainDevice), index, new(uintptr), new(uintptr), new(uint64))
			}
		}),
	rule("s8_GetInputDimRange_lifetime", "the arrays are the executor's and stay as they are").
		ok("second_call", func(t *T) {
			e := t.executor(-1, 3)
			var lo, hi uintptr
			var n uint64
			t.ok("Executor_GetInputDimRange", e, 0, &lo, &hi, &n)
			before := append(load[uint64](lo, 2), load[uint64](hi, 2)...)
			x, out := t.tensor(make([]float32, 6), 2, 3), t.tensor(make([]float32, 6), 2, 3)
			t.ok("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			t.ok("Executor_GetInputDimRange", e, 1, new(uintptr), new(uintptr), &n)
			t.check(slices.Equal(append(load[uint64](lo, 2), load[uint64](hi, 2)...), before), "the arrays have changed")
		}).
		no("after_a_refused_call", func(t *T) {
			e := t.executor(-1, 3)
			var lo, hi uintptr
			var n uint64
			t.ok("Executor_GetInputDimRange", e, 0, &lo, &hi, &n)
			from, to := lo, hi
			t.bad("Executor_GetInputDimRange", e, 2, &lo, &hi, &n)
			t.check(lo == from && hi == to && n == 2 && load[uint64](lo, 2)[1] == 3, "the refused call has changed something")
		}),
	asyncSetter(rule("s8_SetOnRunDone", "takes a function; NULLs are INVALID; the reference implementation forbids it"),
		"Executor_SetOnRunDone"),
	asyncSetter(rule("s8_SetOnServiceDied", "takes a function; NULLs are INVALID; the reference implementation forbids "+
		"it"), "Executor_SetOnServiceDied"),
}

func asyncSetter(r *Rule, function string) *Rule {
	return r.ok("sets", func(t *T) { t.ok(function, twoFloats(t), callback) }).when(Default).
		ok("not_needed", func(t *T) { t.runs(twoFloats(t)) }).
		no("sets", func(t *T) { t.is(forbid, function, twoFloats(t), callback) }).when(Reference).
		no("NULL_executor", func(t *T) { t.bad(function, nil, callback) }).
		no("NULL_function", func(t *T) { t.bad(function, twoFloats(t), nil) })
}
