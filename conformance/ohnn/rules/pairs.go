package rules

import (
	"fmt"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// wrong is one wrong value in a call, and what the call gives for it. Of two the one of the smaller step decides.
type wrong struct {
	where string // two wrong values of the same place make no pair
	step  int
	code  int
	set   func(t *T, args []any)
}

// arg puts a value in the place of an argument.
func arg(i int, where string, step, code int, v any) wrong {
	return wrong{where, step, code, func(_ *T, args []any) { args[i] = v }}
}

// made is arg with a value that is made when it is needed.
func made(i int, where string, step, code int, v func(*T) any) wrong {
	return wrong{where, step, code, func(t *T, args []any) { args[i] = v(t) }}
}

// element changes an element of an argument that is an array.
func element(i, k int, where string, step, code int, v func(*T) uintptr) wrong {
	return wrong{where, step, code, func(t *T, args []any) {
		if a, ok := args[i].([]uintptr); ok {
			a[k] = v(t)
		}
	}}
}

func none(*T) uintptr { return 0 }

// pairs adds to a rule a right call, every call with one wrong value and every call with two. right makes the arguments
// of a call that is accepted. A code of resultNull stands for NULL as the result.
func pairs(r *Rule, function string, right func(t *T) []any, wrongs func(t *T) []wrong) *Rule {
	call := func(t *T, name string, args []any, want int) {
		if want == resultNull {
			t.Null(function, args...)
			return
		}
		got := t.Code(function, args...)
		t.Check(got == want, "OH_NN%s with wrong %s: %s, want %s", function, name, ohnn.API.CodeName(got),
			ohnn.API.CodeName(want))
		t.Judged(want == success)
	}
	return r.No("one", func(t *T) {
		for _, a := range wrongs(t) {
			args := right(t)
			a.set(t, args)
			call(t, a.where, args, a.code)
		}
	}).No("two", func(t *T) {
		all := wrongs(t)
		for i, a := range all {
			for _, b := range all[i+1:] {
				if a.where == b.where {
					continue
				}
				first := a
				if b.step < a.step {
					first = b
				}
				t.Check(a.step != b.step || a.code == b.code, "%s and %s: which of both codes?", a.where, b.where)
				args := right(t)
				a.set(t, args)
				b.set(t, args)
				call(t, fmt.Sprintf("%s and %s", a.where, b.where), args, first.code)
			}
		}
	}).OK("nothing_wrong", func(t *T) {
		args := right(t)
		if all := wrongs(t); all[0].code == resultNull {
			p := t.Ptr(function, args...)
			t.Later(func() { t.Call("Tensor_Destroy", &p) })
			return
		}
		call(t, "nothing", args, success)
	})
}

const resultNull = -1

// runArgs are the arguments of a run of executor e of float[2], with room for wrong counts.
func runArgs(t *T, e uintptr) []any {
	in, out := t.pair()
	ins, outs := make([]uintptr, 210), make([]uintptr, 210)
	for i := range ins {
		ins[i], outs[i] = in[i%2], out[0]
	}
	return []any{e, ins, 2, outs, 1}
}

// arrays are the wrong arrays and counts of a run.
func arrays() []wrong {
	return []wrong{
		arg(0, "executor", 1, invalid, nil), arg(1, "inputs", 1, invalid, nil), arg(2, "input count", 1, invalid, 0),
		arg(2, "input count", 1, invalid, 201), arg(2, "input count", 1, invalid, hugeSize),
		arg(3, "outputs", 1, invalid, nil), arg(4, "output count", 1, invalid, 0),
		arg(4, "output count", 1, invalid, 201), arg(4, "output count", 1, invalid, hugeSize),
	}
}

// modelWrongs are those of functions that take a model first and a tensor's index second.
func modelWrongs(index int) []wrong {
	return []wrong{
		arg(0, "model", 1, invalid, nil), made(0, "model", 2, forbid, func(t *T) any { return t.model(2) }),
		arg(1, "index", 3, invalid, index), arg(1, "index", 3, invalid, uint32(1<<32-1)),
	}
}

// pairRules are the rules that of two wrong values the one that is judged first decides.
var pairRules = []*Rule{
	pairs(rule("s8_pairs_RunSync", "RunSync judges arrays and counts, the model's counts, inputs one by one, outputs, "+
		"sizes"), "Executor_RunSync", func(t *T) []any { return runArgs(t, twoFloats(t)) },
		func(*T) []wrong {
			other := func(t *T) uintptr { return t.tensor(nil, 3) }
			rank := func(t *T) uintptr { return t.tensor(nil, 1, 2) }
			small := func(t *T) uintptr { return t.newTensor("Create", 0, t.desc(int8T, 2)) }
			return append(arrays(), arg(2, "input count", 2, invalid, 1), arg(2, "input count", 2, invalid, 3),
				arg(4, "output count", 2, invalid, 2), arg(4, "output count", 2, invalid, 200),
				element(1, 0, "input 0", 3, nullPtr, none), element(1, 0, "input 0", 3, invalid, other),
				element(1, 0, "input 0", 3, invalid, rank), element(1, 1, "input 1", 4, nullPtr, none),
				element(1, 1, "input 1", 4, invalid, other), element(3, 0, "output", 5, invalid, none),
				element(1, 0, "input 0", 6, failed, small), element(1, 1, "input 1", 6, failed, small),
				element(3, 0, "output", 6, failed, (*T).shrunk))
		}),
	pairs(rule("s8_pairs_RunAsync", "RunAsync judges arrays, counts and user data before it is FORBIDDEN without a "+
		"function that is called"), "Executor_RunAsync",
		func(t *T) []any {
			e := twoFloats(t)
			args := runArgs(t, e)
			if t.Mode == ohnn.Reference {
				return append(args, 0, 1) // only refused
			}
			q := newQueue()
			t.OK("Executor_SetOnRunDone", e, queueDone(0))
			t.Keep(args)
			t.Later(func() { t.Call("Executor_Destroy", &e) })
			return append(args, 0, q.user())
		},
		func(*T) []wrong {
			return append(arrays(), arg(6, "user data", 1, invalid, nil),
				made(0, "executor", 2, forbid, func(t *T) any { return twoFloats(t) }))
		}).In(ohnn.Manual).
		OK("waiting", func(t *T) { t.runs(twoFloats(t)) }),
	pairs(rule("s6_pairs_SetTensorData", "SetTensorData judges pointers, length 0, the state, the index, a value that is "+
		"set, an open shape, the length"), "Model_SetTensorData",
		func(t *T) []any {
			m := t.openModel(2)
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, -1))
			return []any{m, 0, []float32{1, 2}, 8}
		},
		func(*T) []wrong {
			return append(modelWrongs(5), arg(2, "buffer", 1, invalid, nil), arg(3, "length", 1, invalid, 0),
				arg(1, "index", 4, invalid, 3), arg(1, "index", 5, forbid, 4), arg(3, "length", 6, invalid, 7),
				arg(3, "length", 6, invalid, 9), arg(3, "length", 6, invalid, uint64(1)<<32+8))
		}),
	pairs(rule("s6_pairs_SetTensorType", "SetTensorType judges the type before the state, the state before the index"),
		"Model_SetTensorType", func(t *T) []any { return []any{t.openModel(2), 3, 162} },
		func(*T) []wrong {
			return append(modelWrongs(4), arg(2, "type", 1, invalid, 163), arg(2, "type", 1, invalid, int32(-1)))
		}),
	pairs(rule("s6_pairs_SetTensorQuantParams", "SetTensorQuantParams judges pointers, state, index, values"),
		"Model_SetTensorQuantParams",
		func(t *T) []any { return []any{t.openModel(2), 3, t.quantOf([]float64{1}, []int32{0}, []uint32{8})} },
		func(t *T) []wrong {
			return append(modelWrongs(4), arg(2, "parameters", 1, invalid, nil),
				made(2, "parameters", 4, invalid, func(t *T) any { return t.quantOf([]float64{1}, nil, nil) }),
				made(2, "parameters", 4, invalid, func(t *T) any { return t.quantOf([]float64{1}, []int32{0}, []uint32{7}) }))
		}),
	pairs(rule("s6_pairs_AddTensor", "AddTensor judges pointers, state, the struct"), "Model_AddTensor",
		func(t *T) []any { return []any{t.openModel(2), legacy(float32T, 2)} },
		func(*T) []wrong {
			return append(modelWrongs(0)[:2], arg(1, "tensor", 1, invalid, nil), arg(1, "tensor", 3, invalid,
				legacy(99, 2)), arg(1, "tensor", 3, invalid, legacy(float32T, 0)))
		}),
	pairs(rule("s6_pairs_AddOperation", "AddOperation judges pointers, state, lists"), "Model_AddOperation",
		func(t *T) []any { return []any{t.openModel(2), opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2)} },
		func(*T) []wrong {
			out := append(modelWrongs(0)[:2], arg(1, "operation", 3, invalid, 0), arg(1, "operation", 3, invalid, 109))
			for i, name := range []string{"parameters", "inputs", "outputs"} {
				out = append(out, arg(2+i, name, 1, invalid, nil), arg(2+i, name, 3, invalid, ohnn.List(99)),
					arg(2+i, name, 3, invalid, lopsided(1)), arg(2+i, name, 3, invalid, lopsided(0)),
					arg(2+i, name, 3, invalid, many(201)))
			}
			return out
		}),
	pairs(rule("s6_pairs_Specify", "SpecifyInputsAndOutputs judges pointers, state, a call before, lists"),
		"Model_SpecifyInputsAndOutputs",
		func(t *T) []any { return []any{t.unspecified(2), ohnn.List(0, 1), ohnn.List(2)} },
		func(*T) []wrong {
			out := append(modelWrongs(0)[:2], made(0, "model", 2, forbid, func(t *T) any { return t.unfinished(2) }))
			for i, name := range []string{"inputs", "outputs"} {
				out = append(out, arg(1+i, name, 1, invalid, nil), arg(1+i, name, 3, invalid, ohnn.List(99)),
					arg(1+i, name, 3, invalid, lopsided(1)), arg(1+i, name, 3, invalid, ohnn.List(3)),
					arg(1+i, name, 3, invalid, &ohnn.Array{}), arg(1+i, name, 3, invalid, many(201)))
			}
			return out
		}),
	pairs(rule("s6_pairs_GetAvailableOperations", "GetAvailableOperations judges pointers, state, device"),
		"Model_GetAvailableOperations", func(t *T) []any { return []any{t.model(2), 0, new(uintptr), new(uint32)} },
		func(*T) []wrong {
			return []wrong{arg(0, "model", 1, invalid, nil), arg(2, "flags", 1, invalid, nil),
				arg(2, "flags", 1, invalid, &[]uintptr{1}[0]), arg(3, "count", 1, invalid, nil),
				made(0, "model", 2, forbid, func(t *T) any { return t.unfinished(2) }),
				made(1, "device", 3, failed, func(t *T) any { return t.unknownDevice() })}
		}),
	pairs(rule("s2_pairs_GetName", "GetName judges the variable before the id"), "Device_GetName",
		func(t *T) []any { return []any{t.deviceIDs()[0], new(uintptr)} },
		func(*T) []wrong {
			return []wrong{arg(1, "name", 1, invalid, nil), arg(1, "name", 1, invalid, &[]uintptr{1}[0]),
				made(0, "device", 2, failed, func(t *T) any { return t.unknownDevice() })}
		}),
	pairs(rule("s8_pairs_GetInputDimRange", "GetInputDimRange judges pointers, the device's ability, the index"),
		"Executor_GetInputDimRange",
		func(t *T) []any { return []any{twoFloats(t), 1, new(uintptr), new(uintptr), new(uint64)} },
		func(*T) []wrong {
			return []wrong{arg(0, "executor", 1, invalid, nil), arg(2, "min", 1, invalid, nil),
				arg(3, "max", 1, invalid, nil), arg(4, "length", 1, invalid, nil),
				made(0, "executor", 2, forbid, func(t *T) any { return t.executorOn(plainDevice) }),
				arg(1, "index", 3, invalid, 2), arg(1, "index", 3, invalid, hugeSize)}
		}),
	pairs(rule("s8_pairs_GetOutputShape", "GetOutputShape is INVALID for each of its arguments"),
		"Executor_GetOutputShape", func(t *T) []any { return []any{twoFloats(t), 0, new(uintptr), new(uint32)} },
		func(*T) []wrong {
			return []wrong{arg(0, "executor", 1, invalid, nil), arg(1, "index", 1, invalid, 1),
				arg(2, "shape", 1, invalid, nil), arg(2, "shape", 1, invalid, &[]uintptr{1}[0]),
				arg(3, "length", 1, invalid, nil)}
		}),
	pairs(rule("s10_pairs_SetInput", "SetInput is INVALID for each of its arguments"), "Executor_SetInput",
		func(t *T) []any { return []any{twoFloats(t), 1, two, []float32{1, 2}, 8} },
		func(*T) []wrong {
			return []wrong{arg(0, "executor", 1, invalid, nil), arg(1, "index", 1, invalid, 2),
				arg(2, "tensor", 1, invalid, nil), arg(2, "tensor", 1, invalid, legacy(float32T, 3)),
				arg(2, "tensor", 1, invalid, legacy(int32T, 2)), arg(2, "tensor", 1, invalid, legacy(float32T, -1)),
				arg(3, "data", 1, invalid, nil), arg(4, "length", 1, invalid, 0), arg(4, "length", 1, invalid, 7)}
		}),
	pairs(rule("s10_pairs_SetOutput", "SetOutput is INVALID for each of its arguments"), "Executor_SetOutput",
		func(t *T) []any {
			out := make([]float32, 2)
			t.Keep(out)
			return []any{twoFloats(t), 0, out, 8}
		},
		func(*T) []wrong {
			return []wrong{arg(0, "executor", 1, invalid, nil), arg(1, "index", 1, invalid, 1),
				arg(2, "data", 1, invalid, nil), arg(3, "length", 1, invalid, 0), arg(3, "length", 1, invalid, 7)}
		}),
	pairs(rule("s4_pairs_CreateWithFd", "CreateWithFd gives NULL for each of its arguments"), "Tensor_CreateWithFd",
		func(t *T) []any { return []any{0, floatDesc(t), t.sharedMemory(int64(3 * page)), page + 24, page} },
		func(*T) []wrong {
			return []wrong{made(0, "device", 1, resultNull, func(t *T) any { return t.unknownDevice() }),
				arg(1, "descriptor", 1, resultNull, nil),
				made(1, "descriptor", 1, resultNull, func(t *T) any { return t.desc(float32T) }),
				made(1, "descriptor", 1, resultNull, func(t *T) any { return t.desc(0, 2) }),
				arg(2, "fd", 1, resultNull, int32(-1)), arg(3, "size", 1, resultNull, 0),
				arg(3, "size", 1, resultNull, page+23), arg(4, "offset", 1, resultNull, 2*page),
				arg(4, "offset", 1, resultNull, hugeSize)}
		}),
	rule("s7_pairs_options", "all pairs of performance mode and priority build and compute, with and without float16 and "+
		"a cache").
		OK("each", func(t *T) {
			for mode := range 5 {
				for priority := range 4 {
					c := t.unbuilt()
					if (mode+2*priority)%3 != 0 {
						t.OK("Compilation_SetCache", c, t.Dir, 1+mode*4+priority)
					}
					t.options(success, c, (mode+priority)%2 == 0, mode, priority)
					t.runs(t.executorOf(c))
				}
			}
		}).
		No("one_out_of_range", func(t *T) {
			for i := range 4 {
				t.options(invalid, t.unbuilt(), i%2 == 0, 5, i)
				t.options(invalid, t.unbuilt(), i%2 == 1, i, 4)
			}
		}),
}
