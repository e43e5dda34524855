package rules

import (
	"slices"
	"sync/atomic"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// pair is two inputs and an output for an executor of float[2].
func (t *T) pair() (in, out []uintptr) {
	return []uintptr{t.tensor([]float32{1, 2}, 2), t.tensor([]float32{10, 20}, 2)}, []uintptr{t.tensor(nil, 2)}
}

// runSync is a run with changed arguments.
func (t *T) runSync(want int, change func(in, out *[]uintptr)) {
	in, out := t.pair()
	e := twoFloats(t)
	change(&in, &out)
	t.Is(want, "Executor_RunSync", e, in, len(in), out, len(out))
}

// scalarRun adds scalars; the result is there whatever the code.
func (t *T) scalarRun(want int) {
	in, out := []uintptr{t.tensor([]float32{1}, 1), t.tensor([]float32{2}, 1)}, []uintptr{t.tensor(nil, 1)}
	e := t.executor()
	sum := cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", out[0]))
	t.Is(want, "Executor_RunSync", e, in, 2, out, 1)
	t.Check(*sum == 3, "got %v, want 3", *sum)
}

func replaceInput(t *T, dims ...int32) func(in, out *[]uintptr) {
	return func(in, _ *[]uintptr) { (*in)[1] = t.tensor(nil, dims...) }
}

// end is what a run-done callback was told.
type end struct {
	user, outputs uintptr
	code, n       int
	by            int // number of the function, where there are several
}

// ends collects the calls of the run-done callbacks by user data. Callbacks of a process cannot be given back, so there
// is one.
var (
	ends    = map[uintptr]chan end{}
	runDone = func() func() uintptr {
		var made uintptr
		return func() uintptr {
			if made == 0 {
				made = suite.NewCallback(func(user, code, outputs, n uintptr) uintptr {
					ends[user] <- end{user, outputs, int(uint32(code)), int(int32(n)), 0}
					return 0
				})
			}
			return made
		}
	}()
	nextUser atomic.Uintptr
)

// longRun is an executor of a product of n x n matrices: with n of 1024 and more it takes far more than a millisecond.
func (t *T) longRun(n int32) (e uintptr, in, out []uintptr) {
	m := t.emptyModel()
	for range 3 {
		t.OK("Model_AddTensorToModel", m, t.desc(float32T, n, n))
	}
	t.OK("Model_AddOperation", m, opMatMul, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_Finish", m)
	c := t.compilation(m)
	t.OK("Compilation_Build", c)
	x := t.tensor(nil, n, n)
	return t.executorOf(c), []uintptr{x, x}, []uintptr{t.tensor(nil, n, n)}
}

// async starts a run that is expected to be accepted, and returns how it ended.
func (t *T) async(e uintptr, in, out []uintptr, timeout int32) end {
	user := nextUser.Add(1)
	ends[user] = make(chan end, 1)
	t.OK("Executor_RunAsync", e, in, len(in), out, len(out), timeout, user)
	return <-ends[user]
}

var runs = []*Rule{
	rule("s8_RunSync", "runs; a NULL executor, NULL arrays, counts of 0 or more than 200 are INVALID").
		OK("runs", func(t *T) { t.runs(twoFloats(t)) }).
		No("NULL_executor", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunSync", nil, in, 2, out, 1)
		}).
		No("NULL_inputs", func(t *T) {
			_, out := t.pair()
			t.Bad("Executor_RunSync", twoFloats(t), nil, 2, out, 1)
		}).
		No("NULL_outputs", func(t *T) {
			in, _ := t.pair()
			t.Bad("Executor_RunSync", twoFloats(t), in, 2, nil, 1)
		}).
		No("no_inputs", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunSync", twoFloats(t), in, 0, out, 1)
		}).
		No("no_outputs", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunSync", twoFloats(t), in, 2, out, 0)
		}).
		No("201_inputs", func(t *T) { t.runSync(invalid, func(in, _ *[]uintptr) { *in = slices.Repeat(*in, 101) }) }).
		No("201_outputs", func(t *T) { t.runSync(invalid, func(_, out *[]uintptr) { *out = slices.Repeat(*out, 201) }) }),
	rule("s8_RunSync_counts", "counts other than the model's are INVALID").
		OK("the_models", func(t *T) { t.runs(twoFloats(t)) }).
		No("one_input", func(t *T) { t.runSync(invalid, func(in, _ *[]uintptr) { *in = (*in)[:1] }) }).
		No("two_outputs", func(t *T) { t.runSync(invalid, func(in, out *[]uintptr) { *out = append(*out, (*in)[0]) }) }),
	rule("s8_RunSync_NULL_input", "a NULL input is NULL_PTR on a device with dimension ranges, INVALID on one without").
		OK("given", func(t *T) { t.runs(twoFloats(t)) }).
		No("NULL", func(t *T) { t.runSync(nullPtr, func(in, _ *[]uintptr) { (*in)[1] = 0 }) }).
		No("without_ranges", func(t *T) {
			in, out := t.pair()
			e := t.executorOn(plainDevice)
			t.OK("Executor_RunSync", e, in, 2, out, 1)
			t.Bad("Executor_RunSync", e, []uintptr{in[0], 0}, 2, out, 1)
		}),
	rule("s8_RunSync_range", "an input dimension that is negative or outside its range is INVALID, and so is another "+
		"rank").
		OK("in_range", func(t *T) {
			e := t.executor(-1)
			for _, n := range []int32{1, 5, largestDim} {
				x, out := t.tensor(make([]float32, n), n), t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 8192)
				t.OK("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			}
		}).
		No("fixed", func(t *T) { t.runSync(invalid, replaceInput(t, 3)) }).
		No("above", func(t *T) {
			x, out := t.tensor(nil, largestDim+1), t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 8192)
			t.Bad("Executor_RunSync", t.executor(-1), []uintptr{x, x}, 2, []uintptr{out}, 1)
		}).
		No("below", func(t *T) {
			x, out := t.newTensor("CreateWithSize", 0, t.desc(float32T, 0), 64), t.newTensor("CreateWithSize", 0,
				t.desc(float32T, -1), 64)
			t.Bad("Executor_RunSync", t.executor(-1), []uintptr{x, x}, 2, []uintptr{out}, 1)
		}).
		No("negative", func(t *T) {
			t.runSync(invalid, func(in, _ *[]uintptr) { (*in)[1] = t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64) })
		}).
		No("rank", func(t *T) { t.runSync(invalid, replaceInput(t, 1, 2)) }),
	rule("s8_RunSync_NULL_output", "a NULL output is INVALID").
		OK("given", func(t *T) { t.runs(twoFloats(t)) }).
		No("NULL", func(t *T) { t.runSync(invalid, func(_, out *[]uintptr) { (*out)[0] = 0 }) }),
	rule("s8_RunSync_size", "memory that does not hold what its own descriptor says is FAILED").
		OK("larger", func(t *T) {
			in, _ := t.pair()
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, 2), 4096)
			t.OK("Executor_RunSync", twoFloats(t), in, 2, []uintptr{out}, 1)
			t.Check(slices.Equal(t.floats(out, 2), []float32{11, 22}), "got %v", t.floats(out, 2))
		}).
		No("output", func(t *T) {
			t.runSync(failed, func(_, out *[]uintptr) {
				t.OK("TensorDesc_SetShape", t.Ptr("Tensor_GetTensorDesc", (*out)[0]), []int32{100000}, 1)
			})
		}).
		No("input", func(t *T) {
			e := t.executor(-1)
			in, out := t.pair()
			t.OK("TensorDesc_SetShape", t.Ptr("Tensor_GetTensorDesc", in[0]), []int32{9}, 1)
			t.Is(failed, "Executor_RunSync", e, in, 2, out, 1)
		}),
	rule("s8_RunSync_order", "tensors are judged in order: dimensions and NULL input by input, then NULL outputs, then "+
		"sizes").
		OK("nothing_wrong", func(t *T) { t.runs(twoFloats(t)) }).
		No("range_of_first_before_NULL_second", func(t *T) {
			t.runSync(invalid, func(in, _ *[]uintptr) { *in = []uintptr{t.tensor(nil, 3), 0} })
		}).
		No("NULL_first_before_range_of_second", func(t *T) {
			t.runSync(nullPtr, func(in, _ *[]uintptr) { *in = []uintptr{0, t.tensor(nil, 3)} })
		}).
		No("NULL_input_before_NULL_output", func(t *T) {
			t.runSync(nullPtr, func(in, out *[]uintptr) { (*in)[1], (*out)[0] = 0, 0 })
		}).
		No("counts_before_NULL", func(t *T) { t.runSync(invalid, func(in, _ *[]uintptr) { *in = []uintptr{0} }) }).
		No("NULL_output_before_size", func(t *T) {
			t.runSync(invalid, func(in, out *[]uintptr) {
				(*in)[0], (*out)[0] = t.newTensor("CreateWithSize", 0, t.desc(int8T, 2), 2), 0
			})
		}),
	rule("s8_RunSync_device", "an error of the device is UNAVAILABLE_DEVICE").
		OK("enough", func(t *T) { t.runs(twoFloats(t)) }).
		No("output_too_small", func(t *T) {
			e, x := t.executor(-1), t.tensor(make([]float32, 4), 4)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 8)
			t.Is(unavail, "Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
		}).
		No("shapes_that_do_not_broadcast", func(t *T) {
			e := t.executor(-1)
			_, out := t.pair()
			in := []uintptr{t.tensor(make([]float32, 2), 2), t.tensor(make([]float32, 3), 3)}
			t.Is(unavail, "Executor_RunSync", e, in, 2, out, 1)
		}),
	rule("s8_RunSync_shapes", "the real output shapes are written into the output tensors' own descriptors").
		OK("rewritten", func(t *T) {
			e := t.executor(-1)
			x := t.tensor([]float32{1, 2, 3}, 3)
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			t.OK("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), 3)
			t.Check(slices.Equal(t.floats(out, 3), []float32{2, 4, 6}), "got %v", t.floats(out, 3))
		}).
		No("refused_leaves_them", func(t *T) {
			e := t.executor(-1)
			in := []uintptr{t.tensor(make([]float32, 2), 2), t.tensor(make([]float32, 3), 3)}
			out := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 64)
			t.Is(unavail, "Executor_RunSync", e, in, 2, []uintptr{out}, 1)
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), -1)
		}),
	rule("s8_RunSync_scalar", "a scalar is given and got as one element; the reference implementation runs and then is "+
		"INVALID, and both are for a result of more than 10 dimensions").
		OK("vector", func(t *T) { t.runs(twoFloats(t)) }).
		OK("scalar", func(t *T) { t.scalarRun(success) }).In(ohnn.Manual).
		No("scalar", func(t *T) { t.scalarRun(invalid) }).In(ohnn.Reference).
		No("two_elements", func(t *T) {
			in, _ := t.pair()
			t.Bad("Executor_RunSync", t.executor(), in, 2, []uintptr{t.tensor(nil, 1)}, 1)
		}).
		No("rank_11", func(t *T) {
			m, eleven := t.emptyModel(), slices.Repeat([]int32{1}, 11)
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 1))
			t.OK("Model_AddTensorToModel", m, t.desc(int64T, 11))
			t.OK("Model_SetTensorData", m, 1, slices.Repeat([]int32{1, 0}, 11), 88)
			t.OK("Model_AddTensor", m, legacy(float32T, eleven...))
			t.OK("Model_AddOperation", m, opReshape, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0), ohnn.List(2))
			t.OK("Model_Finish", m)
			c := t.compilation(m)
			t.OK("Compilation_Build", c)
			t.Bad("Executor_RunSync", t.executorOf(c), []uintptr{t.tensor(nil, 1)}, 1, []uintptr{t.tensor(nil, 1)}, 1)
		}),
	rule("s8_RunSync_types", "data types of tensors are not compared with the model's; too few bytes for the model's "+
		"type are FAILED").
		OK("int32_for_float32", func(t *T) {
			in, out := t.pair()
			in[0] = t.newTensor("Create", 0, t.desc(int32T, 2))
			t.OK("Executor_RunSync", twoFloats(t), in, 2, out, 1)
		}).
		No("too_few_bytes", func(t *T) {
			in, out := t.pair()
			in[0] = t.newTensor("Create", 0, t.desc(int8T, 2))
			t.Is(failed, "Executor_RunSync", twoFloats(t), in, 2, out, 1)
		}),
	rule("s8_RunAsync", "a NULL executor, NULL arrays, counts of 0 or more than 200 and NULL user data are INVALID; the "+
		"reference implementation forbids the rest").
		OK("accepted", func(t *T) {
			in, out := t.pair()
			e := twoFloats(t)

			t.OK("Executor_SetOnRunDone", e, runDone())
			got := t.async(e, in, out, 60000)
			t.Check(got.code == success && got.n == 1 && got.outputs == cmem.First(out), "the callback was told %+v", got)
			t.Check(slices.Equal(t.floats(out[0], 2), []float32{11, 22}), "got %v", t.floats(out[0], 2))
		}).In(ohnn.Manual).
		OK("waiting", func(t *T) { t.runs(twoFloats(t)) }).
		No("forbidden", func(t *T) {
			in, out := t.pair()
			t.Is(forbid, "Executor_RunAsync", twoFloats(t), in, 2, out, 1, 1000, 1)
		}).In(ohnn.Reference).
		No("NULL_executor", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunAsync", nil, in, 2, out, 1, 1000, 1)
		}).
		No("NULL_inputs", func(t *T) {
			_, out := t.pair()
			t.Bad("Executor_RunAsync", twoFloats(t), nil, 2, out, 1, 1000, 1)
		}).
		No("NULL_outputs", func(t *T) {
			in, _ := t.pair()
			t.Bad("Executor_RunAsync", twoFloats(t), in, 2, nil, 1, 1000, 1)
		}).
		No("no_inputs", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunAsync", twoFloats(t), in, 0, out, 1, 1000, 1)
		}).
		No("no_outputs", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunAsync", twoFloats(t), in, 2, out, 0, 1000, 1)
		}).
		No("201_inputs", func(t *T) {
			in, out := t.pair()
			in = slices.Repeat(in, 101)
			t.Bad("Executor_RunAsync", twoFloats(t), in, 201, out, 1, 1000, 1)
		}).
		No("NULL_user_data", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunAsync", twoFloats(t), in, 2, out, 1, 1000, nil)
		}),
	rule("s8_async_timeout", "when the timeout has passed, the callback is told TIMEOUT and no outputs").
		OK("enough_time", func(t *T) {
			e := twoFloats(t)
			t.OK("Executor_SetOnRunDone", e, runDone())
			in, out := t.pair()
			got := t.async(e, in, out, 600000)
			t.Check(got.code == success && got.outputs == cmem.First(out) && got.n == 1, "the callback was told %+v", got)
		}).In(ohnn.Manual).
		OK("waiting", func(t *T) { t.runs(twoFloats(t)) }).
		No("passed", func(t *T) {
			e, in, out := t.longRun(2048)
			t.OK("Executor_SetOnRunDone", e, runDone())
			got := t.async(e, in, out, 1)
			t.Check(got.code == timedOut && got.outputs == 0 && got.n == 0, "the callback was told %+v", got)
			t.Judged(false)
		}).In(ohnn.Manual).
		No("forbidden", func(t *T) {
			in, out := t.pair()
			t.Is(forbid, "Executor_RunAsync", twoFloats(t), in, 2, out, 1, 1, 1)
		}).In(ohnn.Reference),
	rule("s8_async_user_data", "the callback gets the user data of its run, and runs end in the order in which they "+
		"were started").
		OK("order", func(t *T) {
			in, out := t.pair()
			e := twoFloats(t)

			t.OK("Executor_SetOnRunDone", e, runDone())
			shared := make(chan end, 8)
			var users []uintptr
			for range 8 {
				user := nextUser.Add(1)
				ends[user] = shared
				users = append(users, user)
			}
			for _, user := range users {
				t.OK("Executor_RunAsync", e, in, 2, out, 1, 60000, user)
			}
			for i, user := range users {
				got := <-shared
				t.Check(got.user == user && got.code == success, "end %d is %+v, want user data %d", i, got, user)
			}
		}).In(ohnn.Manual).
		OK("one_after_another", func(t *T) {
			e := twoFloats(t)
			t.runs(e)
			t.runs(e)
		}).
		No("refused_calls_do_not_count", func(t *T) {
			in, out := t.pair()
			e := twoFloats(t)
			t.Bad("Executor_RunAsync", e, in, 2, out, 1, 60000, nil)
			if t.Mode == ohnn.Reference {
				t.Is(forbid, "Executor_RunAsync", e, in, 2, out, 1, 60000, 1)
				return
			}
			t.OK("Executor_SetOnRunDone", e, runDone())
			for range 3 {
				t.Bad("Executor_RunAsync", e, in, 2, out, 1, 60000, nil)
				t.Bad("Executor_RunAsync", e, in, 1, out, 1, 60000, nextUser.Add(1))
				got := t.async(e, in, out, 60000)
				t.Check(got.code == success, "the callback was told %+v", got)
			}
		}),
}
