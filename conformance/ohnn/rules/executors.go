package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

func twoFloats(t *T) uintptr { return t.executor(2) }

// outputShape reads the shape of output 0.
func (t *T) outputShape(e uintptr) []int32 {
	var p uintptr
	var n uint32
	t.OK("Executor_GetOutputShape", e, 0, &p, &n)
	return cmem.Copy[int32](p, int(n))
}

// ports are the rules of the two functions that describe inputs and outputs.
func ports(r *Rule, function string, count int, name string) *Rule {
	return r.OK("describes", func(t *T) {
		e := t.executor(-1, 2)
		for i := range count {
			d := t.object("TensorDesc_Destroy", t.Ptr(function, e, i))
			t.wantShape(d, -1, 2)
			t.Check(t.enum("TensorDesc_GetDataType", d) == float32T, "data type")
			t.Check(t.enum("TensorDesc_GetFormat", d) == 2, "format: want NHWC")
		}
		d := t.object("TensorDesc_Destroy", t.Ptr(function, e, 0))
		t.Check(t.name(d) == name, "name %q, want %q", t.name(d), name)
	}).
		OK("own", func(t *T) {
			e := twoFloats(t)
			d := t.object("TensorDesc_Destroy", t.Ptr(function, e, 0))
			t.OK("TensorDesc_SetShape", d, []int32{9}, 1)
			t.wantShape(t.object("TensorDesc_Destroy", t.Ptr(function, e, 0)), 2)
		}).
		No("NULL", func(t *T) { t.Null(function, nil, 0) }).
		No("index", func(t *T) { t.Null(function, twoFloats(t), count) }).
		No("huge_index", func(t *T) { t.Null(function, twoFloats(t), hugeSize) })
}

// counts are the rules of the two functions that count inputs and outputs.
func counts(r *Rule, function string, want uint64) *Rule {
	return nulls(r.OK("counts", func(t *T) {
		n := t.size(function, twoFloats(t))
		t.Check(n == want, "%d, want %d", n, want)
	}), function, twoFloats)
}

var callback = uintptr(0x1000) // an address that is set as a callback and never called

