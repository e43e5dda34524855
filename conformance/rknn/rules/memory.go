package rules

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var boundMemory = []*Rule{
	rule("5.a_create_mem", "gives zeroed memory on a page boundary with a descriptor; size 0 is NULL").
		OK("fields", func(t *T) {
			m := t.Mem(t.Open(relu(1, 4), 0), 5000)
			t.Check(m.Virt != 0 && m.Virt%4096 == 0 && m.Phys == 0 && m.FD >= 0 && m.Offset == 0 && m.Size == 5000 &&
				m.Flags == 1, "%+v", *m)
			t.Check(!slices.ContainsFunc(m.Bytes(), func(b byte) bool { return b != 0 }), "it is not zeroed")
			rknn.Fill[byte](m, 1, 2, 3)
		}).
		OK("descriptor_is_the_memory", func(t *T) {
			m := t.Mem(t.Open(relu(1, 4), 0), 4096)
			rknn.Fill[byte](m, 1, 2, 3)
			b, err := unix.Mmap(int(m.FD), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
			t.Check(err == nil && b[2] == 3, "mmap of fd %d: %v", m.FD, err)
			unix.Munmap(b)
		}).
		No("size_0", func(t *T) {
			t.Null("create_mem", t.Open(relu(1, 4), 0), 0)
			t.Says("size is 0")
		}).
		No("no_context", func(t *T) { t.Null("create_mem", 0, 64) }),
	rule("5.b_create_mem2", "takes flags for caches and SRAM; without a context only with ALLOC_NO_CONTEXT; size 0 and "+
		"more than 32 bits are NULL").
		OK("flags", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			for _, flags := range []uint64{0, 1, 2, 4, 3} {
				t.OwnedMem(t.Ptr("create_mem2", ctx, uint64(64), flags))
			}
			m := t.OwnedMem(t.Ptr("create_mem2", 0, uint64(64), uint64(memFlagNoContext)))
			t.Check(m.Size == 64 && m.FD >= 0, "%+v", *m)
		}).
		OK("largest", func(t *T) {
			t.OwnedMem(t.Ptr("create_mem2", t.Open(relu(1, 4), 0), uint64(64), uint64(0)))
			const most = uint64(1<<32 - 1) // what the struct has room for
			for _, size := range []uint64{most - 1, most} {
				ctx := t.Open(relu(1, 4), 0)
				m := t.Call("create_mem2", ctx, size, uint64(0))
				if m == 0 && size < most {
					return // the machine has less memory
				}
				t.Check(m != 0, "%d bytes are refused, one less is not", size)
				got := cmem.At[tensorMem](m).Size
				t.OK("destroy_mem", ctx, m)
				t.Check(uint64(got) == size, "the struct has size %d, want %d", got, size)
			}
		}).
		No("no_context", func(t *T) { t.Null("create_mem2", 0, uint64(64), uint64(1)) }).
		No("sizes", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			for _, size := range []uint64{0, 1 << 32, 1<<64 - 1} {
				t.Null("create_mem2", ctx, size, uint64(0))
			}
		}),
	rule("5.c_create_mem_from_fd", "describes memory that stays the program's: virt_addr is the base, the bytes begin "+
		"at virt_addr + offset").
		OK("part", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			base := t.Mem(ctx, 8192)
			m := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, base.FD, base.Virt, 16, 4096))
			t.Check(m.Virt == base.Virt && m.Offset == 4096 && m.Size == 16 && m.FD == base.FD && m.Flags == 2, "%+v", *m)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			copy(base.Bytes()[4096:], cmem.Bytes([]float32{-1, 2, -3, 4}))
			t.Computes(ctx, 0, 2, 0, 4)
		}).
		OK("any_memory", func(t *T) {
			ctx, b := t.Open(relu(1, 4), 0), make([]float32, 4)
			m := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, -1, cmem.First(b), 16, 0))
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			copy(b, []float32{5, -6, 7, -8})
			t.Computes(ctx, 5, 0, 7, 0)
			t.Keep(b)
		}).
		OK("mapped", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			base := t.Mem(ctx, 8192)
			m := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, base.FD, nil, 16, 4096))
			copy(base.Bytes()[4096:], cmem.Bytes([]float32{1, 2, 3, 4}))
			t.Check(slices.Equal(cmem.As[float32](m.Bytes()), []float32{1, 2, 3, 4}), "another memory")
		}).
		No("arguments", func(t *T) {
			ctx, b := t.Open(relu(1, 4), 0), make([]byte, 64)
			t.Null("create_mem_from_fd", ctx, -1, cmem.First(b), 0, 0)
			t.Null("create_mem_from_fd", ctx, -1, cmem.First(b), 16, int32(-1))
			t.Null("create_mem_from_fd", ctx, -1, nil, 16, 0)
			t.Says("fd is -1")
		}).
		No("descriptor_is_too_short", func(t *T) {
			f, err := os.Open(t.file("short", make([]byte, 100)))
			t.Check(err == nil, "%v", err)
			defer f.Close()
			t.Null("create_mem_from_fd", t.Open(relu(1, 4), 0), int(f.Fd()), nil, 8192, 0)
		}),
	rule("5.d_ownership", "rknn_destroy_mem frees the struct, and the bytes only of rknn_create_mem; bytes that others "+
		"describe stay").
		OK("base_first", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			base := t.Mem(ctx, 8192)
			m := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, base.FD, base.Virt, 16, 64))
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			copy(m.Bytes(), cmem.Bytes([]float32{-1, 2, -3, 4}))
			t.OK("destroy_mem", ctx, cmem.Address(base))
			t.Computes(ctx, 0, 2, 0, 4)
		}).
		No("twice", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Ptr("create_mem", ctx, 64)
			t.OK("destroy_mem", ctx, m)
			t.Bad("destroy_mem", ctx, m)
		}),
	rule("5.e_destroy_mem_context", "any context of the process serves, ended ones and 0 too; foreign structs and NULL "+
		"are PARAM_INVALID").
		OK("any", func(t *T) {
			a, b := t.Open(relu(1, 4), 0), t.Open(relu(1, 4), 0)
			t.OK("destroy_mem", b, t.Ptr("create_mem", a, 64))
			t.OK("destroy_mem", 0, t.Ptr("create_mem", a, 64))
			m := t.Ptr("create_mem", a, 64)
			t.OK("destroy", a)
			t.OK("destroy_mem", a, m)
		}).
		No("foreign", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Bad("destroy_mem", ctx, nil)
			t.Bad("destroy_mem", ctx, new(tensorMem))
			other := *t.Mem(ctx, 64)
			other.Virt += 4096
			t.Bad("destroy_mem", ctx, &other)
			t.Bad("set_io_mem", ctx, &other, t.Attr(ctx, queryInput, 0))
			t.Bad("destroy_mem", ctx, &tensorMem{Virt: 4096, Size: 64, Flags: 1, Priv: 1 << 40})
		}),
	rule("5.f_binding", "attributes of a query name the tensor; a binding lasts over runs until another replaces it").
		OK("replaced", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			a, b := t.Mem(ctx, 16), t.Mem(ctx, 16)
			rknn.Fill[float32](a, 1, 2, 3, 4)
			rknn.Fill[float32](b, 5, 6, 7, 8)
			in := t.Attr(ctx, queryInput, 0)
			t.Bind(ctx, a, in, float32T, -1)
			t.Computes(ctx, 1, 2, 3, 4)
			rknn.Fill[float32](a, -1)
			t.Computes(ctx, 0, 2, 3, 4)
			t.Bind(ctx, b, in, float32T, -1)
			t.Computes(ctx, 5, 6, 7, 8)
		}).
		No("NULL", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Bad("set_io_mem", ctx, nil, t.Attr(ctx, queryInput, 0))
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 64)), nil)
		}).
		No("foreign", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Bad("set_io_mem", ctx, &tensorMem{Virt: 4096, Size: 64, Flags: 1}, t.Attr(ctx, queryInput, 0))
			m := t.Mem(ctx, 64)
			t.OK("destroy_mem", ctx, cmem.Address(m))
			t.Bad("set_io_mem", ctx, cmem.Address(m), t.Attr(ctx, queryInput, 0))
		}),
	rule("5.g_refused_bindings_change_nothing", "a refused binding leaves the one before").
		OK("stays", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			a := t.Mem(ctx, 16)
			in := t.Attr(ctx, queryInput, 0)
			rknn.Fill[float32](a, 1, 2, 3, 4)
			t.Bind(ctx, a, in, float32T, -1)
			wrong := *in
			wrong.Kind = 99
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 16)), &wrong)
			t.Computes(ctx, 1, 2, 3, 4)
		}).
		No("first", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			wrong := *t.Attr(ctx, queryInput, 0)
			wrong.Kind = 99
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 16)), &wrong)
			t.Is(failed, "run", ctx, nil)
		}),
	rule("5.h_sizes", "memory must hold n_elems elements of the type asked for; PARAM_INVALID names both sizes").
		OK("exact", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Bind(ctx, t.Mem(ctx, 16), t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Bind(ctx, t.Mem(ctx, 8), t.Attr(ctx, queryInput, 0), float16T, -1)
			t.Bind(ctx, t.Mem(ctx, 4), t.Attr(ctx, queryInput, 0), uint8T, -1)
			t.Bind(ctx, t.Mem(ctx, 8), t.Attr(ctx, queryOutput, 0), -1, -1)
		}).
		No("input", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			a := *t.Attr(ctx, queryInput, 0)
			a.Kind = float32T
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 15)), &a)
			t.Says("mem->size is 15", "16 bytes")
		}).
		No("native_output", func(t *T) {
			ctx := t.Open(relu(1, 3, 4, 5), 0)
			a := t.Attr(ctx, queryNativeOutput, 0)
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, int(a.Size)-1)), a)
		}),
	rule("5.i_size_with_stride", "output memory smaller than size_with_stride is accepted with a warning").
		OK("warned", func(t *T) {
			ctx := t.Open(relu(1, 3, 4, 5), 0)
			a := t.Attr(ctx, queryOutput, 0)
			t.Check(a.SizeWithStride > a.Size, "nothing to warn of")
			t.Bind(ctx, t.Mem(ctx, int(a.Size)), a, -1, -1)
			t.Logs("size_with_stride")
		}).
		No("below_size", func(t *T) {
			ctx := t.Open(relu(1, 3, 4, 5), 0)
			a := t.Attr(ctx, queryOutput, 0)
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, int(a.Size)-1)), a)
		}),
	rule("5.p_mem_sync", "modes 1 to 3 do nothing and succeed, for any struct; another mode and NULL are PARAM_INVALID").
		OK("modes", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Mem(ctx, 64)
			for mode := 1; mode <= 3; mode++ {
				t.OK("mem_sync", ctx, cmem.Address(m), mode)
				t.OK("mem_sync", ctx, &tensorMem{}, mode)
			}
		}).
		No("others", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			for _, mode := range []uint32{0, 4, 1<<32 - 1} {
				t.Bad("mem_sync", ctx, cmem.Address(t.Mem(ctx, 64)), mode)
			}
			t.Bad("mem_sync", ctx, nil, 1)
		}),
	rule("5.q_internal_and_weight_mem", "memory of the sizes of MEM_SIZE, parts of one too, shared by contexts that run "+
		"in turn, its base destroyed before").
		OK("reused", func(t *T) {
			a, b := t.Open(relu(1, 4), flagInternal), t.Open(relu(1, 4), flagInternal)
			base := t.Mem(a, 1<<16)
			m := memSize{}
			t.OK("query", a, queryMemSize, &m, 64)
			for _, ctx := range []uintptr{a, b} {
				t.OK("set_internal_mem", ctx, cmem.Address(t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, base.FD, base.Virt,
					int(m.Internal), 0))))
				t.OK("set_weight_mem", ctx, cmem.Address(t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, base.FD, base.Virt,
					int(m.Weight),
					32768))))
			}
			t.OK("destroy_mem", a, cmem.Address(base))
			t.works(a)
			t.works(b)
			t.works(a)
		}).
		No("one_byte_less", func(t *T) {
			ctx, m := t.Open(relu(1, 4), flagOutside), memSize{}
			t.OK("query", ctx, queryMemSize, &m, 64)
			t.Bad("set_internal_mem", ctx, cmem.Address(t.Mem(ctx, int(m.Internal)-1)))
			t.Bad("set_weight_mem", ctx, cmem.Address(t.Mem(ctx, int(m.Weight)-1)))
		}).
		No("too_small", func(t *T) {
			ctx := t.Open(relu(1, 4), flagOutside)
			for _, f := range []string{"set_internal_mem", "set_weight_mem"} {
				t.Bad(f, ctx, cmem.Address(t.Mem(ctx, 1)))
				t.Bad(f, ctx, nil)
				t.Bad(f, ctx, new(tensorMem))
			}
		}),
	rule("5.r_order_of_reuse", "MEM_ALLOC_OUTSIDE in the order that programs use: sizes, memory, internal, weights, "+
		"inputs, outputs, run, memory ends, context ends").
		OK("order", func(t *T) {
			ctx, m := t.Open(relu(1, 4), flagOutside), memSize{}
			t.OK("query", ctx, queryMemSize, &m, 64)
			t.OK("set_internal_mem", ctx, cmem.Address(t.Mem(ctx, int(m.Internal))))
			t.OK("set_weight_mem", ctx, cmem.Address(t.Mem(ctx, int(m.Weight))))
			x, y := t.Mem(ctx, 16), t.Mem(ctx, 16)
			t.Bind(ctx, x, t.Attr(ctx, queryInput, 0), float32T, -1)
			t.Bind(ctx, y, t.Attr(ctx, queryOutput, 0), float32T, -1)
			rknn.Fill[float32](x, 1, -2, 3, -4)
			t.Run(ctx)
			t.Check(slices.Equal(cmem.As[float32](y.Bytes()), []float32{1, 0, 3, 0}), "%v", cmem.As[float32](y.Bytes()))
			t.OK("destroy_mem", ctx, cmem.Address(x))
			t.OK("destroy_mem", ctx, cmem.Address(y))
			t.OK("destroy", ctx)
		}).
		No("run_too_early", func(t *T) { t.Is(failed, "run", t.Open(relu(1, 4), flagOutside), nil) }),
}
