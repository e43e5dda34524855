package rules

// ofB is a type of product for each type of B.
var ofB = map[uint32]uint32{i8: 2, f16: 1, i4: 11}

var matmulLimits = onBoards(
	rule("m3.a_K", "K is a multiple of what the board takes for the type of B, without upper limit").
		OK("multiples", func(t *T) {
			g := t.Geometry()
			for b, k := range g.TileK {
				for _, times := range []int32{1, 3, 700} {
					t.Create(info{M: 1, K: int32(k) * times, N: int32(g.TileN[b]), Kind: ofB[b]})
				}
			}
		}).
		No("others", func(t *T) {
			g := t.Geometry()
			for b, k := range g.TileK {
				for _, bad := range []int32{0, int32(k) / 2, int32(k) + 1, -int32(k)} {
					t.refuse(info{M: 1, K: bad, N: int32(g.TileN[b]), Kind: ofB[b]})
				}
			}
		}),
	rule("m3.b_N", "N is a multiple of what the board takes for the type of B").
		OK("multiples", func(t *T) {
			g := t.Geometry()
			for b, n := range g.TileN {
				for _, times := range []int32{1, 3, 100} {
					t.Create(info{M: 1, K: int32(g.TileK[b]), N: int32(n) * times, Kind: ofB[b]})
				}
			}
		}).
		No("others", func(t *T) {
			g := t.Geometry()
			for b, n := range g.TileN {
				for _, bad := range []int32{0, int32(n) / 2, int32(n) + 1, -int32(n)} {
					t.refuse(info{M: 1, K: int32(g.TileK[b]), N: bad, Kind: ofB[b]})
				}
			}
		}),
	rule("m3.c_M", "M is at least 1").
		OK("any", func(t *T) {
			for _, m := range []int32{1, 2, 3, 1001} {
				t.Create(info{M: m, K: 32, N: 64, Kind: 2})
			}
		}).
		No("less", func(t *T) {
			for _, m := range []int32{0, -1, -1 << 31} {
				t.refuse(info{M: m, K: 32, N: 64, Kind: 2})
			}
		}),
)
