package hbucp

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// nv12 is a network that passes an image of these sizes on.
func nv12(n, h, w int64) *onnxtest.Model {
	return relu(n, 3, h, w).Meta("anynpu.input.x.pixel", "nv12")
}

// sized gives a tensor of an image sizes, strides of 64 from row to row, and memory.
func sized(t *testing.T, p *port, h, w int64) Tensor {
	var x Tensor
	p.store(&x.properties, nil)
	d := &x.properties
	d.valid.dims[1], d.valid.dims[2] = int32(h), int32(w)
	d.stride[1] = roundUp(w*d.stride[2], 64)
	d.stride[0] = h * d.stride[1]
	require.NoError(t, ucpMallocCached(&x.mem, uint64(d.stride[0]*int64(d.valid.dims[0])), 0))
	t.Cleanup(func() { _ = ucpFree(&SysMem{virt: x.mem.virt}) })
	return x
}

func (x *Tensor) pattern(k int) {
	for i := range x.data() {
		x.data()[i] = byte(i*k + i/64*31)
	}
}

// TestImages_tensorsOfTheirOwn: with names for each image of a batch, each has luma and chroma of its own, in the order
// of the names; the results equal those of the images alone.
func TestImages_tensorsOfTheirOwn(t *testing.T) {
	m := load1(t, nv12(2, 4, 6).Meta("anynpu.input.x.ports", `["left_y", "left_uv", "right_y", "right_uv"]`))
	require.Len(t, m.in, 4)
	one := load1(t, nv12(1, 4, 6))
	var names []string
	var all []Tensor
	for i, p := range m.in {
		names = append(names, p.name)
		require.Equal(t, props(one.in[i%2]), props(p), "an image as a model of one has it")
		x := sized(t, p, []int64{4, 2}[i%2], []int64{6, 3}[i%2])
		x.pattern(7 + i)
		all = append(all, x)
	}
	require.Equal(t, []string{"left_y", "left_uv", "right_y", "right_uv"}, names)
	both, out := filled(t, m.out[0], 32), filled(t, one.out[0], 32)
	require.NoError(t, dnnInferV2(nil, &both, &all[0], m))
	for k := range 2 {
		require.NoError(t, dnnInferV2(nil, &out, &all[2*k], one))
		require.Equal(t, elements[float32](&out)[:72], elements[float32](&both)[72*k:][:72], "image %d", k)
	}
	_, err := loaded(t, nv12(2, 4, 6).Meta("anynpu.input.x.ports", `["a", "b", "c"]`))
	requireCode(t, -600002, err, "has 3 names: want 2, or 2 for each of the 2 images")
	named := load1(t, nv12(2, 4, 6).Meta("anynpu.input.x.ports", `["a", "b"]`))
	require.Equal(t, []string{"a", "b"}, []string{named.in[0].name, named.in[1].name})
	require.EqualValues(t, 2, props(named.in[0]).valid.dims[0], "the whole batch")
}

// regions is a network of regions of images, and those of a call.
func regions(t *testing.T, model *onnxtest.Model) (*Model, []Tensor, Tensor) {
	m := load1(t, model.Meta("anynpu.input.x.source", "resizer"))
	require.Len(t, m.in, 3)
	in := []Tensor{sized(t, m.in[0], 12, 20), sized(t, m.in[1], 6, 10), filled(t, m.in[2], 32)}
	in[0].pattern(7)
	in[1].pattern(11)
	return m, in, filled(t, m.out[0], 32)
}

func TestImages_regions(t *testing.T) {
	m, in, out := regions(t, nv12(1, 4, 6))
	require.Equal(t, []string{"x_y", "x_uv", "x_roi"}, []string{m.in[0].name, m.in[1].name, m.in[2].name})
	for i, last := range []int32{1, 2} {
		x := props(m.in[i])
		require.Equal(t, []int32{1, -1, -1, last}, x.valid.dims[:4])
		require.Equal(t, []int64{-1, -1, int64(last), 1, -1}, append(slices.Clone(x.stride[:4]), x.bytes))
	}
	require.Equal(t, TensorProperties{valid: TensorShape{dims: [maxDims]int32{1, 4}, rank: 2}, kind: typeS32, bytes: 128,
		stride: [maxDims]int64{16, 4}}, props(m.in[2]))
	copy(elements[int32](&in[2]), []int32{8, 2, 13, 5}) // 6 columns, 4 rows: as large as the network's
	require.NoError(t, dnnInferV2(nil, &out, &in[0], m))
	plain := load1(t, nv12(1, 4, 6))
	crop := []Tensor{sized(t, plain.in[0], 4, 6), sized(t, plain.in[1], 2, 3)}
	for i, rows := range []int{4, 2} {
		for h := range rows {
			copy(crop[i].data()[64*h:][:6], in[i].data()[64*(h+[]int{2, 1}[i])+8:])
		}
	}
	want := filled(t, plain.out[0], 32)
	require.NoError(t, dnnInferV2(nil, &want, &crop[0], plain))
	require.Equal(t, elements[float32](&want)[:72], elements[float32](&out)[:72])
	// A region of one colour is that colour, however large it is.
	for i := range 2 {
		for k := range in[i].data() {
			in[i].data()[k] = []byte{90, 140}[i]
		}
		for k := range crop[i].data() {
			crop[i].data()[k] = []byte{90, 140}[i]
		}
	}
	copy(elements[int32](&in[2]), []int32{0, 0, 19, 11})
	require.NoError(t, dnnInferV2(nil, &out, &in[0], m))
	require.NoError(t, dnnInferV2(nil, &want, &crop[0], plain))
	require.Equal(t, elements[float32](&want)[:72], elements[float32](&out)[:72])
}

