package rules

import "github.com/anynpu/anynpu/conformance/rknn"

var matmulTypes = onBoards(
	rule("m2.a_types", "each type has its element types; types with INT4 need RK3588 or RK3576").
		OK("element_types", func(t *T) {
			for kind, want := range rknn.ProductKinds {
				if _, has := t.Geometry().TileN[want[1]]; !has {
					continue
				}
				a := t.Create(small(kind)).Attrs
				got := [3]uint32{a.A.Kind, a.B.Kind, a.C.Kind}
				t.Check(got == want, "type %d: elements %v, want %v", kind, got, want)
			}
		}).
		No("unknown", func(t *T) {
			for _, kind := range []uint32{0, 13, 14, 16, 1 << 31} {
				t.refuse(small(kind))
			}
		}).
		No("INT4_elsewhere", func(t *T) {
			if t.Large() {
				t.refuse(info{M: 1, K: 32, N: 32, Kind: 10}) // there are INT4 matrices, of 64 columns
				return
			}
			for _, kind := range []uint32{7, 8, 10, 11, 12, 15} {
				t.refuse(small(kind))
			}
		}),
	rule("m2.b_attributes", "names are A, B and C, sizes in bytes without padding").
		OK("names_and_sizes", func(t *T) {
			for kind, types := range rknn.ProductKinds {
				if _, has := t.Geometry().TileN[types[1]]; !has {
					continue
				}
				a := t.Create(small(kind)).Attrs
				t.Check(rknn.TextOf(a.A.Name[:]) == "A" && rknn.TextOf(a.B.Name[:]) == "B" && rknn.TextOf(a.C.Name[:]) == "C",
					"type %d: names", kind)
				bytes := func(n, kind uint32) uint32 { return n * rknn.Bits[kind] / 8 }
				got := [3]uint32{a.A.Size, a.B.Size, a.C.Size}
				want := [3]uint32{bytes(64, types[0]), bytes(2048, types[1]), bytes(128, types[2])}
				t.Check(got == want, "type %d: sizes %v, want %v", kind, got, want)
			}
		}).
		No("size_that_32_bits_do_not_hold", func(t *T) { t.refuse(info{M: 1 << 27, K: 32, N: 64, Kind: 2}) }),
)
