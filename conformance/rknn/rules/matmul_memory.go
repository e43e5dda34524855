package rules

import (
	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var matmulMemory = onBoards(
	rule("m6.a_memory_of_any_context", "memory made with one product serves another, and ends with a third or none").
		OK("crosswise", func(t *T) {
			p, q := t.Create(small(2)), t.Create(small(2))
			m := t.Call("create_mem", p.Ctx, q.Attrs.A.Size)
			t.OK("matmul_set_io_mem", q.Ctx, m, &q.Attrs.A)
			t.OK("mem_sync", q.Ctx, m, 1)
			t.OK("destroy_mem", q.Ctx, m)
		}).
		OK("create_mem2", func(t *T) {
			o := t.Create(small(2))
			m := t.Call("create_mem2", o.Ctx, o.Attrs.A.Size, 0)
			t.OK("matmul_set_io_mem", o.Ctx, m, &o.Attrs.A)
			t.OK("destroy_mem", o.Ctx, m)
		}).
		No("of_none", func(t *T) {
			t.Null("create_mem", uintptr(0), 64)
			t.Null("create_mem", t.gone(), 64)
		}),
	rule("m6.b_from_fd", "a part of memory begins at virt_addr + offset").
		OK("offset", func(t *T) {
			o := t.Create(small(2))
			base := t.Memory(o.Ctx, 8192)
			s := *cmem.At[tensorMem](base)
			part := t.Call("create_mem_from_fd", o.Ctx, s.FD, s.Virt, o.Attrs.B.Size, 4096)
			t.Check(part != 0, "NULL")
			t.Later(func() { t.Call("destroy_mem", o.Ctx, part) })
			a, _, c := t.BindAll(o)
			t.OK("matmul_set_io_mem", o.Ctx, part, &o.Attrs.B)
			setAll(a, int8(1))
			rknn.Data[int8](base)[4096] = 3
			t.OK("matmul_run", o.Ctx)
			t.Check(rknn.Data[int32](c)[0] == 3, "C is %d", rknn.Data[int32](c)[0])
		}).
		No("too_small_from_the_offset_on", func(t *T) {
			o := t.Create(small(2))
			s := *cmem.At[tensorMem](t.Memory(o.Ctx, 4096))
			part := t.Call("create_mem_from_fd", o.Ctx, s.FD, s.Virt, o.Attrs.B.Size-1, 0)
			t.Later(func() { t.Call("destroy_mem", o.Ctx, part) })
			t.Bad("matmul_set_io_mem", o.Ctx, part, &o.Attrs.B)
		}),
	rule("m6.c_when_data_are_read", "a run reads A and B as they are; memory that ended makes it fail").
		OK("new_contents", func(t *T) {
			o := t.Create(small(2))
			a, b, c := t.BindAll(o)
			for v := int8(1); v < 4; v++ {
				setAll(a, v)
				setAll(b, v)
				t.OK("matmul_run", o.Ctx)
				t.Check(rknn.Data[int32](c)[0] == 32*int32(v)*int32(v), "C is %d", rknn.Data[int32](c)[0])
			}
		}).
		No("memory_that_ended", func(t *T) {
			o := t.Create(small(2))
			t.BindAll(o)
			m := t.Call("create_mem", o.Ctx, o.Attrs.B.Size)
			t.OK("matmul_set_io_mem", o.Ctx, m, &o.Attrs.B)
			t.OK("matmul_run", o.Ctx)
			t.OK("destroy_mem", o.Ctx, m)
			t.Is(failed, "matmul_run", o.Ctx)
			t.Bad("matmul_set_io_mem", o.Ctx, m, &o.Attrs.B)
		}).
		No("memory_of_the_program", func(t *T) {
			o := t.Create(small(2))
			t.Bad("matmul_set_io_mem", o.Ctx, make([]byte, 40), &o.Attrs.B)
		}),
	rule("m6.d_iommu_domain_id", "any domain is taken, other fields are judged all the same").
		OK("any", func(t *T) {
			for _, d := range []int32{0, 1, 15, -1} {
				i := small(2)
				i.Domain = d
				t.Create(i)
			}
		}).
		No("with_a_wrong_size", func(t *T) {
			i := small(2)
			i.Domain, i.K = 1, 1
			t.refuse(i)
		}),
	rule("m6.e_dynamic_shapes", "B stays bound over sizes; memory that is too small for the size in use makes the run "+
		"fail").
		OK("A_and_C_bound_anew", func(t *T) {
			i, attrs, ctx := small(2), make([]ioAttr, 2), new(uintptr)
			shapes := []shape{{M: 1, K: 32, N: 64}, {M: 3, K: 32, N: 64}}
			t.OK("matmul_create_dynamic_shape", ctx, &i, 2, shapes, attrs)
			t.Later(func() { t.Call("matmul_destroy", *ctx) })
			b := t.Memory(*ctx, attrs[0].B.Size)
			setAll(b, int8(2))
			t.OK("matmul_set_io_mem", *ctx, b, &attrs[0].B)
			for s := range shapes {
				t.OK("matmul_set_dynamic_shape", *ctx, &shapes[s])
				a, c := t.Memory(*ctx, attrs[s].A.Size), t.Memory(*ctx, attrs[s].C.Size)
				setAll(a, int8(1))
				t.OK("matmul_set_io_mem", *ctx, a, &attrs[s].A)
				t.OK("matmul_set_io_mem", *ctx, c, &attrs[s].C)
				t.OK("matmul_run", *ctx)
				got := rknn.Data[int32](c)
				t.Check(got[len(got)-1] == 64, "C ends with %d", got[len(got)-1])
			}
		}).
		No("memory_of_a_smaller_size", func(t *T) {
			i, attrs, ctx := small(2), make([]ioAttr, 2), new(uintptr)
			shapes := []shape{{M: 1, K: 32, N: 64}, {M: 3, K: 32, N: 64}}
			t.OK("matmul_create_dynamic_shape", ctx, &i, 2, shapes, attrs)
			t.Later(func() { t.Call("matmul_destroy", *ctx) })
			t.BindAll(object{Ctx: *ctx, Attrs: &attrs[0]})
			t.OK("matmul_run", *ctx)
			t.OK("matmul_set_dynamic_shape", *ctx, &shapes[1])
			t.Is(failed, "matmul_run", *ctx)
			t.OK("matmul_set_dynamic_shape", *ctx, &shapes[0])
			t.OK("matmul_run", *ctx)
		}),
)
