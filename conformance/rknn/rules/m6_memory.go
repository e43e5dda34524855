package rules

import "github.com/anynpu/anynpu/conformance/suite/cmem"

var matmulMemory = onBoards(
	rule("m6.a_memory_of_any_context", "memory made with one product serves another, and ends with a third or none").
		OK("crosswise", func(t *T) {
			p, q := t.create(small(2)), t.create(small(2))
			m := t.Call("create_mem", p.ctx, q.attrs.a.size)
			t.OK("matmul_set_io_mem", q.ctx, m, &q.attrs.a)
			t.OK("mem_sync", q.ctx, m, 1)
			t.OK("destroy_mem", q.ctx, m)
		}).
		OK("create_mem2", func(t *T) {
			o := t.create(small(2))
			m := t.Call("create_mem2", o.ctx, o.attrs.a.size, 0)
			t.OK("matmul_set_io_mem", o.ctx, m, &o.attrs.a)
			t.OK("destroy_mem", o.ctx, m)
		}).
		No("of_none", func(t *T) {
			t.Null("create_mem", uintptr(0), 64)
			t.Null("create_mem", t.gone(), 64)
		}),
	rule("m6.b_from_fd", "a part of memory begins at virt_addr + offset").
		OK("offset", func(t *T) {
			o := t.create(small(2))
			base := t.memory(o.ctx, 8192)
			s := *cmem.At[memoryInfo](base)
			part := t.Call("create_mem_from_fd", o.ctx, s.fd, s.virt, o.attrs.b.size, 4096)
			t.Check(part != 0, "NULL")
			t.Later(func() { t.Call("destroy_mem", o.ctx, part) })
			a, _, c := t.bindAll(o)
			t.OK("matmul_set_io_mem", o.ctx, part, &o.attrs.b)
			setAll(a, int8(1))
			data[int8](base)[4096] = 3
			t.OK("matmul_run", o.ctx)
			t.Check(data[int32](c)[0] == 3, "C is %d", data[int32](c)[0])
		}).
		No("too_small_from_the_offset_on", func(t *T) {
			o := t.create(small(2))
			s := *cmem.At[memoryInfo](t.memory(o.ctx, 4096))
			part := t.Call("create_mem_from_fd", o.ctx, s.fd, s.virt, o.attrs.b.size-1, 0)
			t.Later(func() { t.Call("destroy_mem", o.ctx, part) })
			t.Bad("matmul_set_io_mem", o.ctx, part, &o.attrs.b)
		}),
	rule("m6.c_when_data_are_read", "a run reads A and B as they are; memory that ended makes it fail").
		OK("new_contents", func(t *T) {
			o := t.create(small(2))
			a, b, c := t.bindAll(o)
			for v := int8(1); v < 4; v++ {
				setAll(a, v)
				setAll(b, v)
				t.OK("matmul_run", o.ctx)
				t.Check(data[int32](c)[0] == 32*int32(v)*int32(v), "C is %d", data[int32](c)[0])
			}
		}).
		No("memory_that_ended", func(t *T) {
			o := t.create(small(2))
			t.bindAll(o)
			m := t.Call("create_mem", o.ctx, o.attrs.b.size)
			t.OK("matmul_set_io_mem", o.ctx, m, &o.attrs.b)
			t.OK("matmul_run", o.ctx)
			t.OK("destroy_mem", o.ctx, m)
			t.Is(failed, "matmul_run", o.ctx)
			t.Bad("matmul_set_io_mem", o.ctx, m, &o.attrs.b)
		}).
		No("memory_of_the_program", func(t *T) {
			o := t.create(small(2))
			t.Bad("matmul_set_io_mem", o.ctx, make([]byte, 40), &o.attrs.b)
		}),
	rule("m6.d_iommu_domain_id", "any domain is taken, other fields are judged all the same").
		OK("any", func(t *T) {
			for _, d := range []int32{0, 1, 15, -1} {
				i := small(2)
				i.domain = d
				t.create(i)
			}
		}).
		No("with_a_wrong_size", func(t *T) {
			i := small(2)
			i.domain, i.k = 1, 1
			t.refuse(i)
		}),
	rule("m6.e_dynamic_shapes", "B stays bound over sizes; memory that is too small for the size in use makes the run "+
		"fail").
		OK("A_and_C_bound_anew", func(t *T) {
			i, attrs, ctx := small(2), make([]ioAttr, 2), new(uintptr)
			shapes := []shape{{1, 32, 64}, {3, 32, 64}}
			t.OK("matmul_create_dynamic_shape", ctx, &i, 2, shapes, attrs)
			t.Later(func() { t.Call("matmul_destroy", *ctx) })
			b := t.memory(*ctx, attrs[0].b.size)
			setAll(b, int8(2))
			t.OK("matmul_set_io_mem", *ctx, b, &attrs[0].b)
			for s := range shapes {
				t.OK("matmul_set_dynamic_shape", *ctx, &shapes[s])
				a, c := t.memory(*ctx, attrs[s].a.size), t.memory(*ctx, attrs[s].c.size)
				setAll(a, int8(1))
				t.OK("matmul_set_io_mem", *ctx, a, &attrs[s].a)
				t.OK("matmul_set_io_mem", *ctx, c, &attrs[s].c)
				t.OK("matmul_run", *ctx)
				got := data[int32](c)
				t.Check(got[len(got)-1] == 64, "C ends with %d", got[len(got)-1])
			}
		}).
		No("memory_of_a_smaller_size", func(t *T) {
			i, attrs, ctx := small(2), make([]ioAttr, 2), new(uintptr)
			shapes := []shape{{1, 32, 64}, {3, 32, 64}}
			t.OK("matmul_create_dynamic_shape", ctx, &i, 2, shapes, attrs)
			t.Later(func() { t.Call("matmul_destroy", *ctx) })
			t.bindAll(object{*ctx, &attrs[0]})
			t.OK("matmul_run", *ctx)
			t.OK("matmul_set_dynamic_shape", *ctx, &shapes[1])
			t.Is(failed, "matmul_run", *ctx)
			t.OK("matmul_set_dynamic_shape", *ctx, &shapes[0])
			t.OK("matmul_run", *ctx)
		}),
)
