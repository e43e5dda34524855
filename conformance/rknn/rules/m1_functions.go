package rules

// contexts refuses what is no product: 0, one that was destroyed, and a number.
func contexts(r *Rule, function string, args ...any) *Rule {
	with := func(ctx uintptr) []any { return append([]any{ctx}, args...) }
	return r.No("context_0", func(t *T) { t.Is(badContext, function, with(0)...) }).
		No("context_destroyed", func(t *T) { t.Is(badContext, function, with(t.gone())...) }).
		No("context_foreign", func(t *T) { t.Is(badContext, function, with(0x7fff12345678)...) })
}

func creates(r *Rule, function string) *Rule {
	shapes := []shape{{1, 32, 64}, {4, 32, 64}}
	return r.OK("attributes_of_every_shape", func(t *T) {
		ctx, attrs, i := new(uintptr), make([]ioAttr, 2), small(2)
		t.OK(function, ctx, &i, 2, shapes, attrs)
		t.Check(attrs[0].a.size == 32 && attrs[1].a.size == 128 && attrs[1].c.size == 4*64*4, "sizes %d, %d, %d",
			attrs[0].a.size, attrs[1].a.size, attrs[1].c.size)
		t.OK("matmul_destroy", *ctx)
	}).OK("sizes_of_info_are_ignored", func(t *T) {
		ctx, i := new(uintptr), info{m: -1, k: 7, n: 0, kind: 2}
		t.OK(function, ctx, &i, 2, shapes, make([]ioAttr, 2))
		t.OK("matmul_destroy", *ctx)
	}).No("no_shapes", func(t *T) {
		i := small(2)
		t.Bad(function, new(uintptr), &i, 0, shapes, make([]ioAttr, 2))
		t.Bad(function, new(uintptr), &i, int32(-1), shapes, make([]ioAttr, 2))
	}).No("NULL", func(t *T) {
		i := small(2)
		t.Bad(function, nil, &i, 2, shapes, make([]ioAttr, 2))
		t.Bad(function, new(uintptr), nil, 2, shapes, make([]ioAttr, 2))
		t.Bad(function, new(uintptr), &i, 2, nil, make([]ioAttr, 2))
		t.Bad(function, new(uintptr), &i, 2, shapes, nil)
	}).No("a_shape_that_does_not_fit", func(t *T) {
		i := small(2)
		t.Bad(function, new(uintptr), &i, 2, []shape{{1, 32, 64}, {1, 33, 64}}, make([]ioAttr, 2))
	})
}

