package rules

import "slices"

// setInput is SetInput of two floats on an executor of float[2].
func (t *T) setInput(want int, e uintptr, index int, x *legacyTensor, length int) {
	t.is(want, "Executor_SetInput", e, index, x, []float32{1, 2, 3, 4}, length)
}

var two = legacy(float32T, 2)

// ready is an executor with all inputs and its output set.
func (t *T) ready() (e uintptr, out []float32) {
	e = twoFloats(t)
	t.ok("Executor_SetInput", e, 0, two, []float32{1, 2}, 8)
	t.ok("Executor_SetInput", e, 1, two, []float32{10, 20}, 8)
	out = make([]float32, 4)
	t.keep = append(t.keep, out)
	t.ok("Executor_SetOutput", e, 0, out, 8)
	return e, out
}

func quantized(x *legacyTensor) *legacyTensor {
	x.quant = legacyQuantOf(1, 8)
	return x
}

func typed(x *legacyTensor, tensorType int32) *legacyTensor {
	x.tensorType = tensorType
	return x
}

// inputChecks are the checks that SetInput and SetInputWithMemory share; set gives the code for a struct.
func inputChecks(r *Rule, set func(t *T, want int, e uintptr, index int, x *legacyTensor)) *Rule {
	refuse := func(name string, x *legacyTensor) {
		r.no(name, func(t *T) { set(t, invalid, twoFloats(t), 0, x) })
	}
	r.ok("matches", func(t *T) { set(t, success, twoFloats(t), 1, two) })
	r.ok("dynamic_dimension", func(t *T) { set(t, success, t.executor(-1), 0, two) })
	r.ok("quantization_ignored", func(t *T) { set(t, success, twoFloats(t), 0, quantized(legacy(float32T, 2))) })
	r.no("index", func(t *T) { set(t, invalid, twoFloats(t), 2, two) })
	refuse("data_type", legacy(int32T, 2))
	refuse("rank", legacy(float32T, 1, 2))
	refuse("dimension", legacy(float32T, 3))
	refuse("dynamic", legacy(float32T, -1))
	refuse("invalid_dimension", legacy(float32T, 0))
	refuse("invalid_type", legacy(13, 2))
	refuse("tensor_type", typed(legacy(float32T, 2), addActivation))
	return r
}

