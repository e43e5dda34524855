package hbdnn

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// pictureOf is an image as programs describe it themselves: type, layout, shapes and memory alone are set.
func pictureOf(t *testing.T, kind, layout int32, pitch, w int32, dims ...int32) *full {
	f := &full{properties: fullProperties{valid: shape(dims...), aligned: shape(dims...), layout: layout, kind: kind,
		bytes: -1, quant: 77, scale: 1}}
	f.properties.aligned.dims[w] = pitch
	h, c := dims[2], dims[1]
	if layout == layoutNHWC {
		h, c = dims[1], dims[3]
	}
	sizes := []int32{h * pitch * c}
	switch kind {
	case typeNV12:
		sizes = []int32{h * pitch * 3 / 2}
	case typeNV12Separate:
		sizes = []int32{h * pitch, h / 2 * pitch}
	}
	for i, n := range sizes {
		require.NoError(t, sysAllocMem(&f.mem[i], uint32(n)))
		t.Cleanup(func() { _ = sysFreeMem(&f.mem[i]) })
		for k, data := 0, bytesAt(f.mem[i].virt, int64(n)); k < len(data); k++ {
			data[k] = byte(k*31 + k/13*7 + i*50)
		}
	}
	return f
}

func (f *full) plane(i int) []byte { return bytesAt(f.mem[i].virt, int64(f.mem[i].size)) }

// ended ends a task and returns what came of it.
func ended(t *testing.T, task uintptr) error {
	o, err := handle.Hold[Task](task)
	require.NoError(t, err)
	err = dnnWaitTaskDone(o, 0)
	handle.Unhold(task)
	require.NoError(t, dnnReleaseTask(task))
	return err
}

func resize(t *testing.T, to, from *full, r *Roi) error {
	task := uintptr(12345) // is not read
	if err := dnnResize(&task, (*Tensor)(unsafe.Pointer(to)), (*Tensor)(unsafe.Pointer(from)), r,
		&ResizeCtrlParam{}); err != nil {
		require.Zero(t, task)
		return err
	}
	return ended(t, task)
}

// scaledTo is the formula of section 11 for a plane of comps bytes side by side.
func scaledTo(src []byte, pitch, comps int, left, top, right, bottom, h, w int) []byte {
	step := func(n, dst int) int {
		if dst == 1 {
			return 0
		}
		return ((n-1)*65536 + (dst-1)/2) / (dst - 1)
	}
	var out []byte
	sy, sx := step(bottom-top+1, h), step(right-left+1, w)
	for y := range h {
		for x := range w {
			for c := range comps {
				at := func(dy, dx int) uint64 {
					row, col := min(y*sy>>16+dy, bottom-top)+top, min(x*sx>>16+dx, right-left)+left
					return uint64(src[row*pitch+col*comps+c])
				}
				fy, fx := uint64(y*sy&65535), uint64(x*sx&65535)
				sum := (65536-fy)*((65536-fx)*at(0, 0)+fx*at(0, 1)) + fy*((65536-fx)*at(1, 0)+fx*at(1, 1))
				out = append(out, byte((sum+1<<31)>>32))
			}
		}
	}
	return out
}

// dense is a plane without what lies between rows.
func dense(data []byte, pitch, row, rows int) (out []byte) {
	for y := range rows {
		out = append(out, data[y*pitch:][:row]...)
	}
	return out
}

