package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// ways are the functions that compute an execution.
var ways = []struct {
	name    string
	compute func(t *T, c uintptr, r *nnapi.Run)
}{
	{"compute", func(t *T, _ uintptr, r *nnapi.Run) { t.OK("Execution_compute", r.Handle) }},
	{"start", func(t *T, _ uintptr, r *nnapi.Run) { t.OK("Event_wait", t.Start(r)) }},
	{"burst", func(t *T, c uintptr, r *nnapi.Run) {
		t.OK("Execution_burstCompute", r.Handle, t.New(burst.free, "Burst_create", c))
	}},
	{"dependencies", func(t *T, _ uintptr, r *nnapi.Run) {
		ev := t.out(event.free)
		t.OK("Execution_startComputeWithDependencies", r.Handle, nil, 0, 0, ev)
		t.OK("Event_wait", *ev)
	}},
}

// computing: what each way of computing has in common with the others (section 5).
func computing() (list []*Rule) {
	for i, w := range ways {
		list = append(list,
			rule(letters("5.c", i)+"_once_"+w.name, "an execution is computed once by "+w.name+", unless it is reusable").
				OK("once", func(t *T) {
					c := compiled(t)
					r := t.Bound(c, 2)
					w.compute(t, c, r)
					t.Right(r)
				}).
				No("twice", func(t *T) {
					c := compiled(t)
					r := t.Bound(c, 2)
					w.compute(t, c, r)
					t.WrongState("Execution_compute", r.Handle)
					t.None(nnapi.BadState, "Execution_startCompute", r.Handle)
				}),
			rule(letters("5.r", i)+"_reusable_"+w.name, "a reusable execution is computed again by "+w.name+", with what its "+
				"memory has by then, and bound once").
				OK("again", func(t *T) {
					c := compiled(t)
					r := t.Bound(c, 2)
					t.OK("Execution_setReusable", r.Handle, true)
					for k := range 3 {
						r.A[0] = float32(10 * k)
						w.compute(t, c, r)
						t.Right(r)
					}
				}).
				No("bound_again", func(t *T) {
					c := compiled(t)
					r := t.Bound(c, 2)
					t.OK("Execution_setReusable", r.Handle, true)
					w.compute(t, c, r)
					t.WrongState("Execution_setInput", r.Handle, 0, nil, r.A, 8)
					t.WrongState("Execution_setOutput", r.Handle, 0, nil, r.Y, 8)
				}),
			rule(letters("5.w", i)+"_answers_"+w.name, "rank and dimensions can be asked for when "+w.name+" has ended").
				OK("after", func(t *T) {
					c := compiled(t)
					r := t.Bound(c, 2)
					w.compute(t, c, r)
					rank, sizes := new(uint32), []uint32{0, 77}
					t.OK("Execution_getOutputOperandRank", r.Handle, 0, rank)
					t.OK("Execution_getOutputOperandDimensions", r.Handle, 0, sizes)
					t.Check(*rank == 1 && slices.Equal(sizes, []uint32{2, 77}), "rank %d, dimensions %v", *rank, sizes)
				}).
				No("before", func(t *T) {
					r := t.Ready()
					t.WrongState("Execution_getOutputOperandRank", r.Handle, 0, new(uint32))
					t.WrongState("Execution_getOutputOperandDimensions", r.Handle, 0, make([]uint32, 1))
				}))
	}
	return list
}

// setters are the functions that bind the first input and the first output of Sum of two elements.
var setters = []struct {
	name string
	args func(t *T, e uintptr, o *nnapi.OperandType, n int) []any
}{
	{"Execution_setInput", ofPointer},
	{"Execution_setInputFromMemory", ofMemory},
	{"Execution_setOutput", ofPointer},
	{"Execution_setOutputFromMemory", ofMemory},
}

func ofPointer(t *T, e uintptr, o *nnapi.OperandType, n int) []any {
	v := make([]float32, 8)
	t.Keep(v)
	return []any{e, 0, o, v, n}
}

func ofMemory(t *T, e uintptr, o *nnapi.OperandType, n int) []any {
	return []any{e, 0, o, t.pool(32), 0, n}
}

