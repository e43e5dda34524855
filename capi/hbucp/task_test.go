package hbucp

import (
	"os"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
)

func held(t *testing.T, h uintptr, f func(*Task) error) error {
	o, err := handle.Hold[Task](h)
	require.NoError(t, err)
	defer handle.Unhold(h)
	return f(o)
}

func submit(t *testing.T, h uintptr, s SchedParam) error {
	return held(t, h, func(k *Task) error { return ucpSubmitTask(k, &s) })
}

func wait(t *testing.T, h uintptr, timeout int32) error {
	return held(t, h, func(k *Task) error { return ucpWaitTaskDone(k, timeout) })
}

func TestTask_life(t *testing.T) {
	o := ready(t, relu(1, 4), 32)
	copy(elements[float32](&o.in[0]), []float32{-1, 2, -3, 4})
	var task uintptr
	in, out := o.in[0], o.out[0]
	require.NoError(t, dnnInferV2(&task, &out, &in, o.m))
	in, out = Tensor{}, Tensor{} // they may end
	requireCode(t, -100002, wait(t, task, 0), "not submitted")
	requireCode(t, -100001, submit(t, task, SchedParam{priority: 256}), "priority")
	requireCode(t, -100001, submit(t, task, SchedParam{priority: -1}), "priority")
	requireCode(t, -100001, submit(t, task, SchedParam{backend: 1 << 8}), "backend")
	require.Zero(t, elements[float32](&o.out[0])[1], "it does not run")
	require.NoError(t, submit(t, task, SchedParam{backend: 1<<7 | 1<<8, priority: 255}))
	requireCode(t, -100002, submit(t, task, SchedParam{}), "submitted")
	requireCode(t, -100002, ucpSetTaskDoneCb(task, 1, 0), "submitted")
	require.NoError(t, wait(t, task, 0))
	require.NoError(t, wait(t, task, 5), "again")
	require.Equal(t, []float32{0, 2, 0, 4}, elements[float32](&o.out[0])[:4])
	requireCode(t, -100002, dnnInferV2(&task, &o.out[0], &o.in[0], o.m), "submitted")
	require.NoError(t, ucpReleaseTask(task))
	requireCode(t, -200004, ucpReleaseTask(task))
	requireCode(t, -100001, ucpReleaseTask(0))
	requireCode(t, -200004, dnnInferV2(&task, &o.out[0], &o.in[0], o.m), "not submitted")
}

// A call whose tensors cannot be read keeps nothing: the release of the pack would wait for it for ever.
func TestTask_unreadableTensors(t *testing.T) {
	o := ready(t, relu(1, 4), 32)
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(page)) }()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	bad := (*Tensor)(unsafe.Pointer(unsafe.SliceData(page)))
	var task uintptr
	require.Panics(t, func() { _ = dnnInferV2(&task, bad, &o.in[0], o.m) })
	require.Panics(t, func() { _ = dnnInferV2(&task, &o.out[0], bad, o.m) })
	require.Zero(t, task)
}

func TestTask_groups(t *testing.T) {
	a, b := ready(t, relu(1, 4), 32), ready(t, relu(1, 2), 32)
	copy(elements[float32](&a.in[0]), []float32{1, -1, 1, -1})
	copy(elements[float32](&b.in[0]), []float32{-2, 2})
	var task uintptr
	require.NoError(t, dnnInferV2(&task, &a.out[0], &a.in[0], a.m))
	bad := b.in[0]
	bad.properties.kind = typeS8
	requireCode(t, -100001, dnnInferV2(&task, &b.out[0], &bad, b.m), "tensorType")
	require.NoError(t, dnnInferV2(&task, &b.out[0], &b.in[0], b.m))
	require.NoError(t, submit(t, task, SchedParam{}))
	require.NoError(t, wait(t, task, 0))
	require.Equal(t, []float32{1, 0, 1, 0}, elements[float32](&a.out[0])[:4])
	require.Equal(t, []float32{0, 2}, elements[float32](&b.out[0])[:2])
	pack, err := handle.Of(b.m.Pack)
	require.NoError(t, err)
	requireCode(t, -600003, dnnRelease(pack), "not released")
	require.NoError(t, ucpReleaseTask(task))
	require.NoError(t, dnnRelease(pack))
}

