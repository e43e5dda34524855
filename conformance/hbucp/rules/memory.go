package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var allocators = []string{"UCPMalloc", "UCPMallocCached"}

var memory = []*Rule{
	rule("5.3.a_alloc", "memory is zeroed, aligned, and known by its address").
		OK("sizes", func(t *T) {
			for _, f := range allocators {
				for _, size := range []uint64{1, 63, 4096, 1<<20 + 1} {
					m := &hbucp.SysMem{}
					t.OK(f, m, size, 0)
					b := hbucp.Of[byte](m, int(size))
					t.Check(m.Size == size && m.Phys != 0 && m.Virt%64 == 0 &&
						!slices.ContainsFunc(b, func(x byte) bool { return x != 0 }),
						"%+v", *m)
					b[size-1] = 1
					t.OK("UCPFree", m)
				}
			}
		}).
		No("nothing", func(t *T) {
			for _, f := range allocators {
				t.Bad(f, &hbucp.SysMem{}, uint64(0), 0)
			}
		}).
		No("too_much", func(t *T) {
			for _, size := range []uint64{1 << 60, 1 << 63, ^uint64(0)} {
				t.Is(hbucp.AllocFailed, "UCPMalloc", &hbucp.SysMem{}, size, 0)
			}
		}).
		No("null", func(t *T) { t.Bad("UCPMallocCached", nil, uint64(4), 0) }),
	rule("5.3.b_free", "memory is freed by its address alone, once, and the struct is cleared").
		OK("copy", func(t *T) {
			m := &hbucp.SysMem{}
			t.OK("UCPMalloc", m, uint64(100), 0)
			other := &hbucp.SysMem{Virt: m.Virt, Size: 3}
			t.OK("UCPFree", other)
			t.Check(*other == hbucp.SysMem{}, "%+v", *other)
		}).
		No("twice", func(t *T) {
			m := &hbucp.SysMem{}
			t.OK("UCPMalloc", m, uint64(100), 0)
			again := *m
			t.OK("UCPFree", m)
			t.Is(hbucp.FreeFailed, "UCPFree", &again)
		}).
		No("empty", func(t *T) { t.Is(hbucp.FreeFailed, "UCPFree", &hbucp.SysMem{}) }).
		No("inside", func(t *T) {
			m := t.Mem(128)
			t.Is(hbucp.FreeFailed, "UCPFree", &hbucp.SysMem{Virt: m.Virt + 64, Size: 64})
		}).
		No("null", func(t *T) { t.Bad("UCPFree", nil) }),
	rule("5.3.c_flush", "memory is flushed whole and in parts, also such that UCP did not make").
		OK("views", func(t *T) {
			m := t.Mem(128)
			own := make([]byte, 8)
			t.Keep(own)
			for _, flag := range []int32{1, 2} {
				t.OK("UCPMemFlush", &m, flag)
				t.OK("UCPMemFlush", &hbucp.SysMem{Virt: m.Virt + 5, Phys: m.Phys + 5, Size: 9}, flag)
				t.OK("UCPMemFlush", &hbucp.SysMem{Virt: cmem.First(own), Size: 8}, flag)
			}
		}).
		No("flag", func(t *T) {
			m := t.Mem(128)
			for _, flag := range []int32{0, 3, -1} {
				t.Bad("UCPMemFlush", &m, flag)
			}
		}).
		No("nothing", func(t *T) {
			m := t.Mem(128)
			t.Is(hbucp.FlushFailed, "UCPMemFlush", &hbucp.SysMem{}, 2)
			t.Is(hbucp.InvalidateFailed, "UCPMemFlush", &hbucp.SysMem{Virt: m.Virt}, 1)
		}).
		No("null", func(t *T) { t.Bad("UCPMemFlush", nil, 1) }),
	rule("5.3.d_foreign", "tensors may lie in memory that UCP did not make").
		OK("own", func(t *T) {
			r := t.small()
			own := make([]float32, 8)
			t.Keep(own)
			copy(own, []float32{-1, 2, -3, 4})
			r.In[0].Mem = hbucp.SysMem{Virt: cmem.First(own), Size: 16}
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 0, 2, 0, 4)
		}).
		No("beyond_a_block", func(t *T) {
			r := t.small()
			r.In[0].Mem.Virt += 128 - 8
			t.Infer(hbucp.InvalidArgument, address(), r)
			t.Says("8 bytes")
		}),
	rule("5.3.e_freed_under_a_task", "memory that is freed while a task uses it lives until the task is done").
		OK("freed", func(t *T) {
			r := t.small()
			hbucp.Fill[float32](r, -1, 2, -3, 4)
			m := &hbucp.SysMem{}
			t.OK("UCPMalloc", m, uint64(128), 0)
			copy(hbucp.Of[float32](m, 4), []float32{5, -6, 7, -8})
			r.In[0].Mem = *m
			task := t.Make(r)
			t.OK("UCPFree", m)
			t.OK("UCPSubmitTask", task, &r.Sched)
			t.OK("UCPWaitTaskDone", task, 0)
			hbucp.Gives[float32](t.T, r, 5, 0, 7, 0)
		}).
		No("again", func(t *T) {
			m := &hbucp.SysMem{}
			t.OK("UCPMalloc", m, uint64(128), 0)
			given := *m
			r := t.small()
			r.In[0].Mem = given
			task := t.Make(r)
			t.OK("UCPFree", m)
			t.Is(hbucp.FreeFailed, "UCPFree", &given)
			t.OK("UCPReleaseTask", task)
		}),
}