func TestResize(t *testing.T) {
	from, to := pictureOf(t, typeY, layoutNCHW, 32, 3, 1, 1, 20, 30), pictureOf(t, typeY, layoutNCHW, 16, 3, 1, 1, 7, 9)
	for range 2 { // the second finds the program of the first
		require.NoError(t, resize(t, to, from, &Roi{3, 2, 24, 17}))
		require.Equal(t, scaledTo(from.plane(0), 32, 1, 3, 2, 24, 17, 7, 9), dense(to.plane(0), 16, 9, 7))
		require.NoError(t, resize(t, to, from, nil))
		require.Equal(t, scaledTo(from.plane(0), 32, 1, 0, 0, 29, 19, 7, 9), dense(to.plane(0), 16, 9, 7))
	}
	assert.NotEqual(t, byte(0), to.plane(0)[9], "bytes between rows are kept")

	from, to = pictureOf(t, typeRGB, layoutNHWC, 11, 2, 1, 8, 10, 3), pictureOf(t, typeRGB, layoutNHWC, 5, 2, 1, 12, 5, 3)
	require.NoError(t, resize(t, to, from, &Roi{1, 1, 8, 6}))
	require.Equal(t, scaledTo(from.plane(0), 33, 3, 1, 1, 8, 6, 12, 5), to.plane(0))

	from, to = pictureOf(t, typeNV12, layoutNCHW, 32, 3, 1, 3, 20, 30),
		pictureOf(t, typeNV12Separate, layoutNCHW, 16, 3, 1, 3, 8, 10)
	require.NoError(t, resize(t, to, from, &Roi{4, 2, 27, 17}))
	require.Equal(t, scaledTo(from.plane(0), 32, 1, 4, 2, 27, 17, 8, 10), dense(to.plane(0), 16, 10, 8))
	require.Equal(t, scaledTo(from.plane(0)[20*32:], 32, 2, 2, 1, 13, 8, 4, 5), dense(to.plane(1), 16, 10, 4))
}

func TestResize_refused(t *testing.T) {
	from, to := pictureOf(t, typeY, layoutNCHW, 32, 3, 1, 1, 20, 30), pictureOf(t, typeY, layoutNCHW, 16, 3, 1, 1, 7, 9)
	good := *from
	for word, change := range map[string]func(){
		"input.properties.tensorType":   func() { from.properties.kind = typeF32 },
		"input.properties.tensorLayout": func() { from.properties.layout = layoutNone },
		"validShape":                    func() { from.properties.valid.rank = 3 },
		"rows at least as long":         func() { from.properties.aligned.dims[3] = 29 },
		"input.sysMem[0].memSize":       func() { from.mem[0].size-- },
		"input.sysMem[0].virAddr":       func() { from.mem[0].virt = 0 },
	} {
		change()
		requireCode(t, errArgument, resize(t, to, from, nil), word)
		*from = good
	}
	requireCode(t, errArgument, resize(t, pictureOf(t, typeNV12, layoutNCHW, 16, 3, 1, 3, 8, 8), from, nil),
		"output.properties: tensorType is NV12", "want the input's, Y")
	requireCode(t, errArgument, resize(t, to, from, &Roi{30, 0, 40, 5}), "roi", "outside")
	require.NoError(t, resize(t, to, from, &Roi{-4, -4, 100, 100}), "is cut")
	require.Equal(t, scaledTo(from.plane(0), 32, 1, 0, 0, 29, 19, 7, 9), dense(to.plane(0), 16, 9, 7))
}

// infers runs a model on regions and waits.
func infers(t *testing.T, m *Model, in, out []full, rois ...Roi) error {
	outputs, task := uintptr(unsafe.Pointer(&out[0])), uintptr(0)
	err := dnnRoiInfer(&task, &outputs, first(in), &rois[0], int32(len(rois)), m, &InferCtrlParam{})
	runtime.KeepAlive(out)
	if err != nil {
		return err
	}
	return ended(t, task)
}

func resizing(dims ...int64) *onnxtest.Model {
	return camera(dims...).Meta("anynpu.input.x.source", "resizer")
}

// A region of the model's size is taken as it is: the same bits as hbDNNInfer gives of the cut image.
func TestRoiInfer_ofTheModelsSize(t *testing.T) {
	o := ready(t, resizing(1, 3, 4, 6))
	frame := pictureOf(t, typeNV12, layoutNCHW, 48, 3, 1, 3, 30, 40)
	require.NoError(t, infers(t, o.m, []full{*frame}, o.out, Roi{8, 6, 13, 9}))
	got := append([]float32(nil), o.out[0].floats()...)
	data, source := o.in[0].data(), frame.plane(0)
	for y := range 4 {
		copy(data[16*y:][:6], source[48*(6+y)+8:])
	}
	for y := range 2 {
		copy(data[16*(4+y):][:6], source[48*(30+3+y)+8:])
	}
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, o.out[0].floats(), got)
}

