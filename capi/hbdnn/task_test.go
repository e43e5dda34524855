package hbdnn

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// one is a model with tensors.
type one struct {
	m       *Model
	in, out []full
}

func ready(t *testing.T, model *onnxtest.Model) *one {
	o := &one{m: open(t, model)}
	for _, p := range o.m.in {
		o.in = append(o.in, *tensorFor(t, p))
	}
	for _, p := range o.m.out {
		o.out = append(o.out, *tensorFor(t, p))
	}
	return o
}

func TestInfer_featureMap(t *testing.T) {
	o := ready(t, relu(1, 4))
	copy(o.in[0].floats(), []float32{-1, 2, -3, 4})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []float32{0, 2, 0, 4}, o.out[0].floats())
	copy(o.in[0].floats(), []float32{5, -6, 7, -8})
	o.in[0].properties.aligned = o.in[0].properties.valid
	require.NoError(t, infer(t, o.m, o.in, o.out), "alignedShape = validShape")
	require.Equal(t, []float32{5, 0, 7, 0}, o.out[0].floats())
	o.out[0].mem[0] = o.in[0].mem[0]
	require.NoError(t, infer(t, o.m, o.in, o.out), "in place")
	require.Equal(t, []float32{5, 0, 7, 0}, o.in[0].floats())
	require.NotZero(t, o.m.Latency())
}

func TestInfer_scalar(t *testing.T) {
	o := ready(t, relu())
	o.in[0].floats()[0] = 3
	require.NoError(t, infer(t, o.m, o.in, o.out), "alignedShape as queried")
	require.EqualValues(t, 3, o.out[0].floats()[0])
	o.in[0].properties.aligned, o.out[0].properties.aligned = o.in[0].properties.valid, o.out[0].properties.valid
	require.NoError(t, infer(t, o.m, o.in, o.out), "alignedShape = validShape")
}

func TestInfer_interleavedFeatureMap(t *testing.T) {
	o := ready(t, relu(1, 2, 1, 3).Meta("anynpu.input.x.layout", "nhwc"))
	copy(o.in[0].floats(), []float32{1, 10, 2, 20, 3, 30})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []float32{1, 2, 3, 10, 20, 30}, o.out[0].floats())
}

func TestInfer_grayImageWithPitch(t *testing.T) {
	o := ready(t, relu(1, 1, 2, 3).Meta("anynpu.input.x.pixel", "gray").Meta("anynpu.input.x.mean", "[10]").
		Meta("anynpu.input.x.std", "[2]"))
	require.EqualValues(t, 32, o.in[0].mem[0].size)
	data := o.in[0].data()
	copy(data, []byte{12, 14, 16, 99})
	copy(data[16:], []byte{18, 20, 22, 99})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, o.out[0].floats())
	clear(data)
	copy(data, []byte{12, 14, 16, 99, 18, 20, 22})
	o.in[0].properties.aligned.dims[3], o.in[0].mem[0].size = 4, 8
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, o.out[0].floats())
	o.in[0].properties.aligned.dims[3] = 2
	requireCode(t, errArgument, infer(t, o.m, o.in, o.out), "alignedShape")
	o.in[0].properties.aligned.dims[3] = 5
	requireCode(t, errArgument, infer(t, o.m, o.in, o.out), "memSize is 8", "10 bytes")
}

func TestInfer_colorImage(t *testing.T) {
	o := ready(t, relu(1, 3, 1, 2).Meta("anynpu.input.x.pixel", "bgr").Meta("anynpu.input.x.order", "rgb").
		Meta("anynpu.input.x.mean", "[1, 2, 3]"))
	copy(o.in[0].data(), []byte{11, 22, 33, 41, 52, 63}) // blue, green and red of two pixels
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []float32{30, 60, 20, 50, 10, 40}, o.out[0].floats(),
		"red, green and blue, means by channel of the bytes")
}

func TestInfer_codes(t *testing.T) {
	o := ready(t, codes([]byte{0}, onnxtest.Int8))
	copy(o.in[0].data(), []byte{0xff, 2, 0x80, 4})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []byte{0, 2, 0, 4}, o.out[0].data())
	o = ready(t, codes([]byte{200}, onnxtest.Uint8)) // codes with a zero point that the API lacks: numbers
	copy(o.in[0].floats(), []float32{-0.5, 1.25, 26, 0})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []float32{-0.5, 1, 26, 0}, o.out[0].floats(), "Relu of the codes, halves to even")
}