// TestImages_regionsOfABatch: each image has a region of its own.
func TestImages_regionsOfABatch(t *testing.T) {
	m := load1(t, nv12(2, 4, 6).Meta("anynpu.input.x.source", "resizer"))
	in := []Tensor{sized(t, m.in[0], 12, 20), sized(t, m.in[1], 6, 10), filled(t, m.in[2], 32)}
	in[0].pattern(5)
	in[1].pattern(3)
	boxes := []int32{0, 0, 11, 7, 4, 4, 9, 7}
	copy(elements[int32](&in[2]), boxes)
	out := filled(t, m.out[0], 32)
	require.NoError(t, dnnInferV2(nil, &out, &in[0], m))
	one := load1(t, nv12(1, 4, 6).Meta("anynpu.input.x.source", "resizer"))
	single := filled(t, one.out[0], 32)
	for k := range 2 {
		alone := slices.Clone(in)
		for i := range 2 {
			alone[i].properties.valid.dims[0] = 1
			alone[i].mem.virt += uintptr(int64(k) * in[i].properties.stride[0])
			alone[i].mem.size = uint64(in[i].properties.stride[0])
		}
		alone[2] = filled(t, one.in[2], 32)
		copy(elements[int32](&alone[2]), boxes[4*k:][:4])
		require.NoError(t, dnnInferV2(nil, &single, &alone[0], one))
		require.Equal(t, elements[float32](&single)[:72], elements[float32](&out)[72*k:][:72], "image %d", k)
	}
}

func TestImages_regionsRefused(t *testing.T) {
	m, in, out := regions(t, nv12(1, 4, 6))
	infer := func() error { return dnnInferV2(nil, &out, &in[0], m) }
	for _, c := range []struct {
		box  [4]int32
		word string
	}{{[4]int32{5, 0, 4, 3}, "left 5, top 0, right 4"}, {[4]int32{0, 3, 4, 2}, "bottom 2"},
		{[4]int32{20, 0, 25, 3}, "region"}, {[4]int32{-9, -9, -1, -1}, "region"}} {
		copy(elements[int32](&in[2]), c.box[:])
		requireCode(t, -200003, infer(), c.word, "x_roi")
	}
	copy(elements[int32](&in[2]), []int32{0, 0, 7, 7})
	require.NoError(t, infer())
	in[1].properties.valid.dims[1] = 5
	requireCode(t, -100001, infer(), "input[1].properties.validShape", "the luma of input[0]")
	in[1].properties.valid.dims[1] = 6
	for _, rows := range []int32{-1, 0, 1<<15 + 1} {
		in[0].properties.valid.dims[1] = rows
		requireCode(t, -100001, infer(), "input[0].properties.validShape")
	}
	_, err := loaded(t, relu(1, 3, 4, 6).Meta("anynpu.input.x.pixel", "rgb").Meta("anynpu.input.x.source", "resizer"))
	requireCode(t, -600002, err, "NV12 and gray")
}

// TestImages_grayRegions: luma alone has regions too.
func TestImages_grayRegions(t *testing.T) {
	m := load1(t, relu(1, 1, 4, 6).Meta("anynpu.input.x.pixel", "gray").Meta("anynpu.input.x.source", "resizer"))
	require.Len(t, m.in, 2)
	in := []Tensor{sized(t, m.in[0], 12, 20), filled(t, m.in[1], 32)}
	in[0].pattern(7)
	copy(elements[int32](&in[1]), []int32{3, 5, 8, 8})
	out := filled(t, m.out[0], 32)
	require.NoError(t, dnnInferV2(nil, &out, &in[0], m))
	for h := range 4 {
		for w := range 6 {
			require.EqualValues(t, in[0].data()[64*(h+5)+w+3], elements[float32](&out)[6*h+w])
		}
	}
}
