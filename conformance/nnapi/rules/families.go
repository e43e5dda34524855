package rules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// letters number the rules of a family.
func letters(prefix string, i int) string { return fmt.Sprintf("%s%c%c", prefix, 'a'+i/26, 'a'+i%26) }

// accepts adds the case of the call that succeeds. Where no library has what it would succeed with, it is the nearest
// one: the question for an extension by its name.
func (f *function) accepts(r *Rule) *Rule {
	return r.OK("accepted", func(t *T) {
		if f.never {
			t.OK("Device_getExtensionSupport", device(t), "org.example", new(bool))
			return
		}
		t.OK(f.name, f.args(t, f.make(t))...)
	})
}

// nulls: pointers of NULL are UNEXPECTED_NULL (section 0, check order).
func nulls() (list []*Rule) {
	for i, f := range functions() {
		r := f.accepts(rule(letters("0.n", i)+"_null_"+f.name, "ANeuralNetworks"+f.name+" refuses pointers of NULL"))
		for _, at := range append([]int{0}, f.null...) {
			r.No(fmt.Sprint("argument_", at), func(t *T) {
				args := f.args(t, f.make(t))
				args[at] = nil
				t.NullPointer(f.name, args...)
			})
		}
		list = append(list, r)
	}
	return list
}

// indices: those out of range are BAD_DATA, negative ones too (section 0, index type).
func indices() (list []*Rule) {
	for i, f := range functions() {
		if f.index == 0 {
			continue
		}
		list = append(list, f.accepts(rule(letters("0.i", i)+"_index_"+f.name, "ANeuralNetworks"+f.name+
			" refuses an index that is too large, as a negative one is")).
			No("none", func(t *T) {
				args := f.args(t, f.make(t))
				for _, index := range []int32{-1, 100, 1 << 30, -1 << 31} {
					args[f.index] = index
					t.Bad(f.name, args...)
				}
			}))
	}
	return list
}

// states: what is not for the state of an object is BAD_STATE (sections 2 to 5).
func states() (list []*Rule) {
	sections := map[*kind]string{model: "3", compilation: "4", execution: "5", desc: "2"}
	for i, f := range functions() {
		if f.wrong == nil {
			continue
		}
		r := f.accepts(rule(letters(sections[f.kind]+".s", i)+"_state_"+f.name, "ANeuralNetworks"+f.name+
			" is refused in the wrong state of the "+f.kind.name))
		for _, name := range slices.Sorted(maps.Keys(f.wrong)) {
			r.No(name, func(t *T) { t.WrongState(f.name, f.args(t, f.wrong[name](t))...) })
		}
		list = append(list, r)
	}
	return list
}

// orders: NULL is judged before the state, and the state before values (section 0, check order).
func orders() (list []*Rule) {
	for i, f := range functions() {
		if f.wrong == nil || len(f.null) == 0 {
			continue
		}
		wrong := f.wrong[slices.Sorted(maps.Keys(f.wrong))[0]]
		r := f.accepts(rule(letters("0.o", i)+"_order_"+f.name, "ANeuralNetworks"+f.name+
			" judges NULL first, then the state of the "+f.kind.name+", then values"))
		for _, at := range f.null {
			r.No(fmt.Sprintf("null_%d_before_state", at), func(t *T) {
				args := f.args(t, wrong(t))
				args[at] = nil
				t.NullPointer(f.name, args...)
			})
		}
		if f.index > 0 {
			r.No("state_before_index", func(t *T) {
				args := f.args(t, wrong(t))
				args[f.index] = int32(-1)
				t.WrongState(f.name, args...)
			})
		}
		list = append(list, r)
	}
	return list
}

