package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// allocate makes memory of n bytes for an input or output of e. What the case does not free is freed when it ends,
// before e.
func (t *T) allocate(kind string, e uintptr, index, n int) uintptr {
	m := t.Ptr("Executor_Allocate"+kind+"Memory", e, index, n)
	t.Later(func() {
		own := m
		t.Call("Executor_Destroy"+kind+"Memory", e, index, &own)
	})
	return m
}

// store fills memory; it also says what it was told about it.
func (t *T) store(m uintptr, v ...float32) {
	s := cmem.At[memory](m)
	t.Check(int(s.length) >= 4*len(v), "length %d", s.length)
	for i, x := range v {
		*cmem.At[float32](s.data + uintptr(4*i)) = x
	}
}

// allocates are the rules of both functions that allocate.
func allocates(r *Rule, kind string, count int) *Rule {
	function := "Executor_Allocate" + kind + "Memory"
	return r.OK("any_length", func(t *T) {
		e := twoFloats(t)
		for _, n := range []int{1, 8, 4096, maxBuffer} {
			m := t.allocate(kind, e, 0, n)
			t.Check(int(cmem.At[memory](m).length) == n && cmem.At[memory](m).data != 0, "length %d", cmem.At[memory](m).length)
			t.Call("Executor_Destroy"+kind+"Memory", e, 0, &m)
		}
	}).
		OK("several", func(t *T) {
			e := twoFloats(t)
			a, b := t.allocate(kind, e, 0, 8), t.allocate(kind, e, 0, 8)
			t.Check(a != b && cmem.At[memory](a).data != cmem.At[memory](b).data, "the same memory twice")
			t.Call("Executor_Destroy"+kind+"Memory", e, 0, &a)
			t.Call("Executor_Destroy"+kind+"Memory", e, 0, &b)
		}).
		No("NULL", func(t *T) { t.Null(function, nil, 0, 8) }).
		No("length_0", func(t *T) { t.Null(function, twoFloats(t), 0, 0) }).
		No("more_than_1_GiB", func(t *T) { t.Null(function, twoFloats(t), 0, maxBuffer+1) }).
		No("huge", func(t *T) { t.Null(function, twoFloats(t), 0, hugeSize) }).
		No("index", func(t *T) { t.Null(function, twoFloats(t), count, 8) })
}

// frees are the rules of both functions that free.
func frees(r *Rule, kind string) *Rule {
	function := "Executor_Destroy" + kind + "Memory"
	untouched := func(name string, free func(t *T, e uintptr, m *uintptr)) {
		r.No(name, func(t *T) {
			e := twoFloats(t)
			m := t.allocate(kind, e, 0, 8)
			before := m
			free(t, e, &m)
			t.NoEffect(m != before, "the variable changed to %#x", m)
			t.store(m, 1, 2)
			t.Call(function, e, 0, &m)
			t.Check(m == 0, "the memory cannot be freed any more")
		})
	}
	r.OK("clears", func(t *T) {
		e := twoFloats(t)
		m := t.allocate(kind, e, 0, 8)
		t.Call(function, e, 0, &m)
		t.Check(m == 0, "the variable holds %#x", m)
	})
	untouched("NULL_executor", func(t *T, _ uintptr, m *uintptr) { t.Call(function, nil, 0, m) })
	untouched("NULL_variable", func(t *T, e uintptr, _ *uintptr) {
		t.Call(function, e, 0, nil)
		t.Call(function, e, 0, new(uintptr))
	})
	untouched("index", func(t *T, e uintptr, m *uintptr) { t.Call(function, e, 9, m) })
	untouched("other_executor", func(t *T, _ uintptr, m *uintptr) { t.Call(function, twoFloats(t), 0, m) })
	untouched("other_kind", func(t *T, e uintptr, m *uintptr) {
		other := map[string]string{"Input": "Output", "Output": "Input"}[kind]
		t.Call("Executor_Destroy"+other+"Memory", e, 0, m)
	})
	return r
}