// bindings: what memory and types can be bound (section 5, binding rules).
func bindings() (list []*Rule) {
	none := (*nnapi.OperandType)(nil)
	for i, s := range setters {
		list = append(list,
			rule(letters("5.l", i)+"_length_"+s.name, "ANeuralNetworks"+s.name+" takes exactly the bytes of the operand").
				OK("exact", func(t *T) { t.OK(s.name, s.args(t, unbound(t), none, 8)...) }).
				No("others", func(t *T) {
					e := unbound(t)
					for _, n := range []int{0, 1, 4, 7, 9, 12} {
						t.Bad(s.name, s.args(t, e, none, n)...)
					}
				}),
			rule(letters("5.p", i)+"_padding_"+s.name, "ANeuralNetworks"+s.name+" takes more with padding enabled, and not "+
				"less").
				OK("more", func(t *T) {
					e := unbound(t)
					t.OK("Execution_enableInputAndOutputPadding", e, true)
					t.OK(s.name, s.args(t, e, none, 20)...)
				}).
				No("less", func(t *T) {
					e := unbound(t)
					t.OK("Execution_enableInputAndOutputPadding", e, true)
					t.Bad(s.name, s.args(t, e, none, 7)...)
				}).
				No("disabled", func(t *T) {
					e := unbound(t)
					t.OK("Execution_enableInputAndOutputPadding", e, true)
					t.OK("Execution_enableInputAndOutputPadding", e, false)
					t.Bad(s.name, s.args(t, e, none, 20)...)
				}),
			rule(letters("5.e", i)+"_padding_first_"+s.name, "padding is enabled before ANeuralNetworks"+s.name).
				OK("before", func(t *T) {
					e := unbound(t)
					t.OK("Execution_enableInputAndOutputPadding", e, true)
					t.OK(s.name, s.args(t, e, none, 8)...)
				}).
				No("after", func(t *T) {
					e := unbound(t)
					t.OK(s.name, s.args(t, e, none, 8)...)
					t.WrongState("Execution_enableInputAndOutputPadding", e, true)
				}),
			rule(letters("5.b", i)+"_bound_"+s.name, "ANeuralNetworks"+s.name+" binds once, and a call that fails "+
				"binds nothing").
				OK("after_failure", func(t *T) {
					e := unbound(t)
					t.Bad(s.name, s.args(t, e, none, 7)...)
					t.OK(s.name, s.args(t, e, none, 8)...)
				}).
				No("twice", func(t *T) {
					e := unbound(t)
					args := s.args(t, e, none, 8)
					t.OK(s.name, args...)
					t.WrongState(s.name, args...)
				}),
			rule(letters("5.t", i)+"_type_"+s.name, "a type for ANeuralNetworks"+s.name+" has the operand's rank and "+
				"dimensions").
				OK("same", func(t *T) { t.OK(s.name, s.args(t, unbound(t), t.Type(nnapi.TensorFloat32, 2), 8)...) }).
				No("others", func(t *T) {
					e := unbound(t)
					t.Bad(s.name, s.args(t, e, t.Type(nnapi.TensorFloat32, 3), 12)...)
					t.Bad(s.name, s.args(t, e, t.Type(nnapi.TensorFloat32, 1, 2), 8)...)
					t.Bad(s.name, s.args(t, e, t.Type(nnapi.TensorFloat32, 2, 1), 8)...)
				}).
				No("wrong", func(t *T) {
					e := unbound(t)
					t.Bad(s.name, s.args(t, e, t.Type(99, 2), 8)...)
					t.Bad(s.name, s.args(t, e, t.Quantized(nnapi.TensorFloat32, 1, 0, 2), 8)...)
					t.Bad(s.name, s.args(t, e, dims(t, 1, nil), 8)...)
				}),
			rule(letters("5.o", i)+"_open_"+s.name, "a type for ANeuralNetworks"+s.name+" completes dimensions that are open").
				OK("completed", func(t *T) {
					for _, sizes := range [][]uint32{{0}, nil} {
						e := t.Execution(t.Compiled(t.Sum(sizes...).Finish()))
						t.OK(s.name, s.args(t, e, t.Type(nnapi.TensorFloat32, 5), 20)...)
					}
				}).
				No("length", func(t *T) {
					e := t.Execution(t.Compiled(t.Sum(0).Finish()))
					t.Bad(s.name, s.args(t, e, t.Type(nnapi.TensorFloat32, 5), 16)...)
					t.Bad(s.name, s.args(t, e, t.Type(nnapi.TensorFloat32, 5), 24)...)
				}))
	}
	return list
}
