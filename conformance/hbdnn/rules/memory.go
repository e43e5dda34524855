package rules

import (
	"fmt"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var memory = []*Rule{
	rule("5.a_alloc", "memory has the size that was asked for, zeros, and addresses of multiples of 64").
		OK("both", func(t *T) {
			for _, f := range []string{"SysAllocMem", "SysAllocCachedMem"} {
				for _, n := range []int{1, 16, 4097, 1 << 20} {
					m := &hbdnn.SysMem{Phys: 1, Virt: 1, Size: 1}
					t.OK(f, m, n)
					t.Check(m.Virt%64 == 0 && m.Virt != 0 && m.Phys != 0 && int(m.Size) == n, "%+v for %d", *m, n)
					for i, b := range hbdnn.Of[byte](m, n) {
						if b != 0 {
							t.Failf("byte %d is %d", i, b)
						}
					}
					t.OK("SysFreeMem", m)
				}
			}
		}).
		No("size_0", func(t *T) {
			t.Is(hbdnn.SysInvalidArgument, "SysAllocMem", &hbdnn.SysMem{}, 0)
			t.Is(hbdnn.SysInvalidArgument, "SysAllocCachedMem", &hbdnn.SysMem{}, 0)
		}).
		No("null", func(t *T) {
			t.Is(hbdnn.SysInvalidArgument, "SysAllocMem", nil, 8)
			t.Is(hbdnn.SysInvalidArgument, "SysAllocCachedMem", nil, 8)
		}),
	rule("5.b_free", "memory is freed once, by its start").
		OK("copy", func(t *T) {
			m := &hbdnn.SysMem{}
			t.OK("SysAllocMem", m, 100)
			other := *m
			t.OK("SysFreeMem", &other)
			t.Check(other == hbdnn.SysMem{}, "%+v, want zeros", other)
		}).
		No("twice", func(t *T) {
			m := &hbdnn.SysMem{}
			t.OK("SysAllocMem", m, 100)
			other := *m
			t.OK("SysFreeMem", m)
			t.Is(hbdnn.SysInvalidArgument, "SysFreeMem", &other)
			t.Is(hbdnn.SysInvalidArgument, "SysFreeMem", m)
		}).
		No("inside", func(t *T) {
			m := t.Mem(100)
			clear(hbdnn.Of[byte](&m, 100))
			m.Virt += 64
			t.Is(hbdnn.SysInvalidArgument, "SysFreeMem", &m)
			t.Says("64 bytes behind")
		}).
		No("foreign", func(t *T) {
			t.Is(hbdnn.SysInvalidArgument, "SysFreeMem", &hbdnn.SysMem{Virt: user(t), Size: 8})
			t.Is(hbdnn.SysInvalidArgument, "SysFreeMem", nil)
		}),
	rule("5.c_flush", "memory and parts of it are flushed before and after use").
		OK("parts", func(t *T) {
			m := t.Mem(100)
			for _, flag := range []int{1, 2} {
				t.OK("SysFlushMem", &m, flag)
				t.OK("SysFlushMem", &hbdnn.SysMem{Virt: m.Virt + 7, Size: 3}, flag)
				t.OK("SysFlushMem", &hbdnn.SysMem{Virt: user(t), Size: 8}, flag)
			}
		}).
		No("flags", func(t *T) {
			m := t.Mem(100)
			for _, flag := range []int32{0, 3, -1, 4} {
				t.Is(hbdnn.SysInvalidArgument, "SysFlushMem", &m, flag)
			}
			t.Says("flag is 4")
			t.Is(hbdnn.SysInvalidArgument, "SysFlushMem", nil, 1)
		}),
	rule("5.d_write", "hbSysWriteMem copies to the start of a memory").
		OK("bytes", func(t *T) {
			m := t.Mem(4)
			t.OK("SysWriteMem", &m, []byte{1, 2, 3, 4}, 4)
			t.OK("SysWriteMem", &m, []byte{9}, 1)
			got := fmt.Sprint(hbdnn.Of[byte](&m, 4))
			t.Check(got == "[9 2 3 4]", "got %s", got)
		}).
		No("beyond", func(t *T) {
			m := t.Mem(4)
			t.Is(hbdnn.SysInvalidArgument, "SysWriteMem", &m, []byte{1, 2, 3, 4, 5}, 5)
			t.Check(hbdnn.Of[byte](&m, 1)[0] == 0, "something was copied")
			m.Size = 100
			t.Is(hbdnn.SysInvalidArgument, "SysWriteMem", &m, make([]byte, 100), 100)
			buf := make([]byte, 8)
			t.Keep(buf)
			own := hbdnn.SysMem{Virt: cmem.First(buf), Size: 2} // the program's, of which nothing else is known
			t.Is(hbdnn.SysInvalidArgument, "SysWriteMem", &own, []byte{1, 2, 3}, 3)
			t.Check(hbdnn.Of[byte](&own, 1)[0] == 0, "something was copied")
		}).
		No("null", func(t *T) {
			m := t.Mem(4)
			t.Is(hbdnn.SysInvalidArgument, "SysWriteMem", nil, []byte{1}, 1)
			t.Is(hbdnn.SysInvalidArgument, "SysWriteMem", &m, nil, 1)
			t.Is(hbdnn.SysInvalidArgument, "SysWriteMem", &hbdnn.SysMem{Size: 4}, []byte{1}, 1)
		}),
	rule("5.e_read", "hbSysReadMem copies from the start of a memory").
		OK("bytes", func(t *T) {
			m, got := t.Mem(4), make([]byte, 4)
			copy(hbdnn.Of[byte](&m, 4), []byte{5, 6, 7, 8})
			t.OK("SysReadMem", got, &m, 3)
			t.Check(fmt.Sprint(got) == "[5 6 7 0]", "got %v", got)
		}).
		No("beyond", func(t *T) {
			m := t.Mem(4)
			t.Is(hbdnn.SysInvalidArgument, "SysReadMem", make([]byte, 8), &m, 5)
			t.Says("size is 5")
		}).
		No("null", func(t *T) {
			m := t.Mem(4)
			t.Is(hbdnn.SysInvalidArgument, "SysReadMem", nil, &m, 1)
			t.Is(hbdnn.SysInvalidArgument, "SysReadMem", make([]byte, 1), nil, 1)
		}),
	rule("5.f_register", "memory of the program's is registered by its address").
		OK("own", func(t *T) {
			m := &hbdnn.SysMem{Virt: user(t), Size: 8}
			t.OK("SysRegisterMem", m)
			t.OK("SysUnregisterMem", m)
		}).
		No("physical", func(t *T) {
			t.Is(hbdnn.SysRegisterFailed, "SysRegisterMem", &hbdnn.SysMem{Phys: 4096, Size: 8})
			t.Is(hbdnn.SysInvalidArgument, "SysRegisterMem", nil)
			t.Is(hbdnn.SysInvalidArgument, "SysUnregisterMem", nil)
		}),
	rule("5.g_own_memory", "tensors may lie in memory of the program's").
		OK("own", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2))
			in, out := []float32{-1, 8}, []float32{9, 9}
			t.Keep(in)
			t.Keep(out)
			r.In[0].Mem[0].Virt, r.Out[0].Mem[0].Virt = cmem.First(in), cmem.First(out)
			t.Compute(r)
			t.Check(out[0] == 0 && out[1] == 8, "got %v", out)
		}).
		No("null", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 2))
			r.Out[0].Mem[0].Virt = 0
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("5.h_in_place", "an output may lie in the memory of an input").
		OK("same", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			hbdnn.Fill[float32](r, -1, 2, -3, 4)
			r.Out[0].Mem = r.In[0].Mem
			t.Compute(r)
			hbdnn.Gives[float32](t.T, r, 0, 2, 0, 4)
		}).
		No("too_small", func(t *T) {
			r := t.Prepare(hbdnn.Relu(1, 4))
			hbdnn.Fill[float32](r, 1, 2, 3, 4)
			r.Out[0].Mem[0] = r.In[0].Mem[0]
			r.Out[0].Mem[0].Virt += 8
			t.Infer(hbdnn.InvalidArgument, address(), r)
		}),
	rule("11.t_freed_meanwhile", "memory that a task uses may be freed before the task is done").
		OK("open", func(t *T) {
			r, task, m := t.Prepare(hbdnn.Relu(1, 2)), address(), &hbdnn.SysMem{}
			t.OK("SysAllocMem", m, 8)
			r.In[0].Mem[0], r.Control.More = *m, 1
			hbdnn.Fill[float32](r, -1, 3)
			t.Infer(0, task, r)
			t.OK("SysFreeMem", m)
			other := t.Prepare(hbdnn.Relu(1, 2))
			t.Infer(0, task, other)
			t.OK("DNNWaitTaskDone", t.Task(*task), 0)
			hbdnn.Gives[float32](t.T, r, 0, 3)
		}).
		No("freed_again", func(t *T) {
			r, task, m := t.Prepare(hbdnn.Relu(1, 2)), address(), &hbdnn.SysMem{}
			t.OK("SysAllocMem", m, 8)
			r.In[0].Mem[0], r.Control.More = *m, 1
			t.Infer(0, task, r)
			again := *m
			t.OK("SysFreeMem", m)
			t.Is(hbdnn.SysInvalidArgument, "SysFreeMem", &again)
			t.OK("DNNReleaseTask", *task)
		}),
}
