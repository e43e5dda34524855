package rules

import "github.com/anynpu/anynpu/conformance/rknn"

// contexts refuses what is no product: 0, one that was destroyed, and a number.
func contexts(r *Rule, function string, args ...any) *Rule {
	with := func(ctx uintptr) []any { return append([]any{ctx}, args...) }
	return r.No("context_0", func(t *T) { t.Is(badContext, function, with(0)...) }).
		No("context_destroyed", func(t *T) { t.Is(badContext, function, with(t.gone())...) }).
		No("context_foreign", func(t *T) { t.Is(badContext, function, with(0x7fff12345678)...) })
}

func creates(r *Rule, function string) *Rule {
	shapes := []shape{{M: 1, K: 32, N: 64}, {M: 4, K: 32, N: 64}}
	return r.OK("attributes_of_every_shape", func(t *T) {
		ctx, attrs, i := new(uintptr), make([]ioAttr, 2), small(2)
		t.OK(function, ctx, &i, 2, shapes, attrs)
		t.Check(attrs[0].A.Size == 32 && attrs[1].A.Size == 128 && attrs[1].C.Size == 4*64*4, "sizes %d, %d, %d",
			attrs[0].A.Size, attrs[1].A.Size, attrs[1].C.Size)
		t.OK("matmul_destroy", *ctx)
	}).OK("sizes_of_info_are_ignored", func(t *T) {
		ctx, i := new(uintptr), info{M: -1, K: 7, N: 0, Kind: 2}
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
		t.Bad(function, new(uintptr), &i, 2, []shape{{M: 1, K: 32, N: 64}, {M: 1, K: 33, N: 64}}, make([]ioAttr, 2))
	})
}

var matmulFunctions = onBoards(
	rule("m1.a_create", "makes a product; pointers must not be NULL").
		OK("context_and_attributes", func(t *T) {
			o := t.Create(small(2))
			t.Check(o.Attrs.A.Size == 64, "A has %d bytes", o.Attrs.A.Size)
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
		OK("each", func(t *T) { t.BindAll(t.Create(small(2))) }), "matmul_set_io_mem", repeated(byte(0), 40), &attr{}).
		No("name", func(t *T) {
			o := t.Create(small(2))
			o.Attrs.A.Name[0] = 'D'
			t.Bad("matmul_set_io_mem", o.Ctx, t.Memory(o.Ctx, 64), &o.Attrs.A)
		}).
		No("NULL", func(t *T) {
			o := t.Create(small(2))
			t.Bad("matmul_set_io_mem", o.Ctx, nil, &o.Attrs.A)
			t.Bad("matmul_set_io_mem", o.Ctx, t.Memory(o.Ctx, 64), nil)
		}),
	contexts(rule("m1.e_set_core_mask", "takes the cores of the board").
		OK("auto", func(t *T) { t.OK("matmul_set_core_mask", t.Create(small(2)).Ctx, 0) }), "matmul_set_core_mask", 0).
		No("cores_there_are_not", func(t *T) {
			mask := 8
			if !t.Large() {
				mask = 1 // one core only: nothing to choose
			}
			t.Is(failed, "matmul_set_core_mask", t.Create(small(2)).Ctx, mask)
		}),
	contexts(rule("m1.f_set_quant_params", "copies the parameters of the matrix that they name").
		OK("each", func(t *T) {
			o := t.Create(small(3))
			for _, name := range []string{"A", "B", "C"} {
				t.OK("matmul_set_quant_params", o.Ctx, rknn.Quant(name, []float32{0.5}, []int32{1}))
			}
		}), "matmul_set_quant_params", rknn.Quant("A", []float32{1}, nil)).
		No("NULL", func(t *T) { t.Bad("matmul_set_quant_params", t.Create(small(3)).Ctx, nil) }),
	contexts(rule("m1.g_get_quant_params", "gives one scale for B").
		OK("default", func(t *T) {
			s := new(float32)
			t.OK("matmul_get_quant_params", t.Create(small(2)).Ctx, &params{}, s)
			t.Check(*s == 1, "scale %v", *s)
		}), "matmul_get_quant_params", &params{}, new(float32)).
		No("NULL", func(t *T) {
			o := t.Create(small(2))
			t.Bad("matmul_get_quant_params", o.Ctx, nil, new(float32))
			t.Bad("matmul_get_quant_params", o.Ctx, &params{}, nil)
		}),
	contexts(rule("m1.h_set_dynamic_shape", "chooses one of the sizes given at creation").
		OK("the_only_one", func(t *T) {
			t.OK("matmul_set_dynamic_shape", t.Create(small(2)).Ctx, &shape{M: 2, K: 32, N: 64})
		}),
		"matmul_set_dynamic_shape", &shape{M: 2, K: 32, N: 64}).
		No("another", func(t *T) { t.Bad("matmul_set_dynamic_shape", t.Create(small(2)).Ctx, &shape{M: 3, K: 32, N: 64}) }).
		No("NULL", func(t *T) { t.Bad("matmul_set_dynamic_shape", t.Create(small(2)).Ctx, nil) }),
	contexts(rule("m1.i_run", "computes C").
		OK("zeros", func(t *T) {
			o := t.Create(small(2))
			_, _, c := t.BindAll(o)
			setAll(c, int32(7))
			t.OK("matmul_run", o.Ctx)
			t.Check(rknn.Data[int32](c)[127] == 0, "C holds %d", rknn.Data[int32](c)[127])
		}), "matmul_run").
		No("matrix_without_memory", func(t *T) {
			o := t.Create(small(2))
			t.Is(failed, "matmul_run", o.Ctx)
			t.OK("matmul_set_io_mem", o.Ctx, t.Memory(o.Ctx, o.Attrs.A.Size), &o.Attrs.A)
			t.OK("matmul_set_io_mem", o.Ctx, t.Memory(o.Ctx, o.Attrs.B.Size), &o.Attrs.B)
			t.Is(failed, "matmul_run", o.Ctx)
		}),
	contexts(rule("m1.j_destroy", "ends a product, once").
		OK("memory_stays", func(t *T) {
			o, i := object{Attrs: &ioAttr{}}, small(2)
			t.OK("matmul_create", &o.Ctx, &i, o.Attrs)
			m := t.Memory(o.Ctx, 64)
			t.OK("matmul_destroy", o.Ctx)
			setAll(m, byte(1))
		}), "matmul_destroy").
		No("as_a_model", func(t *T) {
			o := t.Create(small(2))
			t.Is(badContext, "destroy", o.Ctx)
			t.Is(badContext, "run", o.Ctx, nil)
		}),
	rule("m1.k_B_normal_layout_to_native_layout", "serves both forms; pointers must not be NULL, K and N multiples of "+
		"the tile").
		OK("both_forms", func(t *T) {
			g, i := t.Geometry(), small(2)
			in, out, older := make([]byte, 32*64), make([]byte, 32*64), make([]byte, 32*64)
			for k := range in {
				in[k] = byte(k * 7)
			}
			t.OK("B_normal_layout_to_native_layout", in, out, 32, 64, &i)
			t.OK("B_normal_layout_to_native_layout", in, older, 32, 64, g.TileN[i8], g.TileK[i8], 2)
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
			g, b := t.Geometry(), make([]byte, 64*64)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, g.TileN[i8]+1, g.TileK[i8], 2)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, g.TileN[i8], g.TileK[i8]+1, 2)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, g.TileN[i8], g.TileK[i8], 13)
		}),
)