// foreign is memory that the library did not make.
func (t *T) foreign() *memory {
	b := make([]float32, 4)
	t.Keep(b)
	return &memory{cmem.First(b), 16}
}

var legacyMemory = []*Rule{
	allocates(rule("s10_AllocateInputMemory", "allocates any length up to 1 GiB, several times per input; NULL for "+
		"NULL, length 0, more, a bad index"), "Input", 2),
	allocates(rule("s10_AllocateOutputMemory", "allocates any length up to 1 GiB, several times per output; NULL for "+
		"NULL, length 0, more, a bad index"), "Output", 1),
	frees(rule("s10_DestroyInputMemory", "frees memory of that very input and clears the variable; for anything else "+
		"nothing happens"), "Input"),
	frees(rule("s10_DestroyOutputMemory", "frees memory of that very output and clears the variable; for anything else "+
		"nothing happens"), "Output"),
	rule("s10_SetInputWithMemory", "sets memory that is read by Run; NULLs are INVALID").
		OK("read_by_run", func(t *T) {
			e, out := t.ready()
			m := t.allocate("Input", e, 0, 8)
			t.OK("Executor_SetInputWithMemory", e, 0, two, m)
			t.store(m, 7, 8)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out[:2], []float32{17, 28}), "got %v", out)
			t.Call("Executor_DestroyInputMemory", e, 0, &m)
		}).
		No("NULL_executor", func(t *T) { t.Bad("Executor_SetInputWithMemory", nil, 0, two, t.foreign()) }).
		No("NULL_tensor", func(t *T) { t.Bad("Executor_SetInputWithMemory", twoFloats(t), 0, nil, t.foreign()) }).
		No("NULL_memory", func(t *T) { t.Bad("Executor_SetInputWithMemory", twoFloats(t), 0, two, nil) }),
	inputChecks(rule("s10_SetInputWithMemory_tensor", "the struct is judged as SetInput's"),
		func(t *T, want int, e uintptr, index int, x *legacyTensor) {
			m := t.allocate("Input", e, 0, 64)
			t.Is(want, "Executor_SetInputWithMemory", e, index, x, m)
		}),
	rule("s10_SetInputWithMemory_length", "memory of length 0 or shorter than the tensor is INVALID").
		OK("longer", func(t *T) {
			e := twoFloats(t)
			t.OK("Executor_SetInputWithMemory", e, 0, two, t.allocate("Input", e, 0, 100))
		}).
		No("shorter", func(t *T) {
			e := twoFloats(t)
			t.Bad("Executor_SetInputWithMemory", e, 0, two, t.allocate("Input", e, 0, 7))
		}).
		No("0", func(t *T) { t.Bad("Executor_SetInputWithMemory", twoFloats(t), 0, two, &memory{}) }),
	rule("s10_memory_foreign", "memory that the library did not make makes Run INVALID").
		OK("own", func(t *T) {
			e, _ := t.ready()
			t.OK("Executor_SetInputWithMemory", e, 0, two, t.allocate("Input", e, 0, 8))
			t.OK("Executor_Run", e)
		}).
		No("input", func(t *T) {
			e, _ := t.ready()
			t.OK("Executor_SetInputWithMemory", e, 0, two, t.foreign())
			t.Bad("Executor_Run", e)
		}).
		No("output", func(t *T) {
			e, _ := t.ready()
			t.OK("Executor_SetOutputWithMemory", e, 0, t.foreign())
			t.Bad("Executor_Run", e)
		}),
	rule("s10_SetOutputWithMemory", "the result appears in the memory after Run; NULLs, a bad index, length 0 and less "+
		"than the output's bytes are INVALID").
		OK("written", func(t *T) {
			e, _ := t.ready()
			m := t.allocate("Output", e, 0, 100)
			t.OK("Executor_SetOutputWithMemory", e, 0, m)
			t.OK("Executor_Run", e)
			got := cmem.Copy[float32](cmem.At[memory](m).data, 2)
			t.Check(slices.Equal(got, []float32{11, 22}), "got %v", got)
		}).
		No("NULL_executor", func(t *T) { t.Bad("Executor_SetOutputWithMemory", nil, 0, t.foreign()) }).
		No("NULL_memory", func(t *T) { t.Bad("Executor_SetOutputWithMemory", twoFloats(t), 0, nil) }).
		No("index", func(t *T) { t.Bad("Executor_SetOutputWithMemory", twoFloats(t), 1, t.foreign()) }).
		No("length_0", func(t *T) { t.Bad("Executor_SetOutputWithMemory", twoFloats(t), 0, &memory{}) }).
		No("shorter", func(t *T) {
			e := twoFloats(t)
			t.Bad("Executor_SetOutputWithMemory", e, 0, t.allocate("Output", e, 0, 7))
		}),
	rule("s10_mixed", "plain memory and memory objects may be mixed per index; the last call wins").
		OK("last_wins", func(t *T) {
			e, out := t.ready()
			in, result := t.allocate("Input", e, 0, 8), t.allocate("Output", e, 0, 8)
			t.store(in, 100, 200)
			t.OK("Executor_SetInputWithMemory", e, 0, two, in)
			t.OK("Executor_SetOutputWithMemory", e, 0, result)
			t.OK("Executor_SetOutput", e, 0, out, 8)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out[:2], []float32{110, 220}), "got %v", out)
			t.OK("Executor_SetInput", e, 0, two, []float32{1, 1}, 8)
			t.OK("Executor_SetOutputWithMemory", e, 0, result)
			t.OK("Executor_Run", e)
			got := cmem.Copy[float32](cmem.At[memory](result).data, 2)
			t.Check(slices.Equal(got, []float32{11, 21}), "got %v", got)
		}).
		No("refused_does_not_win", func(t *T) {
			e, out := t.ready()
			in := t.allocate("Input", e, 0, 8)
			t.store(in, 100, 200)
			t.OK("Executor_SetInputWithMemory", e, 0, two, in)
			t.setInput(invalid, e, 0, two, 7)
			t.Bad("Executor_SetOutputWithMemory", e, 0, t.allocate("Output", e, 0, 7))
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out[:2], []float32{110, 220}), "got %v", out)
		}),
	rule("s10_memory_threads", "memory of one executor is allocated, used and freed in several threads at the same time").
		OK("own_memory", func(t *T) {
			e := twoFloats(t)
			t.Parallel(4, func(own *suite.T, k int) {
				u, kind := newT(own), []string{"Input", "Output"}[k%2]
				for i := range 40 { // not allocate, which frees by address when other threads may have it
					a := u.Ptr("Executor_Allocate"+kind+"Memory", e, 0, 8+i)
					b := u.Ptr("Executor_Allocate"+kind+"Memory", e, 0, 4096)
					u.store(a, float32(k), float32(i))
					u.store(b, float32(i), float32(k))
					u.Call("Executor_Destroy"+kind+"Memory", e, 0, &b)
					u.Check(b == 0, "the variable holds %#x", b)
					got := cmem.Copy[float32](cmem.At[memory](a).data, 2)
					u.Check(slices.Equal(got, []float32{float32(k), float32(i)}), "thread %d: got %v", k, got)
					u.Call("Executor_Destroy"+kind+"Memory", e, 0, &a)
				}
			})
			t.Judged(true)
		}).
		No("freed_once", func(t *T) {
			e := twoFloats(t)
			m := t.allocate("Input", e, 0, 8)
			freed := make([]bool, 4)
			t.Parallel(4, func(own *suite.T, k int) {
				v := m
				own.Call("Executor_DestroyInputMemory", e, 0, &v)
				freed[k] = v == 0
			})
			n := 0
			for _, f := range freed {
				if f {
					n++
				}
			}
			t.NoEffect(n != 1, "%d of four threads have freed the same memory", n)
		}),
}