func TestInfer_batchInParts(t *testing.T) {
	o := ready(t, relu(3, 2))
	want := []float32{1, 2, 3, 4, 5, 6}
	copy(o.in[0].floats(), want)
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, want, o.out[0].floats())
	var parts []full
	for i := range 3 {
		p := o.in[0]
		p.properties.valid.dims[0], p.properties.aligned.dims[0] = 1, 1
		p.mem[0].virt += uintptr(8 * (2 - i))
		p.mem[0].size = 8
		parts = append(parts, p)
	}
	require.NoError(t, infer(t, o.m, parts, o.out))
	require.Equal(t, []float32{5, 6, 3, 4, 1, 2}, o.out[0].floats())
	parts[1].properties.valid.dims[0] = 2
	requireCode(t, errArgument, infer(t, o.m, parts, o.out), "input[1]", "validShape")
}

func TestInfer_refusals(t *testing.T) {
	o := ready(t, relu(1, 4))
	good, goodOut := o.in[0], o.out[0]
	for name, change := range map[string]func(){
		"tensorType": func() { o.in[0].properties.kind = typeS8 },
		"numDimens":  func() { o.in[0].properties.valid.rank = 9 },
		"validShape": func() { o.in[0].properties.valid.dims[1] = 5 },
		"alignedSha": func() { o.in[0].properties.aligned.dims[1] = 8 },
		"NULL":       func() { o.in[0].mem[0].virt = 0 },
		"memSize":    func() { o.in[0].mem[0].size = 15 },
		"end of the": func() { o.in[0].mem[0].virt += 4 },
		"(*output)[": func() { o.out[0].properties.kind = typeF16 },
	} {
		change()
		requireCode(t, errArgument, infer(t, o.m, o.in, o.out), name)
		o.in[0], o.out[0] = good, goodOut
	}
	for name, c := range map[string]InferCtrlParam{
		"priority is 256": {priority: 256}, "priority is -1": {priority: -1}, "bpuCoreId is 4": {bpu: 4},
		"dspCoreId": {dsp: -1},
		"more is 2": {more: 2},
	} {
		_, err := start(o.m, o.in, o.out, &c)
		requireCode(t, errArgument, err, name)
	}
	var none, task uintptr
	requireCode(t, errArgument, dnnInfer(&task, &none, first(o.in), o.m, &InferCtrlParam{}), "output")
	task = 12345
	requireCode(t, errTaskHandle, startInto(&task, o.m, o.in, o.out, &InferCtrlParam{}), "want NULL")
	require.EqualValues(t, 12345, task)
	task = 0
	c := &InferCtrlParam{}
	o.in[0].mem[0].size = 0
	require.Error(t, startInto(&task, o.m, o.in, o.out, c))
	require.Zero(t, task)
	o.in[0].properties.valid = shape(1, 4)
	outputs := uintptr(unsafe.Pointer(&o.out[0]))
	rois := []Roi{{left: 0, top: 0, right: 3, bottom: 3}, {left: 2, right: 1}}
	requireCode(t, errUse, dnnRoiInfer(&task, &outputs, first(o.in), &rois[0], 1, o.m, c), "resizer")
	requireCode(t, errArgument, dnnRoiInfer(&task, &outputs, first(o.in), &rois[0], 2, o.m, c), "rois[1] is left 2")
	requireCode(t, errArgument, dnnRoiInfer(&task, &outputs, first(o.in), &rois[0], 0, o.m, c), "roiCount")
	requireCode(t, errBatch, dnnRoiInfer(&task, &outputs, first(o.in), &rois[0], 256, o.m, c), "roiCount")
	for _, bad := range []ResizeCtrlParam{{priority: 256}, {bpu: 4}, {kind: 1}} {
		requireCode(t, errArgument, dnnResize(&task, nil, nil, nil, &bad), "resizeCtrlParam->")
	}
	requireCode(t, errArgument, dnnResize(&task, nil, nil, &rois[1], &ResizeCtrlParam{}), "roi is")
	task = 77
	requireCode(t, errArgument, dnnResize(&task, first(o.out), first(o.in), &rois[0], &ResizeCtrlParam{}), "input", "F32")
	require.Zero(t, task)
}

func held(t *testing.T, h uintptr, f func(*Task) error) error {
	o, err := handle.Hold[Task](h)
	require.NoError(t, err)
	defer handle.Unhold(h)
	return f(o)
}

func wait(t *testing.T, h uintptr, timeout int32) error {
	return held(t, h, func(o *Task) error { return dnnWaitTaskDone(o, timeout) })
}