var legacyExecutors = []*Rule{
	rule("s10_SetInput", "takes the data of an input; NULLs and length 0 are INVALID").
		ok("sets", func(t *T) { t.setInput(success, twoFloats(t), 0, two, 8) }).
		no("NULL_executor", func(t *T) { t.bad("Executor_SetInput", nil, 0, two, []float32{1, 2}, 8) }).
		no("NULL_tensor", func(t *T) { t.bad("Executor_SetInput", twoFloats(t), 0, nil, []float32{1, 2}, 8) }).
		no("NULL_data", func(t *T) { t.bad("Executor_SetInput", twoFloats(t), 0, two, nil, 8) }).
		no("length_0", func(t *T) { t.setInput(invalid, twoFloats(t), 0, two, 0) }),
	inputChecks(rule("s10_SetInput_tensor", "the struct must match the model in data type, rank, fixed dimensions and "+
		"tensor type, and be complete: else INVALID"),
		func(t *T, want int, e uintptr, index int, x *legacyTensor) { t.setInput(want, e, index, x, 16) }),
	rule("s10_SetInput_range", "a dimension outside the device's range is INVALID").
		ok("largest", func(t *T) {
			n := largestDim
			t.ok("Executor_SetInput", t.executor(-1), 0, legacy(float32T, int32(n)), make([]float32, n), 4*n)
		}).
		no("above", func(t *T) {
			n := largestDim + 1
			t.bad("Executor_SetInput", t.executor(-1), 0, legacy(float32T, int32(n)), make([]float32, n), 4*n)
		}).
		no("fixed_without_ranges", func(t *T) { t.setInput(invalid, t.executorOn(plainDevice), 0, legacy(float32T, 3), 16) }),
	rule("s10_SetInput_length", "a length below the tensor's is INVALID; of a longer one only the tensor's bytes are "+
		"copied").
		ok("longer", func(t *T) {
			e, out := t.ready()
			t.ok("Executor_SetInput", e, 0, two, slices.Repeat([]float32{5}, 12), 48)
			t.ok("Executor_Run", e)
			t.check(slices.Equal(out, []float32{15, 25, 0, 0}), "got %v", out)
		}).
		no("shorter", func(t *T) { t.setInput(invalid, twoFloats(t), 0, two, 7) }),
	rule("s10_SetInput_copy", "the data is copied by the call, which may be repeated").
		ok("copied", func(t *T) {
			e, out := t.ready()
			data := []float32{3, 4}
			t.ok("Executor_SetInput", e, 0, two, data, 8)
			data[0] = 99
			t.ok("Executor_Run", e)
			t.check(slices.Equal(out[:2], []float32{13, 24}), "got %v", out)
		}).
		no("refused_keeps_the_copy", func(t *T) {
			e, out := t.ready()
			t.setInput(invalid, e, 0, two, 7)
			t.ok("Executor_Run", e)
			t.check(slices.Equal(out[:2], []float32{11, 22}), "got %v", out)
		}),
	rule("s10_SetOutput", "takes the memory of an output; NULLs, length 0 and a bad index are INVALID").
		ok("sets_and_repeats", func(t *T) {
			e, _ := t.ready()
			other := make([]float32, 2)
			t.keep = append(t.keep, other)
			t.ok("Executor_SetOutput", e, 0, other, 8)
			t.ok("Executor_Run", e)
			t.check(slices.Equal(other, []float32{11, 22}), "got %v", other)
		}).
		no("NULL_executor", func(t *T) { t.bad("Executor_SetOutput", nil, 0, []float32{1, 2}, 8) }).
		no("NULL_data", func(t *T) { t.bad("Executor_SetOutput", twoFloats(t), 0, nil, 8) }).
		no("length_0", func(t *T) { t.bad("Executor_SetOutput", twoFloats(t), 0, []float32{1, 2}, 0) }).
		no("index", func(t *T) { t.bad("Executor_SetOutput", twoFloats(t), 1, []float32{1, 2}, 8) }),
	rule("s10_SetOutput_length", "a length below the output's bytes is INVALID; a dynamic output has 0 before a run and "+
		"its last real size after").
		ok("dynamic", func(t *T) {
			b := make([]byte, 1)
			t.keep = append(t.keep, b)
			t.ok("Executor_SetOutput", t.executor(-1), 0, b, 1)
		}).
		no("shorter", func(t *T) { t.bad("Executor_SetOutput", twoFloats(t), 0, []float32{1, 2}, 7) }).
		no("shorter_than_last", func(t *T) {
			e := t.executor(-1)
			out := make([]float32, 3)
			t.keep = append(t.keep, out)
			for i := range 2 {
				t.ok("Executor_SetInput", e, i, legacy(float32T, 3), []float32{1, 2, 3}, 12)
			}
			t.ok("Executor_SetOutput", e, 0, out, 12)
			t.ok("Executor_Run", e)
			t.bad("Executor_SetOutput", e, 0, out, 11)
		}),
	rule("s10_SetOutput_scalar", "the reference implementation takes no scalar output").
		ok("vector", func(t *T) { t.ready() }).
		ok("scalar", func(t *T) {
			b := make([]float32, 1)
			t.keep = append(t.keep, b)
			t.ok("Executor_SetOutput", t.executor(), 0, b, 4)
		}).when(Default).
		no("scalar", func(t *T) { t.bad("Executor_SetOutput", t.executor(), 0, make([]float32, 1), 4) }).when(Reference).
		no("shorter", func(t *T) { t.bad("Executor_SetOutput", t.executor(), 0, make([]float32, 1), 3) }),
	rule("s10_Run", "runs with what is set, again and again; NULL, an input and an output that are not set are INVALID").
		ok("repeated", func(t *T) {
			e, out := t.ready()
			for range 3 {
				out[0] = 0
				t.ok("Executor_Run", e)
				t.check(slices.Equal(out, []float32{11, 22, 0, 0}), "got %v", out)
			}
		}).
		no("NULL", func(t *T) { t.bad("Executor_Run", nil) }).
		no("nothing_set", func(t *T) { t.bad("Executor_Run", twoFloats(t)) }).
		no("one_input", func(t *T) {
			e := twoFloats(t)
			t.setInput(success, e, 0, two, 8)
			out := make([]float32, 2)
			t.keep = append(t.keep, out)
			t.ok("Executor_SetOutput", e, 0, out, 8)
			t.bad("Executor_Run", e)
		}).
		no("no_output", func(t *T) {
			e := twoFloats(t)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			t.bad("Executor_Run", e)
		}),
	rule("s10_Run_size", "a result that is larger than the output's memory is INVALID, and nothing behind it is written").
		ok("exact", func(t *T) {
			e, out := t.ready()
			t.ok("Executor_Run", e)
			t.check(out[2] == 0, "bytes behind the result were written")
		}).
		ok("larger_memory", func(t *T) {
			e := twoFloats(t)
			out := []float32{7, 7, 7, 7}
			t.keep = append(t.keep, out)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			t.ok("Executor_SetOutput", e, 0, out, 16)
			t.ok("Executor_Run", e)
			t.check(slices.Equal(out, []float32{2, 4, 7, 7}), "got %v", out)
		}).
		no("too_small", func(t *T) {
			e := t.executor(-1)
			out := make([]float32, 4)
			t.keep = append(t.keep, out)
			for i := range 2 {
				t.ok("Executor_SetInput", e, i, legacy(float32T, 4), []float32{1, 2, 3, 4}, 16)
			}
			t.ok("Executor_SetOutput", e, 0, out, 8)
			t.bad("Executor_Run", e)
			t.check(out[2] == 0 && out[3] == 0, "bytes behind the memory were written: %v", out)
		}),
	rule("s10_Run_rank", "a result of another rank than the declared output is refused").
		ok("declared", func(t *T) {
			e, _ := t.ready()
			t.ok("Executor_Run", e)
		}).
		no("another", func(t *T) {
			m := t.emptyModel()
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 1, 2))
			t.ok("Model_AddOperation", m, opAdd, &array{}, list(0, 1), list(2))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(2))
			t.ok("Model_Finish", m)
			c := t.compilation(m)
			t.ok("Compilation_Build", c)
			e := t.executorOf(c)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			out := make([]float32, 2)
			t.keep = append(t.keep, out)
			t.ok("Executor_SetOutput", e, 0, out, 8)
			t.is(unavail, "Executor_Run", e)
		}),
	rule("s10_Run_device", "an error of the device is UNAVAILABLE_DEVICE").
		ok("none", func(t *T) {
			e, _ := t.ready()
			t.ok("Executor_Run", e)
		}).
		no("shapes_that_do_not_broadcast", func(t *T) {
			e := t.executor(-1)
			out := make([]float32, 4)
			t.keep = append(t.keep, out)
			t.ok("Executor_SetInput", e, 0, legacy(float32T, 2), []float32{1, 2}, 8)
			t.ok("Executor_SetInput", e, 1, legacy(float32T, 3), []float32{1, 2, 3}, 12)
			t.ok("Executor_SetOutput", e, 0, out, 16)
			t.is(unavail, "Executor_Run", e)
		}),
}
