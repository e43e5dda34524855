package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// setInput is SetInput of two floats on an executor of float[2].
func (t *T) setInput(want int, e uintptr, index int, x *legacyTensor, length int) {
	t.Is(want, "Executor_SetInput", e, index, x, []float32{1, 2, 3, 4}, length)
}

var two = legacy(float32T, 2)

// ready is an executor with all inputs and its output set.
func (t *T) ready() (e uintptr, out []float32) {
	e = twoFloats(t)
	t.OK("Executor_SetInput", e, 0, two, []float32{1, 2}, 8)
	t.OK("Executor_SetInput", e, 1, two, []float32{10, 20}, 8)
	out = make([]float32, 4)
	t.Keep(out)
	t.OK("Executor_SetOutput", e, 0, out, 8)
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
		r.No(name, func(t *T) { set(t, invalid, twoFloats(t), 0, x) })
	}
	r.OK("matches", func(t *T) { set(t, success, twoFloats(t), 1, two) })
	r.OK("dynamic_dimension", func(t *T) { set(t, success, t.executor(-1), 0, two) })
	r.OK("quantization_ignored", func(t *T) { set(t, success, twoFloats(t), 0, quantized(legacy(float32T, 2))) })
	r.No("index", func(t *T) { set(t, invalid, twoFloats(t), 2, two) })
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
		OK("sets", func(t *T) { t.setInput(success, twoFloats(t), 0, two, 8) }).
		No("NULL_executor", func(t *T) { t.Bad("Executor_SetInput", nil, 0, two, []float32{1, 2}, 8) }).
		No("NULL_tensor", func(t *T) { t.Bad("Executor_SetInput", twoFloats(t), 0, nil, []float32{1, 2}, 8) }).
		No("NULL_data", func(t *T) { t.Bad("Executor_SetInput", twoFloats(t), 0, two, nil, 8) }).
		No("length_0", func(t *T) { t.setInput(invalid, twoFloats(t), 0, two, 0) }),
	inputChecks(rule("s10_SetInput_tensor", "the struct must match the model in data type, rank, fixed dimensions and "+
		"tensor type, and be complete: else INVALID"),
		func(t *T, want int, e uintptr, index int, x *legacyTensor) { t.setInput(want, e, index, x, 16) }),
	rule("s10_SetInput_range", "a dimension outside the device's range is INVALID").
		OK("largest", func(t *T) {
			n := largestDim
			t.OK("Executor_SetInput", t.executor(-1), 0, legacy(float32T, int32(n)), make([]float32, n), 4*n)
		}).
		No("above", func(t *T) {
			n := largestDim + 1
			t.Bad("Executor_SetInput", t.executor(-1), 0, legacy(float32T, int32(n)), make([]float32, n), 4*n)
		}).
		No("fixed_without_ranges", func(t *T) { t.setInput(invalid, t.executorOn(plainDevice), 0, legacy(float32T, 3), 16) }),
	rule("s10_SetInput_length", "a length below the tensor's is INVALID; of a longer one only the tensor's bytes are "+
		"copied").
		OK("longer", func(t *T) {
			e, out := t.ready()
			t.OK("Executor_SetInput", e, 0, two, slices.Repeat([]float32{5}, 12), 48)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out, []float32{15, 25, 0, 0}), "got %v", out)
		}).
		No("shorter", func(t *T) { t.setInput(invalid, twoFloats(t), 0, two, 7) }),
	rule("s10_SetInput_copy", "the data is copied by the call, which may be repeated").
		OK("copied", func(t *T) {
			e, out := t.ready()
			data := []float32{3, 4}
			t.OK("Executor_SetInput", e, 0, two, data, 8)
			data[0] = 99
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out[:2], []float32{13, 24}), "got %v", out)
		}).
		No("refused_keeps_the_copy", func(t *T) {
			e, out := t.ready()
			t.setInput(invalid, e, 0, two, 7)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out[:2], []float32{11, 22}), "got %v", out)
		}),
	rule("s10_SetOutput", "takes the memory of an output; NULLs, length 0 and a bad index are INVALID").
		OK("sets_and_repeats", func(t *T) {
			e, _ := t.ready()
			other := make([]float32, 2)
			t.Keep(other)
			t.OK("Executor_SetOutput", e, 0, other, 8)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(other, []float32{11, 22}), "got %v", other)
		}).
		No("NULL_executor", func(t *T) { t.Bad("Executor_SetOutput", nil, 0, []float32{1, 2}, 8) }).
		No("NULL_data", func(t *T) { t.Bad("Executor_SetOutput", twoFloats(t), 0, nil, 8) }).
		No("length_0", func(t *T) { t.Bad("Executor_SetOutput", twoFloats(t), 0, []float32{1, 2}, 0) }).
		No("index", func(t *T) { t.Bad("Executor_SetOutput", twoFloats(t), 1, []float32{1, 2}, 8) }),
	rule("s10_SetOutput_length", "a length below the output's bytes is INVALID; a dynamic output has 0 before a run and "+
		"its last real size after").
		OK("dynamic", func(t *T) {
			b := make([]byte, 1)
			t.Keep(b)
			t.OK("Executor_SetOutput", t.executor(-1), 0, b, 1)
		}).
		No("shorter", func(t *T) { t.Bad("Executor_SetOutput", twoFloats(t), 0, []float32{1, 2}, 7) }).
		No("shorter_than_last", func(t *T) {
			e := t.executor(-1)
			out := make([]float32, 3)
			t.Keep(out)
			for i := range 2 {
				t.OK("Executor_SetInput", e, i, legacy(float32T, 3), []float32{1, 2, 3}, 12)
			}
			t.OK("Executor_SetOutput", e, 0, out, 12)
			t.OK("Executor_Run", e)
			t.Bad("Executor_SetOutput", e, 0, out, 11)
		}),
	rule("s10_SetOutput_scalar", "the reference implementation takes no scalar output").
		OK("vector", func(t *T) { t.ready() }).
		OK("scalar", func(t *T) {
			b := make([]float32, 1)
			t.Keep(b)
			t.OK("Executor_SetOutput", t.executor(), 0, b, 4)
		}).In(ohnn.Manual).
		No("scalar", func(t *T) { t.Bad("Executor_SetOutput", t.executor(), 0, make([]float32, 1), 4) }).In(ohnn.Reference).
		No("shorter", func(t *T) { t.Bad("Executor_SetOutput", t.executor(), 0, make([]float32, 1), 3) }),
	rule("s10_Run", "runs with what is set, again and again; NULL, an input and an output that are not set are INVALID").
		OK("repeated", func(t *T) {
			e, out := t.ready()
			for range 3 {
				out[0] = 0
				t.OK("Executor_Run", e)
				t.Check(slices.Equal(out, []float32{11, 22, 0, 0}), "got %v", out)
			}
		}).
		No("NULL", func(t *T) { t.Bad("Executor_Run", nil) }).
		No("nothing_set", func(t *T) { t.Bad("Executor_Run", twoFloats(t)) }).
		No("one_input", func(t *T) {
			e := twoFloats(t)
			t.setInput(success, e, 0, two, 8)
			out := make([]float32, 2)
			t.Keep(out)
			t.OK("Executor_SetOutput", e, 0, out, 8)
			t.Bad("Executor_Run", e)
		}).
		No("no_output", func(t *T) {
			e := twoFloats(t)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			t.Bad("Executor_Run", e)
		}),
	rule("s10_Run_size", "a result that is larger than the output's memory is INVALID, and nothing behind it is written").
		OK("exact", func(t *T) {
			e, out := t.ready()
			t.OK("Executor_Run", e)
			t.Check(out[2] == 0, "bytes behind the result were written")
		}).
		OK("larger_memory", func(t *T) {
			e := twoFloats(t)
			out := []float32{7, 7, 7, 7}
			t.Keep(out)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			t.OK("Executor_SetOutput", e, 0, out, 16)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out, []float32{2, 4, 7, 7}), "got %v", out)
		}).
		No("too_small", func(t *T) {
			e := t.executor(-1)
			out := make([]float32, 4)
			t.Keep(out)
			for i := range 2 {
				t.OK("Executor_SetInput", e, i, legacy(float32T, 4), []float32{1, 2, 3, 4}, 16)
			}
			t.OK("Executor_SetOutput", e, 0, out, 8)
			t.Bad("Executor_Run", e)
			t.Check(out[2] == 0 && out[3] == 0, "bytes behind the memory were written: %v", out)
		}),
	rule("s10_Run_rank", "a result of another rank than the declared output is refused").
		OK("declared", func(t *T) {
			e, _ := t.ready()
			t.OK("Executor_Run", e)
		}).
		No("another", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 1, 2))
			t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_Finish", m)
			c := t.compilation(m)
			t.OK("Compilation_Build", c)
			e := t.executorOf(c)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			out := make([]float32, 2)
			t.Keep(out)
			t.OK("Executor_SetOutput", e, 0, out, 8)
			t.Is(unavail, "Executor_Run", e)
		}),
	rule("s10_Run_device", "an error of the device is UNAVAILABLE_DEVICE").
		OK("none", func(t *T) {
			e, _ := t.ready()
			t.OK("Executor_Run", e)
		}).
		No("shapes_that_do_not_broadcast", func(t *T) {
			e := t.executor(-1)
			out := make([]float32, 4)
			t.Keep(out)
			t.OK("Executor_SetInput", e, 0, legacy(float32T, 2), []float32{1, 2}, 8)
			t.OK("Executor_SetInput", e, 1, legacy(float32T, 3), []float32{1, 2, 3}, 12)
			t.OK("Executor_SetOutput", e, 0, out, 16)
			t.Is(unavail, "Executor_Run", e)
		}),
}
