package rules

import (
	"fmt"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// A kind of handle: how to make one, and one that has ended.
type kind struct {
	name  string
	code  int // of what is none
	make  func(t *T) uintptr
	end   func(t *T, h uintptr)
	other func(t *T) uintptr // a living handle of another kind
}

var packs = kind{"pack", hbdnn.InvalidPackedHandle, func(t *T) uintptr { return t.Pack(hbdnn.Relu(1, 4)) },
	func(t *T, h uintptr) { t.OK("DNNRelease", h) }, func(t *T) uintptr { return t.Model(hbdnn.Relu(1, 4)) }}

var models = kind{"model", hbdnn.InvalidHandle, func(t *T) uintptr { return t.Model(hbdnn.Relu(1, 4)) },
	nil, func(t *T) uintptr { return t.Pack(hbdnn.Relu(1, 4)) }}

var taskKind = kind{"task", hbdnn.InvalidTaskHandle, doneTask,
	func(t *T, h uintptr) { t.OK("DNNReleaseTask", h) }, func(t *T) uintptr { return t.Model(hbdnn.Relu(1, 4)) }}

func doneTask(t *T) uintptr {
	task := t.Start(t.Prepare(hbdnn.Relu(1, 4)))
	t.OK("DNNWaitTaskDone", task, 0)
	return task
}

// ended is a handle whose object is gone.
func (k *kind) ended(t *T) uintptr {
	if k.end == nil { // a model ends with its pack
		pack := t.Pack(hbdnn.Relu(1, 4))
		model := t.Named(pack, t.Names(pack)[0])
		t.OK("DNNRelease", pack)
		return model
	}
	h := k.make(t)
	k.end(t, h)
	return h
}

// A function with a handle: its arguments, of which those of pointers can be NULL.
type function struct {
	name     string
	kind     *kind
	args     func(t *T, h uintptr) []any
	pointers []int // arguments that must not be NULL
	index    int   // argument that is an index, -1 for none
}

func number() *int32    { return new(int32) }
func length() *uint32   { return new(uint32) }
func address() *uintptr { return new(uintptr) }

// functions are those that take a handle of an object that exists.
func functions() []function {
	one := func(out func() any) func(t *T, h uintptr) []any {
		return func(_ *T, h uintptr) []any { return []any{out(), h} }
	}
	indexed := func(out func() any) func(t *T, h uintptr) []any {
		return func(_ *T, h uintptr) []any { return []any{out(), h, 0} }
	}
	num, addr := func() any { return number() }, func() any { return address() }
	prop := func() any { return &hbdnn.Properties{} }
	desc := func(_ *T, h uintptr) []any { return []any{address(), length(), number(), h, 0} }
	return []function{
		{"DNNGetModelNameList", &packs,
			func(_ *T, h uintptr) []any { return []any{address(), number(), h} }, []int{0, 1}, -1},
		{"DNNGetModelHandle", &packs, func(_ *T, h uintptr) []any { return []any{address(), h, "model"} }, []int{0, 2}, -1},
		{"DNNRelease", &packs, func(_ *T, h uintptr) []any { return []any{h} }, nil, -1},
		{"DNNGetInputCount", &models, one(num), []int{0}, -1},
		{"DNNGetOutputCount", &models, one(num), []int{0}, -1},
		{"DNNGetInputName", &models, indexed(addr), []int{0}, 2},
		{"DNNGetOutputName", &models, indexed(addr), []int{0}, 2},
		{"DNNGetInputTensorProperties", &models, indexed(prop), []int{0}, 2},
		{"DNNGetOutputTensorProperties", &models, indexed(prop), []int{0}, 2},
		{"DNNGetInputSource", &models, indexed(num), []int{0}, 2},
		{"DNNGetOutputOperatorType", &models, indexed(num), []int{0}, 2},
		{"DNNGetInputDesc", &models, desc, []int{0, 1, 2}, 4},
		{"DNNGetOutputDesc", &models, desc, []int{0, 1, 2}, 4},
		{"DNNGetModelDesc", &models, func(_ *T, h uintptr) []any { return []any{address(), length(), number(), h} },
			[]int{0, 1, 2}, -1},
		{"DNNGetModelTag", &models, one(addr), []int{0}, -1},
		{"DNNGetEstimateLatency", &models, one(num), []int{0}, -1},
		{"DNNInfer", &models, inferArgs, []int{0, 1, 2, 4}, -1},
		{"DNNWaitTaskDone", &taskKind, func(_ *T, h uintptr) []any { return []any{h, 0} }, nil, -1},
		{"DNNSetTaskDoneCb", &taskKind, func(_ *T, h uintptr) []any { return []any{h, nil, nil} }, nil, -1},
		{"DNNGetTaskEstimateTime", &taskKind, one(num), []int{0}, -1},
		{"DNNReleaseTask", &taskKind, func(_ *T, h uintptr) []any { return []any{h} }, nil, -1},
	}
}

// inferArgs are those of a call that succeeds if h is the handle of a model of the same form.
func inferArgs(t *T, h uintptr) []any {
	r := t.Prepare(hbdnn.Relu(1, 4))
	task := address()
	t.Later(func() { t.Call("DNNReleaseTask", *task) })
	t.Later(func() { t.Call("DNNWaitTaskDone", *task, 0) })
	return []any{task, hbdnn.Outputs(r.Out), r.In, h, &r.Control}
}

// letters number the rules of a family.
func letters(prefix string, i int) string { return fmt.Sprintf("%s%c%c", prefix, 'a'+i/26, 'a'+i%26) }

// handles: what is no handle of the kind is refused with the kind's code (section 11, handles).
func handles() (list []*Rule) {
	for i, f := range functions() {
		k := f.kind
		list = append(list,
			rule(letters("11.n", i)+"_none_"+f.name, fmt.Sprintf("hb%s takes the handle of a %s and refuses NULL and values "+
				"that "+
				"were never given out", f.name, k.name)).
				OK("living", func(t *T) { t.OK(f.name, f.args(t, k.make(t))...) }).
				No("none", func(t *T) {
					h := k.make(t)
					for _, bad := range []uintptr{0, 1, h + 16*77777, h + 1, cmem.First(make([]byte, 64))} {
						t.Is(k.code, f.name, f.args(t, bad)...)
					}
				}),
			rule(letters("11.s", i)+"_ended_"+f.name, fmt.Sprintf("hb%s refuses the handle of a %s that has ended, also when "+
				"another one was made since", f.name, k.name)).
				OK("new", func(t *T) {
					k.ended(t)
					t.OK(f.name, f.args(t, k.make(t))...)
				}).
				No("ended", func(t *T) {
					h := k.ended(t)
					t.Is(k.code, f.name, f.args(t, h)...)
					k.make(t)
					t.Is(k.code, f.name, f.args(t, h)...)
				}),
			rule(letters("11.k", i)+"_kind_"+f.name, fmt.Sprintf("hb%s refuses a handle of another kind than a %s", f.name,
				k.name)).
				OK("own", func(t *T) { t.OK(f.name, f.args(t, k.make(t))...) }).
				No("other", func(t *T) { t.Is(k.code, f.name, f.args(t, k.other(t))...) }))
	}
	return list
}

// pointers: those of NULL are refused with HB_DNN_INVALID_ARGUMENT (section 11, handles).
func pointers() (list []*Rule) {
	for i, f := range functions() {
		if len(f.pointers) == 0 {
			continue
		}
		r := rule(letters("11.p", i)+"_null_"+f.name, fmt.Sprintf("hb%s refuses pointers of NULL", f.name)).
			OK("pointers", func(t *T) { t.OK(f.name, f.args(t, f.kind.make(t))...) })
		for _, p := range f.pointers {
			r.No(fmt.Sprint("argument_", p), func(t *T) {
				args := f.args(t, f.kind.make(t))
				args[p] = nil
				t.Bad(f.name, args...)
			})
		}
		list = append(list, r)
	}
	return list
}

// indices: those out of range are refused with HB_DNN_INVALID_ARGUMENT, and names become NULL.
func indices() (list []*Rule) {
	for i, f := range functions() {
		if f.index < 0 {
			continue
		}
		list = append(list, rule(letters("11.i", i)+"_index_"+f.name,
			fmt.Sprintf("hb%s refuses an index that the model does "+
				"not have", f.name)).
			OK("first", func(t *T) { t.OK(f.name, f.args(t, f.kind.make(t))...) }).
			No("none", func(t *T) {
				h := f.kind.make(t)
				for _, index := range []int32{-1, 1, 1 << 30, -1 << 31} {
					args := f.args(t, h)
					args[f.index] = index
					t.Bad(f.name, args...)
					if name, ok := args[0].(*uintptr); ok {
						t.Check(*name == 0, "the text is %#x, want NULL", *name)
					}
				}
			}))
	}
	return list
}

// orders: the handle is judged before pointers and index (section 11, check order).
func orders() (list []*Rule) {
	for i, f := range functions() {
		if len(f.pointers) == 0 {
			continue
		}
		list = append(list, rule(letters("11.o", i)+"_order_"+f.name, fmt.Sprintf("hb%s judges its handle before its "+
			"pointers", f.name)).
			OK("both_good", func(t *T) { t.OK(f.name, f.args(t, f.kind.make(t))...) }).
			No("both_bad", func(t *T) {
				args := f.args(t, 0)
				args[f.pointers[0]] = nil
				t.Is(f.kind.code, f.name, args...)
			}))
	}
	return list
}
