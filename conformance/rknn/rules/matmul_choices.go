package rules

import "github.com/anynpu/anynpu/conformance/rknn"

var matmulChoices = onBoards(
	rule("m8.a_context_after_failure", "a creation that fails leaves the context variable as it was").
		OK("written_on_success", func(t *T) {
			ctx, i := uintptr(4711), small(2)
			t.OK("matmul_create", &ctx, &i, &ioAttr{})
			t.Check(ctx != 4711, "the context was not written")
			t.OK("matmul_destroy", ctx)
		}).
		No("left", func(t *T) { t.refuse(small(13)) }),
	rule("m8.b_int16", "C INT16 saturates; below K = 512 nothing can").
		OK("saturates", func(t *T) {
			i := small(10)
			i.K = 1024
			t.Check(computed[int16](t, i, -120, -120)[0] == 32767, "64 x 1024") // 0x88: two times -8
			t.Check(computed[int16](t, i, -120, 0x77)[0] == -32768, "-56 x 1024")
			i.K = 480
			t.Check(computed[int16](t, i, -120, -120)[0] == 480*64, "64 x 480")
		}).With(rknn.On("rk3588")).
		No("K", func(t *T) { t.refuse(info{M: 1, K: 500, N: 64, Kind: 10}) }),
	rule("m8.c_set_io_mem_size", "memory holds as much as the attributes say, or more").
		OK("more", func(t *T) {
			o := t.Create(small(2))
			t.OK("matmul_set_io_mem", o.Ctx, t.Memory(o.Ctx, 100000), &o.Attrs.A)
		}).
		No("less", func(t *T) {
			o := t.Create(small(2))
			t.Bad("matmul_set_io_mem", o.Ctx, t.Memory(o.Ctx, o.Attrs.B.Size-1), &o.Attrs.B)
			o.Attrs.B.Size = 0
			t.Bad("matmul_set_io_mem", o.Ctx, t.Memory(o.Ctx, 10), &o.Attrs.B)
		}),
	rule("m8.d_older_info", "callers of header 1.x pass 24 bytes with layouts of 32 bits").
		OK("behind_it_is_anything", func(t *T) {
			i := small(2)
			i.BLayout, i.AcLayout = 1, 1
			i.Domain, i.Group = -1, -1
			t.Create(i)
		}).
		No("layout", func(t *T) {
			i := small(2)
			i.BLayout, i.BQuant = -1, -1 // -1 as 32 bits
			t.refuse(i)
		}),
	rule("m8.e_converter", "of info the type alone counts; output may be input").
		OK("in_place", func(t *T) {
			i := small(2)
			in, out := make([]byte, 32*64), make([]byte, 32*64)
			for k := range in {
				in[k] = byte(k * 31)
			}
			i.BLayout, i.K, i.N = 7, -1, 0
			t.OK("B_normal_layout_to_native_layout", in, out, 32, 64, &i)
			t.OK("B_normal_layout_to_native_layout", in, in, 32, 64, &i)
			t.Check(string(in) == string(out), "in place it differs")
		}).
		No("type", func(t *T) {
			i, b := small(14), make([]byte, 32*64)
			t.Bad("B_normal_layout_to_native_layout", b, b, 32, 64, &i)
		}),
	rule("m8.f_first_shape", "shape 0 is in use after creation").
		OK("runs", func(t *T) {
			i, attrs, ctx := small(2), make([]ioAttr, 2), new(uintptr)
			t.OK("matmul_create_dynamic_shape", ctx, &i, 2, []shape{{M: 1, K: 64, N: 64}, {M: 3, K: 32, N: 128}}, attrs)
			t.Later(func() { t.Call("matmul_destroy", *ctx) })
			a, b, c := t.BindAll(object{Ctx: *ctx, Attrs: &attrs[0]})
			setAll(a, int8(1))
			setAll(b, int8(1))
			t.OK("matmul_run", *ctx)
			t.Check(rknn.Data[int32](c)[63] == 64, "C is %d", rknn.Data[int32](c)[63])
		}).
		No("mixed_sizes", func(t *T) {
			i, ctx := small(2), new(uintptr)
			shapes := []shape{{M: 1, K: 64, N: 64}, {M: 3, K: 32, N: 128}}
			t.OK("matmul_create_dynamic_shape", ctx, &i, 2, shapes, make([]ioAttr, 2))
			t.Later(func() { t.Call("matmul_destroy", *ctx) })
			t.Bad("matmul_set_dynamic_shape", *ctx, &shape{M: 1, K: 32, N: 128})
		}),
)