func TestTask_limits(t *testing.T) {
	o := ready(t, relu(1, 4), 32)
	var list [most]uintptr
	for i := range list {
		require.NoError(t, dnnInferV2(&list[i], &o.out[0], &o.in[0], o.m))
	}
	var task uintptr
	requireCode(t, -200001, dnnInferV2(&task, &o.out[0], &o.in[0], o.m), "32 tasks", "hbUCPReleaseTask")
	require.Zero(t, task)
	require.NoError(t, o.infer(), "a run that is done when the call returns is none of them")
	for range hb.MaxMembers - 1 {
		require.NoError(t, dnnInferV2(&list[0], &o.out[0], &o.in[0], o.m))
	}
	requireCode(t, -200001, dnnInferV2(&list[0], &o.out[0], &o.in[0], o.m), "255")
	for _, h := range list {
		require.NoError(t, ucpReleaseTask(h), "not submitted")
	}
	pack, err := handle.Of(o.m.Pack)
	require.NoError(t, err)
	require.NoError(t, dnnRelease(pack), "what was refused does not count")
}

func TestTask_timeout(t *testing.T) {
	o := ready(t, relu(1, 4), 32)
	resume := hb.Pause()
	var task uintptr
	require.NoError(t, dnnInferV2(&task, &o.out[0], &o.in[0], o.m))
	require.NoError(t, submit(t, task, SchedParam{}))
	requireCode(t, -200002, wait(t, task, 1), "1 ms")
	resume()
	require.NoError(t, wait(t, task, 0), "after a timeout")
	require.NoError(t, ucpReleaseTask(task))
}

func TestInfer_refusals(t *testing.T) {
	o := ready(t, relu(1, 4), 32)
	in, out := o.in[0], o.out[0]
	for name, change := range map[string]func(){
		"tensorType is S8":   func() { o.in[0].properties.kind = typeS8 },
		"numDimensions is 3": func() { o.in[0].properties.valid.rank = 3 },
		"validShape":         func() { o.in[0].properties.valid.dims[1] = 5 },
		"virAddr is NULL":    func() { o.in[0].mem.virt = 0 },
		"output[0]":          func() { o.out[0].properties.stride[1] = 2 },
	} {
		change()
		requireCode(t, -100001, o.infer(), name)
		o.in[0], o.out[0] = in, out
	}
	o.in[0].properties.quant, o.in[0].properties.scale, o.in[0].properties.axis = 9, 12345, 77
	require.NoError(t, o.infer(), "what integers stand for is not read")
	o.in[0].properties.valid.rank = -1
	require.Error(t, o.infer())
}

func TestMemory(t *testing.T) {
	var a, b SysMem
	require.NoError(t, ucpMalloc(&a, 100, 0))
	require.NoError(t, ucpMallocCached(&b, 1, 0))
	require.Equal(t, []any{uint64(100), uint64(a.virt), uintptr(0)}, []any{a.size, a.phys, a.virt % 64})
	require.NoError(t, ucpMemFlush(&SysMem{virt: a.virt + 3, size: 1}, flushInvalidate))
	requireCode(t, -100001, ucpMemFlush(&a, 0), "flag is 0")
	requireCode(t, -400003, ucpMemFlush(&SysMem{}, flushClean))
	requireCode(t, -400004, ucpMemFlush(&SysMem{virt: a.virt}, flushInvalidate))
	requireCode(t, -400002, ucpFree(&SysMem{virt: a.virt + 64, size: 36}), "64 bytes behind")
	requireCode(t, -400002, ucpFree(&SysMem{}))
	copied := SysMem{virt: a.virt, size: 5}
	require.NoError(t, ucpFree(&copied), "by its address alone")
	require.Equal(t, SysMem{}, copied)
	requireCode(t, -400002, ucpFree(&a))
	require.NoError(t, ucpFree(&b))
	requireCode(t, -100001, ucpMalloc(&b, 0, 0), "size is 0")
	requireCode(t, -400001, ucpMalloc(&b, 1<<63, 0))
	requireCode(t, -400001, ucpMalloc(&b, 1<<60, 0))
}

func TestPacked_names(t *testing.T) {
	p, err := loaded(t, relu(1, 2).Meta("anynpu.name", "a"), relu(1, 3).Meta("anynpu.name", "a"),
		relu(1, 4).Meta("anynpu.name", "b"))
	require.NoError(t, err)
	require.Len(t, p.Models(), 2, "the second of a name is left out")
	m, err := dnnGetModelHandle(p, "a")
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, m.in[0].shape)
	_, err = dnnGetModelHandle(p, "c")
	requireCode(t, -100001, err, `"c"`)
	var text uintptr
	var size uint32
	var kind int32
	require.NoError(t, dnnGetHBMDesc(&text, &size, &kind, p, 2))
	requireCode(t, -100001, dnnGetHBMDesc(&text, &size, &kind, p, 3))
	require.NoError(t, dnnGetModelDesc(&text, &size, &kind, m))
	require.Equal(t, []any{uint32(2), int32(1)}, []any{size, kind}, "{}")
}

func TestStatus_everyCodeHasAText(t *testing.T) {
	for from, to := range codes {
		require.Contains(t, descriptions, int32(to), from)
	}
	require.Len(t, descriptions, 41)
}