var matmulFunctions = onBoards(
	rule("m1.a_create", "makes a product; pointers must not be NULL").
		OK("context_and_attributes", func(t *T) {
			o := t.create(small(2))
			t.Check(o.attrs.a.size == 64, "A has %d bytes", o.attrs.a.size)
		}).
		No("NULL", func(t *T) {
			i := small(2)
			t.Bad("matmul_create", nil, &i, &ioAttr{})
			t.Bad("matmul_create", new(uintptr), nil, &ioAttr{})
			t.Bad("matmul_create", new(uintptr), &i, nil)
		}),
	creates(rule("m1.b_create_dynamic_shape", "makes a product of several sizes"), "matmul_create_dynamic_shape"),
	creates(rule("m1.c_create_dyn_shape", "is the older name"), "matmul_create_dyn_shape"),
	contexts(rule("m1.d_set_io_mem", "binds memory to the matrix that the attributes name").
		OK("each", func(t *T) { t.bindAll(t.create(small(2))) }), "matmul_set_io_mem", repeated(byte(0), 40), &attr{}).
		No("name", func(t *T) {
			o := t.create(small(2))
			o.attrs.a.name[0] = 'D'
			t.Bad("matmul_set_io_mem", o.ctx, t.memory(o.ctx, 64), &o.attrs.a)
		}).
		No("NULL", func(t *T) {
			o := t.create(small(2))
			t.Bad("matmul_set_io_mem", o.ctx, nil, &o.attrs.a)
			t.Bad("matmul_set_io_mem", o.ctx, t.memory(o.ctx, 64), nil)
		}),
	contexts(rule("m1.e_set_core_mask", "takes the cores of the board").
		OK("auto", func(t *T) { t.OK("matmul_set_core_mask", t.create(small(2)).ctx, 0) }), "matmul_set_core_mask", 0).
		No("cores_there_are_not", func(t *T) {
			mask := 8
			if !t.large() {
				mask = 1 // one core only: nothing to choose
			}
			t.Is(failed, "matmul_set_core_mask", t.create(small(2)).ctx, mask)
		}),
	contexts(rule("m1.f_set_quant_params", "copies the parameters of the matrix that they name").
		OK("each", func(t *T) {
			o := t.create(small(3))
			for _, name := range []string{"A", "B", "C"} {
				t.OK("matmul_set_quant_params", o.ctx, quant(name, []float32{0.5}, []int32{1}))
			}
		}), "matmul_set_quant_params", quant("A", []float32{1}, nil)).
		No("NULL", func(t *T) { t.Bad("matmul_set_quant_params", t.create(small(3)).ctx, nil) }),
	contexts(rule("m1.g_get_quant_params", "gives one scale for B").
		OK("default", func(t *T) {
			s := new(float32)
			t.OK("matmul_get_quant_params", t.create(small(2)).ctx, &params{}, s)
			t.Check(*s == 1, "scale %v", *s)
		}), "matmul_get_quant_params", &params{}, new(float32)).
		No("NULL", func(t *T) {
			o := t.create(small(2))
			t.Bad("matmul_get_quant_params", o.ctx, nil, new(float32))
			t.Bad("matmul_get_quant_params", o.ctx, &params{}, nil)
		}),
	contexts(rule("m1.h_set_dynamic_shape", "chooses one of the sizes given at creation").
		OK("the_only_one", func(t *T) { t.OK("matmul_set_dynamic_shape", t.create(small(2)).ctx, &shape{2, 32, 64}) }),
		"matmul_set_dynamic_shape", &shape{2, 32, 64}).
		No("another", func(t *T) { t.Bad("matmul_set_dynamic_shape", t.create(small(2)).ctx, &shape{3, 32, 64}) }).
		No("NULL", func(t *T) { t.Bad("matmul_set_dynamic_shape", t.create(small(2)).ctx, nil) }),
	contexts(rule("m1.i_run", "computes C").
		OK("zeros", func(t *T) {
			o := t.create(small(2))
			_, _, c := t.bindAll(o)
			setAll(c, int32(7))
			t.OK("matmul_run", o.ctx)
			t.Check(data[int32](c)[127] == 0, "C holds %d", data[int32](c)[127])
		}), "matmul_run").
		No("matrix_without_memory", func(t *T) {
			o := t.create(small(2))
			t.Is(failed, "matmul_run", o.ctx)
			t.OK("matmul_set_io_mem", o.ctx, t.memory(o.ctx, o.attrs.a.size), &o.attrs.a)
			t.OK("matmul_set_io_mem", o.ctx, t.memory(o.ctx, o.attrs.b.size), &o.attrs.b)
			t.Is(failed, "matmul_run", o.ctx)
		}),
	contexts(rule("m1.j_destroy", "ends a product, once").
		OK("memory_stays", func(t *T) {
			o, i := object{attrs: &ioAttr{}}, small(2)
			t.OK("matmul_create", &o.ctx, &i, o.attrs)
			m := t.memory(o.ctx, 64)
			t.OK("matmul_destroy", o.ctx)
			setAll(m, byte(1))
		}), "matmul_destroy").
		No("as_a_model", func(t *T) {
			o := t.create(small(2))
			t.Is(badContext, "destroy", o.ctx)
			t.Is(badContext, "run", o.ctx, nil)
		}),
	rule("m1.k_B_normal_layout_to_native_layout", "serves both forms; pointers must not be NULL, K and N multiples of "+
		"the tile").
		OK("both_forms", func(t *T) {
			g, i := t.geometry(), small(2)
			in, out, older := make([]byte, 32*64), make([]byte, 32*64), make([]byte, 32*64)
			for k := range in {
				in[k] = byte(k * 7)
			}
			t.OK("B_normal_layout_to_native_layout", in, out, 32, 64, &i)
			t.OK("B_normal_layout_to_native_layout", in, older, 32, 64, g.tileN[i8], g.tileK[i8], 2)
			t.Check(string(out) == string(older) && string(out) != string(in), "the forms differ")
		}).
		No("NULL", func(t *T) {
			i, b := small(2), make([]byte, 32*64)
			t.Bad("B_normal_layout_to_native_layout", nil, b, 32, 64, &i)
			t.Bad("B_normal_layout_to_native_layout", b, nil, 32, 64, &i)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, nil)
		}).
		No("sizes", func(t *T) {
			i, b := small(2), make([]byte, 64*64)
			t.Bad("B_normal_layout_to_native_layout", b, b, 31, 64, &i)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 65, &i)
			t.Bad("B_normal_layout_to_native_layout", b, b, int32(-32), 64, &i)
		}).
		No("older_form", func(t *T) {
			g, b := t.geometry(), make([]byte, 64*64)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, g.tileN[i8]+1, g.tileK[i8], 2)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, g.tileN[i8], g.tileK[i8]+1, 2)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, g.tileN[i8], g.tileK[i8], 13)
		}),
)
