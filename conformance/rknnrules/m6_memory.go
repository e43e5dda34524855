package rknnrules

var _ = section(onBoards(
	rule("m6.a_memory_of_any_context", "memory made with one product serves another, and ends with a third or none").
		ok("crosswise", func(t *T) {
			p, q := t.create(small(2)), t.create(small(2))
			m := t.call("create_mem", p.ctx, q.attrs.a.size)
			t.ok("matmul_set_io_mem", q.ctx, m, &q.attrs.a)
			t.ok("mem_sync", q.ctx, m, 1)
			t.ok("destroy_mem", q.ctx, m)
		}).
		ok("create_mem2", func(t *T) {
			o := t.create(small(2))
			m := t.call("create_mem2", o.ctx, o.attrs.a.size, 0)
			t.ok("matmul_set_io_mem", o.ctx, m, &o.attrs.a)
			t.ok("destroy_mem", o.ctx, m)
		}).
		no("of_none", func(t *T) {
			t.null("create_mem", uintptr(0), 64)
			t.null("create_mem", t.gone(), 64)
		}),
	rule("m6.b_from_fd", "a part of memory begins at virt_addr + offset").
		ok("offset", func(t *T) {
			o := t.create(small(2))
			base := t.memory(o.ctx, 8192)
			s := *at[memoryInfo](base)
			part := t.call("create_mem_from_fd", o.ctx, s.fd, s.virt, o.attrs.b.size, 4096)
			t.check(part != 0, "NULL")
			t.later(func() { t.call("destroy_mem", o.ctx, part) })
			a, _, c := t.bindAll(o)
			t.ok("matmul_set_io_mem", o.ctx, part, &o.attrs.b)
			setAll(a, int8(1))
			data[int8](base)[4096] = 3
			t.ok("matmul_run", o.ctx)
			t.check(data[int32](c)[0] == 3, "C is %d", data[int32](c)[0])
		}).
		no("too_small_from_the_offset_on", func(t *T) {
			o := t.create(small(2))
			s := *at[memoryInfo](t.memory(o.ctx, 4096))
			part := t.call("create_mem_from_fd", o.ctx, s.fd, s.virt, o.attrs.b.size-1, 0)
			t.later(func() { t.call("destroy_mem", o.ctx, part) })
			t.bad("matmul_set_io_mem", o.ctx, part, &o.attrs.b)
		}),
	rule("m6.c_when_data_are_read", "a run reads A and B as they are; memory that ended makes it fail").
		ok("new_contents", func(t *T) {
			o := t.create(small(2))
			a, b, c := t.bindAll(o)
			for v := int8(1); v < 4; v++ {
				setAll(a, v)
				setAll(b, v)
				t.ok("matmul_run", o.ctx)
				t.check(data[int32](c)[0] == 32*int32(v)*int32(v), "C is %d", data[int32](c)[0])
			}
		}).
		no("memory_that_ended", func(t *T) {
			o := t.create(small(2))
			t.bindAll(o)
			m := t.call("create_mem", o.ctx, o.attrs.b.size)
			t.ok("matmul_set_io_mem", o.ctx, m, &o.attrs.b)
			t.ok("matmul_run", o.ctx)
			t.ok("destroy_mem", o.ctx, m)
			t.is(failed, "matmul_run", o.ctx)
			t.bad("matmul_set_io_mem", o.ctx, m, &o.attrs.b)
		}).
		no("memory_of_the_program", func(t *T) {
			o := t.create(small(2))
			t.bad("matmul_set_io_mem", o.ctx, make([]byte, 40), &o.attrs.b)
		}),
	rule("m6.d_iommu_domain_id", "any domain is taken, other fields are judged all the same").
		ok("any", func(t *T) {
			for _, d := range []int32{0, 1, 15, -1} {
				i := small(2)
				i.domain = d
				t.create(i)
			}
		}).
		no("with_a_wrong_size", func(t *T) {
			i := small(2)
			i.domain, i.k = 1, 1
			t.refuse(i)
		}),
	rule("m6.e_dynamic_shapes", "B stays bound over sizes; memory that is too small for the size in use makes the run "+
		"fail").
		ok("A_and_C_bound_anew", func(t *T) {
			i, attrs, ctx := small(2), make([]ioAttr, 2), new(uintptr)
			shapes := []shape{{1, 32, 64}, {3, 32, 64}}
			t.ok("matmul_create_dynamic_shape", ctx, &i, 2, shapes, attrs)
			t.later(func() { t.call("matmul_destroy", *ctx) })
			b := t.memory(*ctx, attrs[0].b.size)
			setAll(b, int8(2))
			t.ok("matmul_set_io_mem", *ctx, b, &attrs[0].b)
			for s := range shapes {
				t.ok("matmul_set_dynamic_shape", *ctx, &shapes[s])
				a, c := t.memory(*ctx, attrs[s].a.size), t.memory(*ctx, attrs[s].c.size)
				setAll(a, int8(1))
				t.ok("matmul_set_io_mem", *ctx, a, &attrs[s].a)
				t.ok("matmul_set_io_mem", *ctx, c, &attrs[s].c)
				t.ok("matmul_run", *ctx)
				got := data[int32](c)
				t.check(got[len(got)-1] == 64, "C ends with %d", got[len(got)-1])
			}
		}).
		no("memory_of_a_smaller_size", func(t *T) {
			i, attrs, ctx := small(2), make([]ioAttr, 2), new(uintptr)
			shapes := []shape{{1, 32, 64}, {3, 32, 64}}
			t.ok("matmul_create_dynamic_shape", ctx, &i, 2, shapes, attrs)
			t.later(func() { t.call("matmul_destroy", *ctx) })
			t.bindAll(object{*ctx, &attrs[0]})
			t.ok("matmul_run", *ctx)
			t.ok("matmul_set_dynamic_shape", *ctx, &shapes[1])
			t.is(failed, "matmul_run", *ctx)
			t.ok("matmul_set_dynamic_shape", *ctx, &shapes[0])
			t.ok("matmul_run", *ctx)
		}),
)...)