// strided lays 2 x 3 numbers out with strides in bytes and returns what the model gives, dense.
func (t *T) strided(r *hbucp.Run, row, element int64) []float32 {
	want := []float32{1, -2, 3, -4, 5, 6}
	r.In[0].Properties.Stride[0], r.In[0].Properties.Stride[1] = row, element
	r.In[0].Mem = t.Mem(row + 2*element + 4)
	all := hbucp.Of[float32](&r.In[0].Mem, int(r.In[0].Mem.Size/4))
	for i, v := range want {
		all[int64(i/3)*row/4+int64(i%3)*element/4] = v
	}
	t.Compute(r)
	return slices.Clone(hbucp.Of[float32](&r.Out[0].Mem, 6))
}

var strides = []*Rule{
	rule("5.4.b_any_stride", "strides are any multiples of the element's size that do not overlap").
		OK("inputs", func(t *T) {
			for _, s := range [][2]int64{{12, 4}, {16, 4}, {32, 8}, {64, 20}} {
				got := t.strided(t.Prepare(hbucp.Relu(2, 3)), s[0], s[1])
				t.Check(slices.Equal(got, []float32{1, 0, 3, 0, 5, 6}), "strides %v give %v", s, got)
			}
		}).
		OK("outputs", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 3))
			hbucp.Fill[float32](r, 1, 2, 3, 4, 5, 6)
			all := hbucp.Of[float32](&r.Out[0].Mem, 10)
			for i := range all {
				all[i] = -7
			}
			r.Out[0].Properties.Stride[0] = 20
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 1, 2, 3, -7, -7, 4, 5, 6, -7, -7)
		}).
		No("overlap", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 3))
			r.In[0].Properties.Stride[0] = 8
			t.Infer(hbucp.InvalidArgument, address(), r)
			t.Says("stride[0] is 8")
		}).
		No("odd", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 3))
			r.In[0].Properties.Stride[0] = 14
			t.Infer(hbucp.InvalidArgument, address(), r)
		}).
		No("missing", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 3))
			for _, s := range []int64{-1, 0, -4} {
				r.In[0].Properties.Stride[1] = s
				t.Infer(hbucp.InvalidArgument, address(), r)
			}
		}),
	rule("5.4.c_reach", "memory has to reach the last element, and no further").
		OK("exact", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 3))
			r.In[0].Properties.Stride[0] = 48
			r.In[0].Mem.Size = 48 + 12
			t.Compute(r)
		}).
		No("short", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 3))
			r.In[0].Properties.Stride[0] = 48
			r.In[0].Mem.Size = 48 + 11
			t.Infer(hbucp.InvalidArgument, address(), r)
			t.Says("60 bytes")
		}),
	rule("5.4.d_layout", "layout in the metadata has a tensor handed over in another order").
		OK("nhwc", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 2, 1, 3).Meta("anynpu.output.y.layout", "nhwc"))
			t.Check(slices.Equal(r.Out[0].Properties.Valid.Sizes(), []int32{1, 1, 3, 2}), "%v",
				r.Out[0].Properties.Valid.Sizes())
			hbucp.Fill[float32](r, 1, 2, 3, 10, 20, 30)
			t.Compute(r)
			hbucp.Gives[float32](t.T, r, 1, 10, 2, 20, 3, 30)
		}).
		No("own_order", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 2, 1, 3).Meta("anynpu.output.y.layout", "nhwc"))
			r.Out[0].Properties.Valid = r.In[0].Properties.Valid
			t.Infer(hbucp.InvalidArgument, address(), r)
		}),
	rule("5.4.e_target", "ANYNPU_HBDNN_TARGET has rows of codes begin at the chip's multiples").
		OK("gaps", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 3).Meta("anynpu.outputs.codes", "int16"))
			t.Check(r.Out[0].Properties.Stride[0] == 64 && r.Out[0].Properties.Bytes == 128, "%v", r.Out[0].Properties.Strides())
			hbucp.Fill[float32](r, 1, 2, 3, 4, 5, 6)
			t.Compute(r)
			got := hbucp.Of[int16](&r.Out[0].Mem, 35)
			t.Check(got[0] == 256 && got[32] == 4*256, "%v", slices.Clone(got))
		}).With("ANYNPU_HBDNN_TARGET=s600").
		OK("gaps_of_matrices", func(t *T) {
			r := t.Prepare(hbucp.Relu(2, 2, 3).Meta("anynpu.outputs.codes", "int16"))
			t.Check(slices.Equal(r.Out[0].Properties.Strides(), []int64{128, 64, 2}) && r.Out[0].Properties.Bytes == 256,
				"%v, %d bytes", r.Out[0].Properties.Strides(), r.Out[0].Properties.Bytes)
			hbucp.Fill[float32](r, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
			t.Compute(r)
			got := hbucp.Of[int16](&r.Out[0].Mem, 99)
			for i := range 4 {
				t.Check(got[32*i] == got[0]*int16(1+3*i), "row %d begins with %d, the first with %d", i, got[32*i], got[0])
			}
		}).With("ANYNPU_HBDNN_TARGET=s600").
		No("narrow", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 1, 4, 6).Meta("anynpu.input.x.pixel", "gray"))
			r.In[0].Properties.Stride[1] = 32
			t.Infer(hbucp.InvalidArgument, address(), r)
			t.Says("64")
		}).With("ANYNPU_HBDNN_TARGET=s600"),
}