func TestTask_groups(t *testing.T) {
	a, b := ready(t, relu(1, 4)), ready(t, relu(1, 2))
	copy(a.in[0].floats(), []float32{1, -1, 1, -1})
	copy(b.in[0].floats(), []float32{-2, 2})
	task, err := start(a.m, a.in, a.out, &InferCtrlParam{more: 1})
	require.NoError(t, err)
	requireCode(t, errUse, wait(t, task, 1), "more = 1")
	good := b.in[0]
	b.in[0].mem[0].size = 0
	require.Error(t, startInto(&task, b.m, b.in, b.out, &InferCtrlParam{}))
	b.in[0] = good
	require.NoError(t, startInto(&task, b.m, b.in, b.out, &InferCtrlParam{priority: 3}), "the refused member is not there")
	require.NoError(t, wait(t, task, 0))
	require.NoError(t, wait(t, task, 1), "twice")
	require.Equal(t, []float32{1, 0, 1, 0}, a.out[0].floats())
	require.Equal(t, []float32{0, 2}, b.out[0].floats())
	requireCode(t, errUse, startInto(&task, b.m, b.in, b.out, &InferCtrlParam{}), "more = 0")
	require.NoError(t, dnnReleaseTask(task))
	requireCode(t, errTaskHandle, dnnReleaseTask(task))
	requireCode(t, errTaskHandle, dnnReleaseTask(0))
	requireCode(t, errTaskHandle, startInto(&task, b.m, b.in, b.out, &InferCtrlParam{}))
}

func TestTask_atMost255Members(t *testing.T) {
	o := ready(t, relu(1, 4))
	var task uintptr
	for range maxMembers {
		require.NoError(t, startInto(&task, o.m, o.in, o.out, &InferCtrlParam{more: 1}))
	}
	requireCode(t, errBatch, startInto(&task, o.m, o.in, o.out, &InferCtrlParam{}), "255")
	pack, err := handle.Of(o.m.Pack)
	require.NoError(t, err)
	requireCode(t, errRunning, dnnRelease(pack), "255")
	require.NoError(t, dnnReleaseTask(task))
}

func TestTask_atMost32Unreleased(t *testing.T) {
	o := ready(t, relu(1, 4))
	var tasks []uintptr
	for range maxTasks {
		task, err := start(o.m, o.in, o.out, &InferCtrlParam{})
		require.NoError(t, err)
		tasks = append(tasks, task)
		require.NoError(t, wait(t, task, 0))
	}
	_, err := start(o.m, o.in, o.out, &InferCtrlParam{})
	requireCode(t, errTasks, err, "32")
	for _, task := range tasks {
		require.NoError(t, dnnReleaseTask(task))
	}
	require.NoError(t, infer(t, o.m, o.in, o.out))
}

// TestTask_queued holds every place with tasks that do not run, so that the next one waits.
func TestTask_queued(t *testing.T) {
	o := ready(t, relu(1, 4))
	defer hb.Pause()()
	task, err := start(o.m, o.in, o.out, &InferCtrlParam{})
	require.NoError(t, err)
	requireCode(t, errTimeout, wait(t, task, 1), "1 ms")
	pack, err := handle.Of(o.m.Pack)
	require.NoError(t, err)
	requireCode(t, errRunning, dnnRelease(pack))
	other, err := start(o.m, o.in, o.out, &InferCtrlParam{priority: 1})
	require.NoError(t, err)
	o2, err := handle.Hold[Task](other)
	require.NoError(t, err)
	var waited sync.WaitGroup
	waited.Go(func() {
		defer handle.Unhold(other)
		assert.Equal(t, errTaskHandle, status(dnnWaitTaskDone(o2, 0)))
	})
	require.NoError(t, dnnReleaseTask(task))
	require.NoError(t, dnnReleaseTask(other), "while a thread waits for it")
	waited.Wait()
	now, err := start(o.m, o.in, o.out, &InferCtrlParam{priority: preemptive})
	require.NoError(t, err)
	require.NoError(t, wait(t, now, 0), "goes beyond the number of places")
	require.NoError(t, dnnReleaseTask(now))
}

func TestTask_keepsFreedMemory(t *testing.T) {
	o := ready(t, relu(1, 4))
	copy(o.in[0].floats(), []float32{1, 2, 3, 4})
	task, err := start(o.m, o.in, o.out, &InferCtrlParam{more: 1})
	require.NoError(t, err)
	require.NoError(t, sysFreeMem(&o.in[0].mem[0]))
	var second SysMem
	require.NoError(t, sysAllocMem(&second, 16))
	o.in[0].mem[0] = second
	require.NoError(t, startInto(&task, o.m, o.in, o.out, &InferCtrlParam{}))
	require.NoError(t, wait(t, task, 0))
	require.NoError(t, dnnReleaseTask(task))
	require.NoError(t, sysFreeMem(&second))
}