var executors = []*Rule{
	rule("s8_Executor_Construct", "makes an executor of a built compilation, any number of them; NULL for NULL and for "+
		"one that is not built").
		OK("several", func(t *T) {
			c := t.built(2)
			a, b := t.executorOf(c), t.executorOf(c)
			t.Check(a != b, "the same executor twice")
			t.runs(a)
			t.runs(b)
		}).
		No("NULL", func(t *T) { t.Null("Executor_Construct", nil) }).
		No("not_built", func(t *T) { t.Null("Executor_Construct", t.unbuilt()) }).
		No("build_failed", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetPriority", c, 99)
			t.Bad("Compilation_Build", c)
			t.Null("Executor_Construct", c)
		}),
	rule("s8_Executor_Construct_lifetime", "the compilation may be destroyed afterwards").
		OK("destroyed", func(t *T) {
			c := t.built(2)
			e := t.executorOf(c)
			t.Call("Compilation_Destroy", &c)
			t.runs(e)
		}).
		No("destroyed_is_gone", func(t *T) {
			c := t.built(2)
			e, stale := t.executorOf(c), c
			t.Call("Compilation_Destroy", &c)
			t.Null("Executor_Construct", stale)
			t.runs(e)
		}),
	rule("s8_Executor_Destroy", "ends an executor and clears the variable; NULLs are ignored, so a second call does no "+
		"harm").
		OK("clears", func(t *T) {
			e := t.Ptr("Executor_Construct", t.built(2))
			t.Call("Executor_Destroy", &e)
			t.Check(e == 0, "the variable holds %#x", e)
			t.Call("Executor_Destroy", &e)
		}).
		No("NULLs_ignored", func(t *T) {
			v := uintptr(0)
			t.Call("Executor_Destroy", nil)
			t.Call("Executor_Destroy", &v)
			t.NoEffect(v != 0, "the variable holds %#x", v)
		}).
		No("other_kind", func(t *T) { t.destroysNoOther("Executor_Destroy") }),
	rule("s8_Executor_Destroy_memory", "memory objects that were not destroyed stay valid").
		OK("readable", func(t *T) {
			e := t.Ptr("Executor_Construct", t.built(2))
			m := t.allocate("Input", e, 0, 8)
			t.store(m, 1, 2)
			t.Call("Executor_Destroy", &e)
			t.Lost = 1
			got := cmem.Copy[float32](cmem.At[memory](m).data, 2)
			t.Check(slices.Equal(got, []float32{1, 2}), "got %v", got)
		}).
		No("not_freed_any_more", func(t *T) {
			e := t.Ptr("Executor_Construct", t.built(2))
			stale, m := e, t.allocate("Input", e, 0, 8)
			t.store(m, 3, 4)
			t.Call("Executor_Destroy", &e)
			t.Lost = 1
			before := m
			t.Call("Executor_DestroyInputMemory", stale, 0, &m)
			t.NoEffect(m != before, "the memory was freed through an executor that is gone")
			got := cmem.Copy[float32](cmem.At[memory](m).data, 2)
			t.Check(slices.Equal(got, []float32{3, 4}), "got %v", got)
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
		OK("declared", func(t *T) {
			got := t.outputShape(t.executor(-1, 2))
			t.Check(slices.Equal(got, []int32{-1, 2}), "shape %v, want [-1 2]", got)
		}).
		OK("real", func(t *T) {
			e := t.executor(-1)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			x := t.tensor([]float32{1, 2, 3}, 3)
			t.OK("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			got := t.outputShape(e)
			t.Check(slices.Equal(got, []int32{3}), "shape %v, want [3]", got)
		}).
		OK("until_the_next_run", func(t *T) {
			e := twoFloats(t)
			t.runs(e)
			var p uintptr
			var n uint32
			t.OK("Executor_GetOutputShape", e, 0, &p, &n)
			t.outputShape(e)
			t.Check(slices.Equal(cmem.Copy[int32](p, 1), []int32{2}), "the array changed")
		}).
		No("NULL_executor", func(t *T) { t.Bad("Executor_GetOutputShape", nil, 0, new(uintptr), new(uint32)) }).
		No("NULL_shape", func(t *T) { t.Bad("Executor_GetOutputShape", twoFloats(t), 0, nil, new(uint32)) }).
		No("NULL_length", func(t *T) { t.Bad("Executor_GetOutputShape", twoFloats(t), 0, new(uintptr), nil) }).
		No("shape_not_NULL", func(t *T) { t.Bad("Executor_GetOutputShape", twoFloats(t), 0, &[]uintptr{1}[0], new(uint32)) }).
		No("index", func(t *T) { t.Bad("Executor_GetOutputShape", twoFloats(t), 1, new(uintptr), new(uint32)) }),
	rule("s8_GetOutputShape_own", "a run of one executor does not change what another of the same compilation tells").
		OK("two_executors", func(t *T) {
			c := t.built(-1)
			a, b := t.executorOf(c), t.executorOf(c)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			x := t.tensor([]float32{1, 2, 3}, 3)
			t.OK("Executor_RunSync", a, []uintptr{x, x}, 2, []uintptr{out}, 1)
			got := t.outputShape(b)
			t.Check(slices.Equal(got, []int32{-1}), "shape %v, want [-1]", got)
		}).
		No("a_refused_run", func(t *T) {
			c := t.built(-1)
			a, b := t.executorOf(c), t.executorOf(c)
			in := []uintptr{t.tensor(make([]float32, 2), 2), t.tensor(make([]float32, 3), 3)}
			t.Is(unavail, "Executor_RunSync", a, in, 2, []uintptr{t.tensor(nil, 3)}, 1)
			for _, e := range []uintptr{a, b} {
				got := t.outputShape(e)
				t.Check(slices.Equal(got, []int32{-1}), "shape %v, want [-1]", got)
			}
		}),
	rule("s8_GetInputDimRange", "gives the smallest and largest dimensions, the same one twice where it is fixed; NULLs "+
		"and a bad index are INVALID").
		OK("ranges", func(t *T) {
			var lo, hi uintptr
			var n uint64
			t.OK("Executor_GetInputDimRange", t.executor(-1, 3), 1, &lo, &hi, &n)
			least, most := cmem.Copy[uint64](lo, int(n)), cmem.Copy[uint64](hi, int(n))
			t.Check(n == 2 && least[1] == 3 && most[1] == 3 && least[0] < most[0], "ranges %v to %v", least, most)
		}).
		OK("variables_not_NULL", func(t *T) {
			t.OK("Executor_GetInputDimRange", twoFloats(t), 0, &[]uintptr{1}[0], &[]uintptr{1}[0], new(uint64))
		}).
		No("NULL_executor", func(t *T) {
			t.Bad("Executor_GetInputDimRange", nil, 0, new(uintptr), new(uintptr), new(uint64))
		}).
		No("NULL_min", func(t *T) { t.Bad("Executor_GetInputDimRange", twoFloats(t), 0, nil, new(uintptr), new(uint64)) }).
		No("NULL_max", func(t *T) { t.Bad("Executor_GetInputDimRange", twoFloats(t), 0, new(uintptr), nil, new(uint64)) }).
		No("NULL_length", func(t *T) {
			t.Bad("Executor_GetInputDimRange", twoFloats(t), 0, new(uintptr), new(uintptr),
				nil)
		}).
		No("index", func(t *T) {
			t.Bad("Executor_GetInputDimRange", twoFloats(t), 2, new(uintptr), new(uintptr), new(uint64))
		}),
	rule("s8_GetInputDimRange_without", "a device without ranges is FORBIDDEN, whatever the index").
		OK("with", func(t *T) {
			var lo, hi uintptr
			var n uint64
			t.OK("Executor_GetInputDimRange", t.executorOn(fullDevice, -1), 0, &lo, &hi, &n)
			t.Check(n == 1 && cmem.Copy[uint64](hi, 1)[0] == largestDim, "%d ranges up to %v, want one up to %d", n,
				cmem.Copy[uint64](hi, int(n)), largestDim)
		}).
		No("without", func(t *T) {
			for _, index := range []int{0, 9} {
				t.Is(forbid, "Executor_GetInputDimRange", t.executorOn(plainDevice), index, new(uintptr), new(uintptr), new(uint64))
			}
		}),
	rule("s8_GetInputDimRange_lifetime", "the arrays are the executor's and stay as they are").
		OK("second_call", func(t *T) {
			e := t.executor(-1, 3)
			var lo, hi uintptr
			var n uint64
			t.OK("Executor_GetInputDimRange", e, 0, &lo, &hi, &n)
			before := append(cmem.Copy[uint64](lo, 2), cmem.Copy[uint64](hi, 2)...)
			x, out := t.tensor(make([]float32, 6), 2, 3), t.tensor(make([]float32, 6), 2, 3)
			t.OK("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			t.OK("Executor_GetInputDimRange", e, 1, new(uintptr), new(uintptr), &n)
			t.Check(slices.Equal(append(cmem.Copy[uint64](lo, 2), cmem.Copy[uint64](hi, 2)...), before),
				"the arrays have changed")
		}).
		No("after_a_refused_call", func(t *T) {
			e := t.executor(-1, 3)
			var lo, hi uintptr
			var n uint64
			t.OK("Executor_GetInputDimRange", e, 0, &lo, &hi, &n)
			from, to := lo, hi
			t.Bad("Executor_GetInputDimRange", e, 2, &lo, &hi, &n)
			t.Check(lo == from && hi == to && n == 2 && cmem.Copy[uint64](lo, 2)[1] == 3,
				"the refused call has changed something")
		}),
	asyncSetter(rule("s8_SetOnRunDone", "takes a function; NULLs are INVALID; the reference implementation forbids it"),
		"Executor_SetOnRunDone"),
	asyncSetter(rule("s8_SetOnServiceDied", "takes a function; NULLs are INVALID; the reference implementation forbids "+
		"it"), "Executor_SetOnServiceDied"),
}

func asyncSetter(r *Rule, function string) *Rule {
	return r.OK("sets", func(t *T) { t.OK(function, twoFloats(t), callback) }).In(ohnn.Manual).
		OK("not_needed", func(t *T) { t.runs(twoFloats(t)) }).
		No("sets", func(t *T) { t.Is(forbid, function, twoFloats(t), callback) }).In(ohnn.Reference).
		No("NULL_executor", func(t *T) { t.Bad(function, nil, callback) }).
		No("NULL_function", func(t *T) { t.Bad(function, twoFloats(t), nil) })
}
