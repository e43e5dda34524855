package rules

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// computed is C of A all a and B all b with parameters set.
func computed[E any](t *T, i info, a, b int8, p ...*params) []E {
	o := t.Create(i)
	ma, mb, mc := t.BindAll(o)
	setAll(ma, a)
	setAll(mb, b)
	for _, q := range p {
		t.OK("matmul_set_quant_params", o.Ctx, q)
	}
	t.OK("matmul_run", o.Ctx)
	return rknn.Data[E](mc)
}

func (t *T) refuseParams(i info, p *params) {
	t.Bad("matmul_set_quant_params", t.Create(i).Ctx, p)
}

var matmulQuantization = onBoards(
	rule("m5.a_default", "without parameters scales are 1 and zero points 0").
		OK("int8", func(t *T) {
			t.Check(computed[int8](t, small(3), 1, 2)[5] == 64, "C")
			t.Check(computed[float32](t, small(9), 1, 2)[5] == 64, "C")
		}).
		No("no_scales", func(t *T) { t.refuseParams(small(3), rknn.Quant("A", nil, nil)) }),
	rule("m5.b_per_layer", "one scale and zero point for a matrix; A and C take no other number").
		OK("the_vendors_numbers", func(t *T) {
			got := computed[int8](t, small(3), 7, 10, rknn.Quant("A", []float32{0.2}, nil), rknn.Quant("B", []float32{0.1},
				nil),
				rknn.Quant("C", []float32{0.8}, nil))
			t.Check(got[0] == 56, "C is %d, want 1.75 K", got[0])
		}).
		OK("zero_points", func(t *T) {
			got := computed[int8](t, small(3), 7, 10, rknn.Quant("A", []float32{1}, []int32{5}),
				rknn.Quant("B", []float32{1}, []int32{9}), rknn.Quant("C", []float32{1}, []int32{-3}))
			t.Check(got[0] == 61, "C is %d, want 32*2*1 - 3", got[0])
		}).
		No("several_for_A", func(t *T) { t.refuseParams(small(3), rknn.Quant("A", repeated(float32(1), 64), nil)) }).
		No("several_for_C", func(t *T) { t.refuseParams(small(3), rknn.Quant("C", repeated(float32(1), 64), nil)) }),
	rule("m5.c_per_channel", "N scales of B belong to columns").
		OK("each_column", func(t *T) {
			s := make([]float32, 64)
			for i := range s {
				s[i] = float32(i)
			}
			got := computed[float32](t, small(9), 1, 1, rknn.Quant("B", s, nil))
			for n := range 64 {
				t.Check(got[n] == float32(32*n), "column %d is %v", n, got[n])
			}
		}).
		No("another_number", func(t *T) {
			for _, n := range []int{2, 32, 63, 65, 128} {
				t.refuseParams(small(9), rknn.Quant("B", repeated(float32(1), n), nil))
			}
		}),
	rule("m5.d_per_group", "N*K/group_size scales of B belong to groups of rows and a column; group_size divides K, 0 "+
		"is 32").
		OK("each_group", func(t *T) {
			i := small(9)
			i.K, i.BQuant, i.Group = 64, 4, 16
			s := make([]float32, 4*64)
			for k := range s {
				s[k] = float32(k / 64) // 0, 1, 2, 3
			}
			t.Check(computed[float32](t, i, 1, 1, rknn.Quant("B", s, nil))[7] == 16*(1+2+3), "C")
		}).
		OK("group_size_0", func(t *T) {
			i := small(9)
			i.K, i.BQuant = 64, 5
			got := computed[float32](t, i, 1, 3, rknn.Quant("B", repeated(float32(2), 128), repeated(int32(1), 128)))
			t.Check(got[0] == 64*2*2, "C")
		}).
		No("another_number", func(t *T) {
			i := small(9)
			i.K, i.BQuant, i.Group = 64, 4, 16
			for _, n := range []int{2, 4, 63, 128, 255, 257} {
				t.refuseParams(i, rknn.Quant("B", repeated(float32(1), n), nil))
				t.refuseParams(i, rknn.Quant("B", []float32{1}, repeated(int32(1), n)))
			}
		}).
		No("group_size_that_does_not_divide", func(t *T) {
			for _, g := range []int16{-1, 24, 64, 33} {
				i := small(9)
				i.BQuant, i.Group = 4, g
				t.refuse(i)
			}
		}).
		No("not_asked_for", func(t *T) {
			i := small(9)
			i.K, i.Group = 64, 16
			t.refuseParams(i, rknn.Quant("B", repeated(float32(1), 256), nil))
		}),
	rule("m5.e_quant_types", "B_quant_type is 0 to 5, AC_quant_type 0 or 1").
		OK("all", func(t *T) {
			for b := range int16(6) {
				i := small(9)
				i.BQuant, i.AcQuant = b, b%2
				t.Create(i)
			}
		}).
		No("B", func(t *T) {
			for _, v := range []int16{-1, 6} {
				i := small(9)
				i.BQuant = v
				t.refuse(i)
			}
		}).
		No("AC", func(t *T) {
			for _, v := range []int16{-1, 2} {
				i := small(9)
				i.AcQuant = v
				t.refuse(i)
			}
		}),
	rule("m5.f_int32", "C INT32 is the sum of integers whatever the parameters are, which are checked all the same").
		OK("scales_have_no_part", func(t *T) {
			got := computed[int32](t, small(2), 127, -128, rknn.Quant("A", []float32{0.1}, []int32{3}),
				rknn.Quant("B", repeated(float32(9), 64), repeated(int32(4), 64)))
			t.Check(got[9] == -32*127*128, "C is %d", got[9])
		}).
		OK("nor_for_16_bits_and_reals", func(t *T) {
			scales := []*params{rknn.Quant("A", []float32{0.25}, []int32{3}), rknn.Quant("B", []float32{9}, []int32{2}),
				rknn.Quant("C", []float32{0.5}, []int32{4})}
			for _, kind := range []uint32{1, 4, 10} { // reals into float32 and float16, 4 bits into 16
				i := small(kind)
				if made := new(uintptr); kind == 10 && t.Code("matmul_create", made, &i, &ioAttr{}) != success {
					continue // the board has no matrices of 4 bits
				} else if kind == 10 {
					t.OK("matmul_destroy", *made)
				}
				c, size := make([][]byte, 2), 0
				for k := range c {
					o := t.Create(i)
					a, b, out := t.BindAll(o)
					for _, m := range []uintptr{a, b} {
						d := rknn.Data[byte](m)
						for at := range d {
							d[at] = map[bool]byte{true: byte(0x3c * (at % 2)), false: 0x11}[kind != 10] // 1.0 and 1
						}
					}
					for _, q := range scales {
						if k == 1 {
							t.Call("matmul_set_quant_params", o.Ctx, q)
						}
					}
					t.OK("matmul_run", o.Ctx)
					c[k] = slices.Clone(rknn.Data[byte](out))
					size = len(c[k])
				}
				t.Check(size > 0 && slices.Equal(c[0], c[1]), "type %d: %v with parameters, %v without", kind, c[1][:8],
					c[0][:8])
				t.Check(kind != 10 || cmem.As[int16](c[0])[5] == 32, "C is %v", cmem.As[int16](c[0])[:8])
			}
			t.OK("matmul_run", func() uintptr { o := t.Create(small(2)); t.BindAll(o); return o.Ctx }())
		}).
		No("a_wrong_number", func(t *T) { t.refuseParams(small(2), rknn.Quant("B", repeated(float32(1), 3), nil)) }),
	rule("m5.g_int8", "C INT8 is rounded to the nearest, of two the even one, and saturated").
		OK("halves_to_even", func(t *T) {
			for b, want := range map[int8]int8{1: 0, 3: 2, 5: 2, -1: 0, -3: -2} { // 32*b/64 = b/2
				got := computed[int8](t, small(3), 1, b, rknn.Quant("C", []float32{64}, nil))
				t.Check(got[0] == want, "%d/2 is %d, want %d", b, got[0], want)
			}
		}).
		OK("saturates", func(t *T) {
			t.Check(computed[int8](t, small(3), 127, 127)[0] == 127 && computed[int8](t, small(3), 127, -128)[0] == -128, "C")
		}).
		No("scale_0", func(t *T) { t.refuseParams(small(3), rknn.Quant("C", []float32{0}, nil)) }),
	rule("m5.h_values", "scales are finite, zero points values of the type").
		OK("at_the_ends", func(t *T) {
			o := t.Create(small(3))
			t.OK("matmul_set_quant_params", o.Ctx, rknn.Quant("A", []float32{-1}, []int32{-128}))
			t.OK("matmul_set_quant_params", o.Ctx, rknn.Quant("B", []float32{0}, []int32{127}))
		}).
		No("scales", func(t *T) {
			for _, s := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				t.refuseParams(small(3), rknn.Quant("B", []float32{float32(s)}, nil))
			}
		}).
		No("zero_points", func(t *T) {
			for _, z := range []int32{128, -129, math.MaxInt32} {
				t.refuseParams(small(3), rknn.Quant("A", []float32{1}, []int32{z}))
			}
		}),
	rule("m5.i_lengths", "zp may be NULL, one or as many as scales can be; arrays are copied").
		OK("zp", func(t *T) {
			for _, n := range []int{0, 1, 64} {
				got := computed[float32](t, small(9), 1, 3, rknn.Quant("B", []float32{1}, repeated(int32(1), n)))
				t.Check(got[0] == 32*float32(3-min(n, 1)), "%d zero points: %v", n, got[0])
			}
		}).
		OK("copied_and_replaced", func(t *T) {
			o := t.Create(small(9))
			a, b, c := t.BindAll(o)
			setAll(a, int8(1))
			setAll(b, int8(1))
			s := []float32{5}
			t.OK("matmul_set_quant_params", o.Ctx, rknn.Quant("B", []float32{3}, nil))
			t.OK("matmul_set_quant_params", o.Ctx, rknn.Quant("B", s, nil))
			s[0] = 7
			t.OK("matmul_run", o.Ctx)
			t.Check(rknn.Data[float32](c)[0] == 32*5, "C is %v", rknn.Data[float32](c)[0])
		}).
		No("lengths", func(t *T) {
			t.refuseParams(small(9), rknn.Quant("B", []float32{1}, make([]int32, 5)))
			p := rknn.Quant("B", []float32{1}, nil)
			p.Scales = -1
			t.refuseParams(small(9), p)
			p = rknn.Quant("B", []float32{1}, nil)
			p.Scale = nil
			t.refuseParams(small(9), p)
		}).
		No("name", func(t *T) { t.refuseParams(small(9), rknn.Quant("D", []float32{1}, nil)) }),
	rule("m5.j_get_quant_params", "the largest scale of B by magnitude, for the names B and none").
		OK("largest", func(t *T) {
			o, s := t.Create(small(2)), make([]float32, 64)
			s[40], s[41] = 0.25, -0.5
			t.OK("matmul_set_quant_params", o.Ctx, rknn.Quant("B", s, nil))
			got := new(float32)
			back := rknn.Quant("B", make([]float32, 64), nil)
			t.OK("matmul_get_quant_params", o.Ctx, back, got)
			t.Check(*got == 0.5, "scale %v", *got)
		}).
		OK("lists", func(t *T) {
			o := t.Create(small(9))
			t.OK("matmul_set_quant_params", o.Ctx, rknn.Quant("B", []float32{0.5}, []int32{7}))
			scale, zero := []float32{9}, []int32{9}
			t.OK("matmul_get_quant_params", o.Ctx, rknn.Quant("B", scale, zero), new(float32))
			t.Check(scale[0] == 0.5 && zero[0] == 7, "scale %v, zero point %d", scale[0], zero[0])
		}).
		No("of_A", func(t *T) {
			t.Bad("matmul_get_quant_params", t.Create(small(2)).Ctx, rknn.Quant("A", nil, nil), new(float32))
		}),
)
