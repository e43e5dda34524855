package rules

import (
	"fmt"

	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// A kind of handle: how to make one, and one that has ended.
type kind struct {
	name  string
	code  int // of what is none, but NULL
	make  func(t *T) uintptr
	ended func(t *T) uintptr
	other func(t *T) uintptr // a living handle of another kind
}

func aPack(t *T) uintptr  { return t.Pack(hbucp.Relu(1, 4)) }
func aModel(t *T) uintptr { return t.Model(hbucp.Relu(1, 4)) }
func aTask(t *T) uintptr  { return t.Make(t.small()) }
func done(t *T) uintptr   { return t.Compute(t.small()) }

func endedPack(t *T) uintptr {
	pack := address()
	t.Load(0, pack, hbucp.Relu(1, 4))
	t.OK("DNNRelease", *pack)
	return *pack
}

func endedModel(t *T) uintptr {
	pack := address()
	t.Load(0, pack, hbucp.Relu(1, 4))
	model := t.Named(*pack, t.Names(*pack)[0])
	t.OK("DNNRelease", *pack)
	return model
}

func endedTask(t *T) uintptr {
	task := t.Make(t.small())
	t.OK("UCPReleaseTask", task)
	return task
}

var (
	packKind  = &kind{"pack", hbucp.InvalidArgument, aPack, endedPack, aTask}
	modelKind = &kind{"model", hbucp.InvalidArgument, aModel, endedModel, aPack}
	taskKind  = &kind{"task", hbucp.InvalidTask, aTask, endedTask, aModel}
	doneKind  = &kind{"task", hbucp.InvalidTask, done, endedTask, aModel}
)

// A subject is a function with a handle: its arguments for one, those that must not be NULL, and that which is an
// index.
type subject struct {
	name     string
	kind     *kind
	args     func(t *T, h uintptr) []any
	pointers []int
	index    int
}

func subjects() []subject {
	behind := func(makers ...func() any) func(t *T, h uintptr) []any {
		return func(_ *T, h uintptr) (args []any) {
			for _, m := range makers {
				args = append(args, m())
			}
			return append(args, h)
		}
	}
	indexed := func(f func(t *T, h uintptr) []any) func(t *T, h uintptr) []any {
		return func(t *T, h uintptr) []any { return append(f(t, h), 0) }
	}
	num, addr, size := func() any { return number() }, func() any { return address() }, func() any { return length() }
	prop := func() any { return &hbucp.Properties{} }
	desc, first := behind(addr, size, num), []int{0}
	return []subject{
		{"DNNGetModelNameList", packKind, behind(addr, num), []int{0, 1}, -1},
		{"DNNGetModelHandle", packKind, func(_ *T, h uintptr) []any { return []any{address(), h, "model"} }, []int{0, 2}, -1},
		{"DNNGetHBMDesc", packKind, indexed(desc), []int{0, 1, 2}, 4},
		{"DNNRelease", packKind, behind(), nil, -1},
		{"DNNGetInputCount", modelKind, behind(num), first, -1},
		{"DNNGetOutputCount", modelKind, behind(num), first, -1},
		{"DNNGetInputName", modelKind, indexed(behind(addr)), first, 2},
		{"DNNGetOutputName", modelKind, indexed(behind(addr)), first, 2},
		{"DNNGetInputTensorProperties", modelKind, indexed(behind(prop)), first, 2},
		{"DNNGetOutputTensorProperties", modelKind, indexed(behind(prop)), first, 2},
		{"DNNGetInputDesc", modelKind, indexed(desc), []int{0, 1, 2}, 4},
		{"DNNGetOutputDesc", modelKind, indexed(desc), []int{0, 1, 2}, 4},
		{"DNNGetModelDesc", modelKind, desc, []int{0, 1, 2}, -1},
		{"DNNGetCompileBpuCoreNum", modelKind, behind(num), first, -1},
		{"DNNInferV2", modelKind, func(t *T, h uintptr) []any {
			r, task := t.small(), address()
			t.Later(func() { t.Call("UCPReleaseTask", *task) })
			return []any{task, r.Out, r.In, h}
		}, []int{1, 2}, -1},
		{"UCPSubmitTask", taskKind, func(_ *T, h uintptr) []any { return []any{h, &hbucp.Sched{}} }, []int{1}, -1},
		{"UCPWaitTaskDone", doneKind, func(_ *T, h uintptr) []any { return []any{h, 0} }, nil, -1},
		{"UCPSetTaskDoneCb", taskKind, func(_ *T, h uintptr) []any { return []any{h, noting(), nil} }, []int{1}, -1},
		{"UCPReleaseTask", taskKind, behind(), nil, -1},
		{"DNNGetTaskOutputTensorProperties", doneKind, func(_ *T, h uintptr) []any {
			return []any{&hbucp.Properties{}, h, 0, 0}
		}, first, 3},
	}
}

// letters number the rules of a family.
func letters(prefix string, i int) string { return fmt.Sprintf("%s%c%c", prefix, 'a'+i/26, 'a'+i%26) }

// handles: what is no handle of the kind is refused with the kind's code, NULL as other arguments are.
func handles() (list []*Rule) {
	for i, f := range subjects() {
		k := f.kind
		list = append(list, rule(letters("9.h", i)+"_handle_"+f.name,
			fmt.Sprintf("hb%s takes the handle of a living %s alone",
				f.name, k.name)).
			OK("living", func(t *T) { t.OK(f.name, f.args(t, k.make(t))...) }).
			No("null", func(t *T) { t.Bad(f.name, f.args(t, 0)...) }).
			No("none", func(t *T) {
				h := k.make(t)
				for _, bad := range []uintptr{1, h + 16*77777, h + 1, cmem.First(make([]byte, 64))} {
					t.Is(k.code, f.name, f.args(t, bad)...)
				}
			}).
			No("ended", func(t *T) {
				h := k.ended(t)
				t.Is(k.code, f.name, f.args(t, h)...)
				k.make(t)
				t.Is(k.code, f.name, f.args(t, h)...)
			}).
			No("kind", func(t *T) { t.Is(k.code, f.name, f.args(t, k.other(t))...) }))
	}
	return list
}

// pointers: those of NULL are refused.
func pointers() (list []*Rule) {
	for i, f := range subjects() {
		if len(f.pointers) == 0 {
			continue
		}
		r := rule(letters("9.p", i)+"_null_"+f.name, fmt.Sprintf("hb%s refuses pointers of NULL", f.name)).
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

// indices: those out of range are refused.
func indices() (list []*Rule) {
	for i, f := range subjects() {
		if f.index < 0 {
			continue
		}
		list = append(list, rule(letters("9.i", i)+"_index_"+f.name,
			fmt.Sprintf("hb%s refuses an index out of range", f.name)).
			OK("first", func(t *T) { t.OK(f.name, f.args(t, f.kind.make(t))...) }).
			No("none", func(t *T) {
				h := f.kind.make(t)
				for _, index := range []int32{-1, 1, 1 << 30, -1 << 31} {
					args := f.args(t, h)
					args[f.index] = index
					t.Bad(f.name, args...)
				}
			}))
	}
	return list
}
