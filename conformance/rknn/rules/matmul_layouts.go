package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
)

func (t *T) dims(a *attr, want ...uint32) {
	got := a.Dims[:a.Rank]
	t.Check(slices.Equal(got, want), "%s: dims %v, want %v", rknn.TextOf(a.Name[:]), got, want)
}

var matmulLayouts = onBoards(
	rule("m4.a_AC_layout", "A and C are rows, or native: [K/k, M, k] and [N/n, M, n]").
		OK("normal", func(t *T) {
			a := t.Create(small(2)).Attrs
			t.dims(&a.A, 2, 32)
			t.dims(&a.C, 2, 64)
		}).
		OK("native", func(t *T) {
			for kind, types := range rknn.ProductKinds {
				lanes, has := t.Geometry().LanesA[types[0]]
				if _, b := t.Geometry().TileN[types[1]]; !has || !b {
					continue
				}
				i := small(kind)
				i.AcLayout = 1
				a, n := t.Create(i).Attrs, 128/rknn.Bits[types[2]]
				t.dims(&a.A, 32/lanes, 2, lanes)
				t.dims(&a.C, 64/n, 2, n)
			}
		}).
		OK("native_places", func(t *T) {
			i := small(2)
			i.AcLayout = 1
			o := t.Create(i)
			a, b, c := t.BindAll(o)
			setAll(b, int8(1))
			lanes := int(o.Attrs.A.Dims[2])
			rknn.Data[int8](a)[lanes] = 5 // row 1, column 0
			t.OK("matmul_run", o.Ctx)
			got := rknn.Data[int32](c)
			t.Check(got[3] == 0 && got[4] == 5 && got[7] == 5 && got[8] == 0, "C begins with %v", got[:9])
		}).
		No("others", func(t *T) {
			for _, v := range []int16{-1, 2, 3} {
				i := small(2)
				i.AcLayout = v
				t.refuse(i)
			}
		}),
	rule("m4.b_B_layout", "B is [K,N], native [N/n, K/k, n, k], or transposed [N,K]").
		OK("dims", func(t *T) {
			for b, kind := range ofB {
				n, has := t.Geometry().TileN[b]
				if !has {
					continue
				}
				k := t.Geometry().TileK[b]
				for layout, want := range [][]uint32{{32, 64}, {64 / n, 32 / k, n, k}, {64, 32}} {
					i := small(kind)
					i.BLayout = int16(layout)
					t.dims(&t.Create(i).Attrs.B, want...)
				}
			}
		}).
		OK("places", func(t *T) {
			n, k := int(t.Geometry().TileN[i8]), int(t.Geometry().TileK[i8])
			for layout, place := range []int{3*64 + 40, ((40/n)*(32/k)*n+40%n)*k + 3, 40*32 + 3} { // of k = 3, n = 40
				i := small(2)
				i.BLayout = int16(layout)
				o := t.Create(i)
				a, b, c := t.BindAll(o)
				setAll(a, int8(1))
				rknn.Data[int8](b)[place] = 9
				t.OK("matmul_run", o.Ctx)
				got := rknn.Data[int32](c)
				t.Check(got[39] == 0 && got[40] == 9 && got[41] == 0, "layout %d: C[0][39..41] is %v", layout, got[39:42])
			}
		}).
		No("others", func(t *T) {
			for _, v := range []int16{-1, 3, 100} {
				i := small(2)
				i.BLayout = v
				t.refuse(i)
			}
		}),
	rule("m4.c_segments", "K above 8192 rows on RK3588, 4096 on RK3576, is stored in segments of that many in the "+
		"native layout").
		OK("place_in_the_second_segment", func(t *T) {
			s, n, k := t.Geometry().Segment, int(t.Geometry().TileN[i8]), int(t.Geometry().TileK[i8])
			K := 8192 + 64
			if s == 0 {
				s = K
			}
			i := info{M: 1, K: int32(K), N: int32(2 * n), Kind: 2}
			in, out := make([]byte, K*2*n), make([]byte, K*2*n)
			row, col := K-40, n+1
			in[row*2*n+col] = 1
			t.OK("B_normal_layout_to_native_layout", in, out, K, 2*n, &i)
			first := row / s * s
			rows := min(s, K-first)
			place := first*2*n + ((col/n*(rows/k)+(row-first)/k)*n+col%n)*k + (row-first)%k
			t.Check(out[place] == 1, "the element is not at %d but at %d", place, slices.Index(out, 1))
		}).
		No("rows_beyond_a_tile", func(t *T) {
			i, b := small(2), make([]byte, 8200*64)
			t.Bad("B_normal_layout_to_native_layout", b, b, 8200, 64, &i)
		}),
	rule("m4.d_int4", "of two elements the one with the lower index is in the low half of a byte").
		OK("low_half_first", func(t *T) {
			o := t.Create(small(10))
			a, b, c := t.BindAll(o)
			rknn.Data[byte](a)[0] = 0x21 // 1, 2
			rknn.Data[byte](b)[0] = 0xf3 // row 0: 3, -1
			rknn.Data[byte](b)[32] = 0x84
			t.OK("matmul_run", o.Ctx)
			got := rknn.Data[int16](c)
			t.Check(got[0] == 1*3+2*4 && got[1] == -1-2*8, "C begins with %v", got[:2])
		}).With(rknn.On("rk3588")).
		No("columns_of_half_a_tile", func(t *T) { t.refuse(info{M: 1, K: 32, N: 32, Kind: 10}) }),
)
