package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// executorDifferences are those of executors and of all functions together.
var executorDifferences = []*Rule{
	rule("s14_legacy_order", "SetOutput comes before Run; without it Run is INVALID").
		OK("before", func(t *T) {
			e, _ := t.ready()
			t.OK("Executor_Run", e)
		}).
		No("after", func(t *T) {
			e := twoFloats(t)
			t.setInput(success, e, 0, two, 8)
			t.setInput(success, e, 1, two, 8)
			t.Bad("Executor_Run", e)
		}),
	rule("s14_SetInput_bytes", "only the tensor's own bytes are copied, however long the data is").
		OK("48_for_8", func(t *T) {
			e, out := t.ready()
			t.OK("Executor_SetInput", e, 1, two, make([]float32, 12), 48)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out[:2], []float32{1, 2}), "got %v", out)
		}).
		No("too_few", func(t *T) { t.setInput(invalid, twoFloats(t), 1, two, 7) }),
	rule("s14_SetInput_attributes", "data type, dimensions and tensor type are compared with the model's, quantization "+
		"parameters are not").
		OK("quantization", func(t *T) { t.setInput(success, twoFloats(t), 0, quantized(legacy(float32T, 2)), 8) }).
		No("data_type", func(t *T) { t.setInput(invalid, twoFloats(t), 0, legacy(int32T, 2), 8) }).
		No("dimensions", func(t *T) { t.setInput(invalid, twoFloats(t), 0, legacy(float32T, 1), 8) }).
		No("tensor_type", func(t *T) { t.setInput(invalid, twoFloats(t), 0, typed(legacy(float32T, 2), 5), 8) }),
	rule("s14_GetOutputShape_before_run", "before any run the declared shape is given").
		OK("declared", func(t *T) {
			got := t.outputShape(t.executor(-1, 3))
			t.Check(slices.Equal(got, []int32{-1, 3}), "shape %v", got)
		}).
		No("index_before_run", func(t *T) {
			t.Bad("Executor_GetOutputShape", t.executor(-1, 3), 1, new(uintptr), new(uint32))
		}),
	rule("s14_GetOutputShape_entry", "the variable must hold NULL on entry").
		OK("NULL", func(t *T) { t.outputShape(twoFloats(t)) }).
		No("not_NULL", func(t *T) { t.Bad("Executor_GetOutputShape", twoFloats(t), 0, &[]uintptr{8}[0], new(uint32)) }),
	rule("s14_GetInputDimRange_entry", "what the variables hold on entry does not matter").
		OK("not_NULL", func(t *T) {
			lo, hi := uintptr(8), uintptr(8)
			t.OK("Executor_GetInputDimRange", twoFloats(t), 0, &lo, &hi, new(uint64))
			t.Check(lo != 8 && hi != 8, "the variables were not written")
		}).
		No("no_variables", func(t *T) {
			lo, hi := uintptr(8), uintptr(8)
			t.Bad("Executor_GetInputDimRange", twoFloats(t), 0, nil, &hi, new(uint64))
			t.Bad("Executor_GetInputDimRange", twoFloats(t), 0, &lo, nil, new(uint64))
			t.Check(lo == 8 && hi == 8, "the variables were written")
		}),
	rule("s14_GetInputDimRange_type", "index, arrays and length are of size_t").
		OK("size_t", func(t *T) {
			var lo, hi uintptr
			var n uint64
			t.OK("Executor_GetInputDimRange", t.executor(2, 3), 0, &lo, &hi, &n)
			t.Check(slices.Equal(cmem.Copy[uint64](lo, int(n)), []uint64{2, 3}), "got %v", cmem.Copy[uint64](lo, int(n)))
		}).
		No("index_of_64_bits", func(t *T) {
			t.Bad("Executor_GetInputDimRange", twoFloats(t), 1<<32, new(uintptr), new(uintptr), new(uint64))
		}),
	asyncSetter(rule("s14_SetOnRunDone", "the function is taken by the manual and FORBIDDEN by the reference "+
		"implementation"), "Executor_SetOnRunDone"),
	asyncSetter(rule("s14_SetOnServiceDied", "the function is taken by the manual and FORBIDDEN by the reference "+
		"implementation"), "Executor_SetOnServiceDied"),
	rule("s14_RunAsync", "runs and calls back by the manual; FORBIDDEN by the reference implementation").
		OK("calls_back", func(t *T) {
			e := twoFloats(t)
			in, out := t.pair()

			t.OK("Executor_SetOnRunDone", e, runDone())
			got := t.async(e, in, out, 0)
			t.Check(got.code == success && got.n == 1, "the callback was told %+v", got)
		}).In(ohnn.Manual).
		OK("waiting", func(t *T) { t.runs(twoFloats(t)) }).
		No("forbidden", func(t *T) {
			in, out := t.pair()
			t.Is(forbid, "Executor_RunAsync", twoFloats(t), in, 2, out, 1, 1000, 1)
		}).In(ohnn.Reference).
		No("nobody_to_call", func(t *T) {
			in, out := t.pair()
			t.Is(forbid, "Executor_RunAsync", twoFloats(t), in, 2, out, 1, 0, 1)
		}),
	rule("s14_RunAsync_user_data", "NULL user data is INVALID, because an upstream test asserts it").
		OK("given", func(t *T) {
			in, out := t.pair()
			e := twoFloats(t)

			t.OK("Executor_SetOnRunDone", e, runDone())
			t.async(e, in, out, 0)
		}).In(ohnn.Manual).
		OK("waiting", func(t *T) { t.runs(twoFloats(t)) }).
		No("NULL", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunAsync", twoFloats(t), in, 2, out, 1, 0, nil)
		}),
	rule("s14_RunSync_real_shape", "the real shape is in the output tensor's descriptor and in GetOutputShape").
		OK("both", func(t *T) {
			e, x := t.executor(-1), t.tensor(make([]float32, 4), 4)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			t.OK("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), 4)
			got := t.outputShape(e)
			t.Check(slices.Equal(got, []int32{4}), "shape %v", got)
		}).
		No("refused_run", func(t *T) {
			e := t.executor(-1)
			in := []uintptr{t.tensor(make([]float32, 2), 2), t.tensor(make([]float32, 3), 3)}
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			t.Is(unavail, "Executor_RunSync", e, in, 2, []uintptr{out}, 1)
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), -1)
			got := t.outputShape(e)
			t.Check(slices.Equal(got, []int32{-1}), "shape %v", got)
		}),
	rule("s14_Build_contradiction", "shapes that an operator cannot be computed with are FAILED by Build; the reference "+
		"implementation leaves it to the runs, which are UNAVAILABLE_DEVICE").
		OK("fitting", func(t *T) { t.builds(t.compilation(t.additionOf(2, 2, 2))) }).
		No("not_fitting", func(t *T) {
			c := t.compilation(t.additionOf(2, 3, 3))
			t.Is(t.by(failed, success), "Compilation_Build", c)
			if t.Mode == ohnn.Reference {
				in, out := []uintptr{t.tensor(nil, 2), t.tensor(nil, 3)}, []uintptr{t.tensor(nil, 3)}
				t.Is(unavail, "Executor_RunSync", t.executorOf(c), in, 2, out, 1)
			}
		}),
	rule("s14_Build_declared_output", "an output declared with another shape than the operator gives is built; every "+
		"run is UNAVAILABLE_DEVICE").
		OK("as_given", func(t *T) { t.builds(t.compilation(t.additionOf(2, 2, 2))) }).
		No("another", func(t *T) {
			c := t.compilation(t.additionOf(2, 2, 4))
			t.OK("Compilation_Build", c)
			in, _ := t.pair()
			t.Is(unavail, "Executor_RunSync", t.executorOf(c), in, 2, []uintptr{t.tensor(nil, 4)}, 1)
		}),
	rule("s14_threads", "models, compilations and executors work in parallel without a lock of the program").
		OK("parallel", func(t *T) {
			t.parallel(func(own *T) { own.runs(own.executor(2)) })
			t.Judged(true)
		}).
		No("refusals", func(t *T) {
			e := twoFloats(t)
			t.parallel(func(own *T) {
				own.runSync(invalid, replaceInput(own, 3))
				own.Is(failed, "Device_GetName", own.unknownDevice(), new(uintptr))
				own.Bad("Executor_Run", e)
				own.Bad("Compilation_Build", own.built(2))
			})
			t.Judged(false)
		}),
}