// handles: what is no object of the kind is BAD_DATA (section 11: the reference implementation reads what is there).
func handles() (list []*Rule) {
	for i, f := range functions() {
		if f.kind == deviceKind {
			list = append(list, f.accepts(rule(letters("11.d", i)+"_device_"+f.name, "ANeuralNetworks"+f.name+
				" refuses the address of what is no device")).
				No("none", func(t *T) {
					h := device(t)
					for _, bad := range []uintptr{1, h + 1, cmem.First(make([]byte, 64))} {
						t.Bad(f.name, f.args(t, bad)...)
					}
				}))
			continue
		}
		list = append(list, f.accepts(rule(letters("11.e", i)+"_ended_"+f.name, "ANeuralNetworks"+f.name+
			" refuses the handle of a "+f.kind.name+" that was freed, also when another one was made since")).
			No("ended", func(t *T) {
				h := f.make(t)
				t.Free(f.kind.free, h)
				t.Bad(f.name, f.args(t, h)...)
				f.make(t)
				t.Bad(f.name, f.args(t, h)...)
			}),
			f.accepts(rule(letters("11.k", i)+"_kind_"+f.name, "ANeuralNetworks"+f.name+
				" refuses a handle of another kind than a "+f.kind.name+", and values that were never given out")).
				No("other", func(t *T) {
					other := pool(t)
					if f.kind == memoryKind {
						other = empty(t)
					}
					for _, bad := range []uintptr{other, 1, other + 1, cmem.First(make([]byte, 64))} {
						t.Bad(f.name, f.args(t, bad)...)
					}
				}))
	}
	return list
}

// frees: NULL is legal for functions that free, and what was freed is not freed again.
func frees() (list []*Rule) {
	for i, k := range []struct {
		*kind
		make func(t *T) uintptr
	}{{model, sum}, {compilation, open}, {execution, unbound}, {burst, newBurst}, {event, ended}, {desc, empty},
		{memoryKind, pool}} {
		list = append(list, rule(letters("0.f", i)+"_free_"+k.free, "ANeuralNetworks"+k.free+
			" frees a "+k.name+" once, and takes NULL").
			OK("null", func(t *T) {
				t.Call(k.free, nil)
				t.Free(k.free, k.make(t))
				t.OK("Device_wait", device(t))
			}).
			No("twice", func(t *T) {
				h := k.make(t)
				t.Free(k.free, h)
				k.make(t)
				before := t.Live()[0] // handles: buffers come and go while a run ends
				t.Call(k.free, h)
				t.NoEffect(t.Live()[0] != before, "the second call frees something")
			}))
	}
	return list
}

func newBurst(t *T) uintptr { return t.New(burst.free, "Burst_create", compiled(t)) }

// failures: a function that makes an object stores NULL when it fails (section 0, out handle on error).
func failures() (list []*Rule) {
	for i, f := range []struct {
		name, free string
		good, bad  func(t *T) []any
		code       int
	}{
		{"Memory_createFromFd", memoryKind.free, func(t *T) []any { return []any{8, 3, t.descriptor(8), 0} },
			func(*T) []any { return []any{8, 3, int32(-1), 0} }, nnapi.OpFailed},
		{"Memory_createFromDesc", memoryKind.free, func(t *T) []any { return []any{roles(t)} },
			func(t *T) []any { return []any{withRole(t)} }, nnapi.BadState},
		{"Compilation_create", compilation.free, func(t *T) []any { return []any{finished(t)} },
			func(t *T) []any { return []any{sum(t)} }, nnapi.BadState},
		{"Compilation_createForDevices", compilation.free, func(t *T) []any { return []any{finished(t), t.Processor(), 1} },
			func(t *T) []any { return []any{finished(t), t.Processor(), 0} }, nnapi.BadData},
		{"Execution_create", execution.free, func(t *T) []any { return []any{compiled(t)} },
			func(t *T) []any { return []any{open(t)} }, nnapi.BadState},
		{"Burst_create", burst.free, func(t *T) []any { return []any{compiled(t)} },
			func(t *T) []any { return []any{open(t)} }, nnapi.BadState},
		{"Execution_startCompute", event.free, func(t *T) []any { return []any{ready(t)} },
			func(t *T) []any { return []any{computed(t)} }, nnapi.BadState},
		{"Execution_startComputeWithDependencies", event.free, func(t *T) []any { return []any{ready(t), nil, 0, 0} },
			func(t *T) []any { return []any{computed(t), nil, 0, 0} }, nnapi.BadState},
		{"Event_createFromSyncFenceFd", event.free, func(t *T) []any { fd, _ := t.pipe(); return []any{fd} },
			func(*T) []any { return []any{0} }, nnapi.BadData},
	} {
		list = append(list, rule(letters("0.h", i)+"_out_"+f.name, "ANeuralNetworks"+f.name+
			" stores a handle, or NULL when it fails").
			OK("made", func(t *T) { t.New(f.free, f.name, f.good(t)...) }).
			No("failed", func(t *T) { t.None(f.code, f.name, f.bad(t)...) }))
	}
	return list
}