// Five regions of images of different sizes and kinds for a model of two: three runs, the last one filled up.
func TestRoiInfer_batches(t *testing.T) {
	o := ready(t, resizing(2, 3, 4, 6))
	single := ready(t, resizing(1, 3, 4, 6))
	frames := []full{*pictureOf(t, typeNV12, layoutNCHW, 48, 3, 1, 3, 30, 40),
		*pictureOf(t, typeNV12Separate, layoutNCHW, 16, 3, 1, 3, 12, 14),
		*pictureOf(t, typeNV12, layoutNCHW, 21, 3, 1, 3, 9, 21)}
	in := []full{frames[0], frames[1], frames[0], frames[2], frames[1]}
	rois := []Roi{{0, 0, 39, 29}, {2, 2, 11, 9}, {10, 10, 15, 13}, {0, 0, 20, 8}, {1, 1, 30, 30}}
	require.NoError(t, sysFreeMem(&o.out[0].mem[0]))
	require.NoError(t, sysAllocMem(&o.out[0].mem[0], uint32(3*o.m.out[0].bytes)))
	o.out[0].properties.valid.dims[0], o.out[0].properties.aligned.dims[0] = 6, 6
	require.NoError(t, infers(t, o.m, in, o.out, rois...))
	all := o.out[0].floats()
	for i := range in {
		require.NoError(t, infers(t, single.m, in[i:i+1], single.out, rois[i]))
		want := single.out[0].floats()
		require.Equal(t, want, all[i*len(want):][:len(want)], "region %d", i)
	}
}

func TestRoiInfer_refused(t *testing.T) {
	o := ready(t, resizing(1, 3, 4, 6))
	frame := []full{*pictureOf(t, typeNV12, layoutNCHW, 48, 3, 1, 3, 30, 40)}
	requireCode(t, errArgument, infers(t, o.m, frame, o.out, Roi{5, 0, 4, 3}), "rois[0]")
	requireCode(t, errArgument, infers(t, o.m, frame, o.out, Roi{40, 0, 44, 3}), "rois[0]", "outside")
	requireCode(t, errArgument, infers(t, o.m, []full{frame[0], frame[0]}, o.out, Roi{0, 0, 4, 3}, Roi{0, 0, 4, 3}),
		"(*output)[0].sysMem[0].memSize", "2 runs")
	requireCode(t, errArgument, infers(t, o.m, []full{*pictureOf(t, typeY, layoutNCHW, 16, 3, 1, 1, 8, 8)}, o.out,
		Roi{0, 0, 3, 3}), "input[0]", "takes NV12")
	plain := ready(t, camera(1, 3, 4, 6))
	requireCode(t, errUse, infers(t, plain.m, frame, plain.out, Roi{0, 0, 3, 3}), "resizer")
	var task uintptr
	outputs := uintptr(unsafe.Pointer(&o.out[0]))
	for _, n := range []int32{0, -1} {
		requireCode(t, errArgument, dnnRoiInfer(&task, &outputs, first(frame), &Roi{}, n, o.m, &InferCtrlParam{}), "roiCount")
	}
	requireCode(t, errBatch, dnnRoiInfer(&task, &outputs, first(frame), &Roi{}, 256, o.m, &InferCtrlParam{}), "roiCount")
}

// Resize tasks have a limit of their own, and what scales ends with the last task and model.
func TestResize_limit(t *testing.T) {
	from, to := pictureOf(t, typeY, layoutNCHW, 16, 3, 1, 1, 8, 8), pictureOf(t, typeY, layoutNCHW, 16, 3, 1, 1, 4, 4)
	var tasks []uintptr
	begin := func() error {
		var task uintptr
		err := dnnResize(&task, (*Tensor)(unsafe.Pointer(to)), (*Tensor)(unsafe.Pointer(from)), nil, &ResizeCtrlParam{})
		if err == nil {
			tasks = append(tasks, task)
		}
		return err
	}
	for range maxTasks {
		require.NoError(t, begin())
	}
	requireCode(t, errTasks, begin())
	for _, task := range tasks {
		require.NoError(t, ended(t, task))
	}
	if kept, users := hb.ScalersKept(); users == 0 {
		require.Zero(t, kept)
	}
}
