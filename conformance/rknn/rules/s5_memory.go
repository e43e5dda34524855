package rules

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var boundMemory = []*Rule{
	rule("5.a_create_mem", "gives zeroed memory on a page boundary with a descriptor; size 0 is NULL").
		OK("fields", func(t *T) {
			m := t.mem(t.open(relu(1, 4), 0), 5000)
			t.Check(m.virt != 0 && m.virt%4096 == 0 && m.phys == 0 && m.fd >= 0 && m.offset == 0 && m.size == 5000 &&
				m.flags == 1, "%+v", *m)
			t.Check(!slices.ContainsFunc(m.bytes(), func(b byte) bool { return b != 0 }), "it is not zeroed")
			fill[byte](m, 1, 2, 3)
		}).
		OK("descriptor_is_the_memory", func(t *T) {
			m := t.mem(t.open(relu(1, 4), 0), 4096)
			fill[byte](m, 1, 2, 3)
			b, err := unix.Mmap(int(m.fd), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
			t.Check(err == nil && b[2] == 3, "mmap of fd %d: %v", m.fd, err)
			unix.Munmap(b)
		}).
		No("size_0", func(t *T) {
			t.Null("create_mem", t.open(relu(1, 4), 0), 0)
			t.Says("size is 0")
		}).
		No("no_context", func(t *T) { t.Null("create_mem", 0, 64) }),
	rule("5.b_create_mem2", "takes flags for caches and SRAM; without a context only with ALLOC_NO_CONTEXT; size 0 and "+
		"more than 32 bits are NULL").
		OK("flags", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			for _, flags := range []uint64{0, 1, 2, 4, 3} {
				t.ownedMem(t.Ptr("create_mem2", ctx, uint64(64), flags))
			}
			m := t.ownedMem(t.Ptr("create_mem2", 0, uint64(64), uint64(memFlagNoContext)))
			t.Check(m.size == 64 && m.fd >= 0, "%+v", *m)
		}).
		No("no_context", func(t *T) { t.Null("create_mem2", 0, uint64(64), uint64(1)) }).
		No("sizes", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			for _, size := range []uint64{0, 1 << 32, 1<<64 - 1} {
				t.Null("create_mem2", ctx, size, uint64(0))
			}
		}),
	rule("5.c_create_mem_from_fd", "describes memory that stays the program's: virt_addr is the base, the bytes begin "+
		"at virt_addr + offset").
		OK("part", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			base := t.mem(ctx, 8192)
			m := t.ownedMem(t.Ptr("create_mem_from_fd", ctx, base.fd, base.virt, 16, 4096))
			t.Check(m.virt == base.virt && m.offset == 4096 && m.size == 16 && m.fd == base.fd && m.flags == 2, "%+v", *m)
			t.bind(ctx, m, t.attr(ctx, queryInput, 0), float32T, -1)
			copy(base.bytes()[4096:], cmem.Bytes([]float32{-1, 2, -3, 4}))
			t.computes(ctx, 0, 2, 0, 4)
		}).
		OK("any_memory", func(t *T) {
			ctx, b := t.open(relu(1, 4), 0), make([]float32, 4)
			m := t.ownedMem(t.Ptr("create_mem_from_fd", ctx, -1, cmem.Address(&b[0]), 16, 0))
			t.bind(ctx, m, t.attr(ctx, queryInput, 0), float32T, -1)
			copy(b, []float32{5, -6, 7, -8})
			t.computes(ctx, 5, 0, 7, 0)
			t.Keep(b)
		}).
		OK("mapped", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			base := t.mem(ctx, 8192)
			m := t.ownedMem(t.Ptr("create_mem_from_fd", ctx, base.fd, nil, 16, 4096))
			copy(base.bytes()[4096:], cmem.Bytes([]float32{1, 2, 3, 4}))
			t.Check(slices.Equal(cmem.As[float32](m.bytes()), []float32{1, 2, 3, 4}), "another memory")
		}).
		No("arguments", func(t *T) {
			ctx, b := t.open(relu(1, 4), 0), make([]byte, 64)
			t.Null("create_mem_from_fd", ctx, -1, cmem.Address(&b[0]), 0, 0)
			t.Null("create_mem_from_fd", ctx, -1, cmem.Address(&b[0]), 16, int32(-1))
			t.Null("create_mem_from_fd", ctx, -1, nil, 16, 0)
			t.Says("fd is -1")
		}).
		No("descriptor_is_too_short", func(t *T) {
			f, err := os.Open(t.file("short", make([]byte, 100)))
			t.Check(err == nil, "%v", err)
			defer f.Close()
			t.Null("create_mem_from_fd", t.open(relu(1, 4), 0), int(f.Fd()), nil, 8192, 0)
		}),
	rule("5.d_ownership", "rknn_destroy_mem frees the struct, and the bytes only of rknn_create_mem; bytes that others "+
		"describe stay").
		OK("base_first", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			base := t.mem(ctx, 8192)
			m := t.ownedMem(t.Ptr("create_mem_from_fd", ctx, base.fd, base.virt, 16, 64))
			t.bind(ctx, m, t.attr(ctx, queryInput, 0), float32T, -1)
			copy(m.bytes(), cmem.Bytes([]float32{-1, 2, -3, 4}))
			t.OK("destroy_mem", ctx, cmem.Address(base))
			t.computes(ctx, 0, 2, 0, 4)
		}).
		No("twice", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			m := t.Ptr("create_mem", ctx, 64)
			t.OK("destroy_mem", ctx, m)
			t.Bad("destroy_mem", ctx, m)
		}),
	rule("5.e_destroy_mem_context", "any context of the process serves, ended ones and 0 too; foreign structs and NULL "+
		"are PARAM_INVALID").
		OK("any", func(t *T) {
			a, b := t.open(relu(1, 4), 0), t.open(relu(1, 4), 0)
			t.OK("destroy_mem", b, t.Ptr("create_mem", a, 64))
			t.OK("destroy_mem", 0, t.Ptr("create_mem", a, 64))
			m := t.Ptr("create_mem", a, 64)
			t.OK("destroy", a)
			t.OK("destroy_mem", a, m)
		}).
		No("foreign", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.Bad("destroy_mem", ctx, nil)
			t.Bad("destroy_mem", ctx, new(tensorMem))
			other := *t.mem(ctx, 64)
			other.virt += 4096
			t.Bad("destroy_mem", ctx, &other)
			t.Bad("set_io_mem", ctx, &other, t.attr(ctx, queryInput, 0))
			t.Bad("destroy_mem", ctx, &tensorMem{virt: 4096, size: 64, flags: 1, priv: 1 << 40})
		}),
	rule("5.f_binding", "attributes of a query name the tensor; a binding lasts over runs until another replaces it").
		OK("replaced", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			a, b := t.mem(ctx, 16), t.mem(ctx, 16)
			fill[float32](a, 1, 2, 3, 4)
			fill[float32](b, 5, 6, 7, 8)
			in := t.attr(ctx, queryInput, 0)
			t.bind(ctx, a, in, float32T, -1)
			t.computes(ctx, 1, 2, 3, 4)
			fill[float32](a, -1)
			t.computes(ctx, 0, 2, 3, 4)
			t.bind(ctx, b, in, float32T, -1)
			t.computes(ctx, 5, 6, 7, 8)
		}).
		No("NULL", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.Bad("set_io_mem", ctx, nil, t.attr(ctx, queryInput, 0))
			t.Bad("set_io_mem", ctx, cmem.Address(t.mem(ctx, 64)), nil)
		}).
		No("foreign", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.Bad("set_io_mem", ctx, &tensorMem{virt: 4096, size: 64, flags: 1}, t.attr(ctx, queryInput, 0))
			m := t.mem(ctx, 64)
			t.OK("destroy_mem", ctx, cmem.Address(m))
			t.Bad("set_io_mem", ctx, cmem.Address(m), t.attr(ctx, queryInput, 0))
		}),
	rule("5.g_refused_bindings_change_nothing", "a refused binding leaves the one before").
		OK("stays", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			a := t.mem(ctx, 16)
			in := t.attr(ctx, queryInput, 0)
			fill[float32](a, 1, 2, 3, 4)
			t.bind(ctx, a, in, float32T, -1)
			wrong := *in
			wrong.kind = 99
			t.Bad("set_io_mem", ctx, cmem.Address(t.mem(ctx, 16)), &wrong)
			t.computes(ctx, 1, 2, 3, 4)
		}).
		No("first", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			wrong := *t.attr(ctx, queryInput, 0)
			wrong.kind = 99
			t.Bad("set_io_mem", ctx, cmem.Address(t.mem(ctx, 16)), &wrong)
			t.Is(failed, "run", ctx, nil)
		}),
	rule("5.h_sizes", "memory must hold n_elems elements of the type asked for; PARAM_INVALID names both sizes").
		OK("exact", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.bind(ctx, t.mem(ctx, 16), t.attr(ctx, queryInput, 0), float32T, -1)
			t.bind(ctx, t.mem(ctx, 8), t.attr(ctx, queryInput, 0), float16T, -1)
			t.bind(ctx, t.mem(ctx, 4), t.attr(ctx, queryInput, 0), uint8T, -1)
			t.bind(ctx, t.mem(ctx, 8), t.attr(ctx, queryOutput, 0), -1, -1)
		}).
		No("input", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			a := *t.attr(ctx, queryInput, 0)
			a.kind = float32T
			t.Bad("set_io_mem", ctx, cmem.Address(t.mem(ctx, 15)), &a)
			t.Says("mem->size is 15", "16 bytes")
		}).
		No("native_output", func(t *T) {
			ctx := t.open(relu(1, 3, 4, 5), 0)
			a := t.attr(ctx, queryNativeOutput, 0)
			t.Bad("set_io_mem", ctx, cmem.Address(t.mem(ctx, int(a.size)-1)), a)
		}),
	rule("5.i_size_with_stride", "output memory smaller than size_with_stride is accepted with a warning").
		OK("warned", func(t *T) {
			ctx := t.open(relu(1, 3, 4, 5), 0)
			a := t.attr(ctx, queryOutput, 0)
			t.Check(a.sizeWithStride > a.size, "nothing to warn of")
			t.bind(ctx, t.mem(ctx, int(a.size)), a, -1, -1)
			t.Logs("size_with_stride")
		}).
		No("below_size", func(t *T) {
			ctx := t.open(relu(1, 3, 4, 5), 0)
			a := t.attr(ctx, queryOutput, 0)
			t.Bad("set_io_mem", ctx, cmem.Address(t.mem(ctx, int(a.size)-1)), a)
		}),
	rule("5.p_mem_sync", "modes 1 to 3 do nothing and succeed, for any struct; another mode and NULL are PARAM_INVALID").
		OK("modes", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			m := t.mem(ctx, 64)
			for mode := 1; mode <= 3; mode++ {
				t.OK("mem_sync", ctx, cmem.Address(m), mode)
				t.OK("mem_sync", ctx, &tensorMem{}, mode)
			}
		}).
		No("others", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			for _, mode := range []uint32{0, 4, 1<<32 - 1} {
				t.Bad("mem_sync", ctx, cmem.Address(t.mem(ctx, 64)), mode)
			}
			t.Bad("mem_sync", ctx, nil, 1)
		}),
	rule("5.q_internal_and_weight_mem", "memory of the sizes of MEM_SIZE, parts of one too, shared by contexts that run "+
		"in turn, its base destroyed before").
		OK("reused", func(t *T) {
			a, b := t.open(relu(1, 4), flagInternal), t.open(relu(1, 4), flagInternal)
			base := t.mem(a, 1<<16)
			m := memSize{}
			t.OK("query", a, queryMemSize, &m, 64)
			for _, ctx := range []uintptr{a, b} {
				t.OK("set_internal_mem", ctx, cmem.Address(t.ownedMem(t.Ptr("create_mem_from_fd", ctx, base.fd, base.virt,
					int(m.internal), 0))))
				t.OK("set_weight_mem", ctx, cmem.Address(t.ownedMem(t.Ptr("create_mem_from_fd", ctx, base.fd, base.virt,
					int(m.weight),
					32768))))
			}
			t.OK("destroy_mem", a, cmem.Address(base))
			t.works(a)
			t.works(b)
			t.works(a)
		}).
		No("one_byte_less", func(t *T) {
			ctx, m := t.open(relu(1, 4), flagOutside), memSize{}
			t.OK("query", ctx, queryMemSize, &m, 64)
			t.Bad("set_internal_mem", ctx, cmem.Address(t.mem(ctx, int(m.internal)-1)))
			t.Bad("set_weight_mem", ctx, cmem.Address(t.mem(ctx, int(m.weight)-1)))
		}).
		No("too_small", func(t *T) {
			ctx := t.open(relu(1, 4), flagOutside)
			for _, f := range []string{"set_internal_mem", "set_weight_mem"} {
				t.Bad(f, ctx, cmem.Address(t.mem(ctx, 1)))
				t.Bad(f, ctx, nil)
				t.Bad(f, ctx, new(tensorMem))
			}
		}),
	rule("5.r_order_of_reuse", "MEM_ALLOC_OUTSIDE in the order that programs use: sizes, memory, internal, weights, "+
		"inputs, outputs, run, memory ends, context ends").
		OK("order", func(t *T) {
			ctx, m := t.open(relu(1, 4), flagOutside), memSize{}
			t.OK("query", ctx, queryMemSize, &m, 64)
			t.OK("set_internal_mem", ctx, cmem.Address(t.mem(ctx, int(m.internal))))
			t.OK("set_weight_mem", ctx, cmem.Address(t.mem(ctx, int(m.weight))))
			x, y := t.mem(ctx, 16), t.mem(ctx, 16)
			t.bind(ctx, x, t.attr(ctx, queryInput, 0), float32T, -1)
			t.bind(ctx, y, t.attr(ctx, queryOutput, 0), float32T, -1)
			fill[float32](x, 1, -2, 3, -4)
			t.run(ctx)
			t.Check(slices.Equal(cmem.As[float32](y.bytes()), []float32{1, 0, 3, 0}), "%v", cmem.As[float32](y.bytes()))
			t.OK("destroy_mem", ctx, cmem.Address(x))
			t.OK("destroy_mem", ctx, cmem.Address(y))
			t.OK("destroy", ctx)
		}).
		No("run_too_early", func(t *T) { t.Is(failed, "run", t.open(relu(1, 4), flagOutside), nil) }),
}
