package rules

// ofB is a type of product for each type of B.
var ofB = map[uint32]uint32{i8: 2, f16: 1, i4: 11}

var matmulLimits = onBoards(
	rule("m3.a_K", "K is a multiple of what the board takes for the type of B, without upper limit").
		OK("multiples", func(t *T) {
			g := t.geometry()
			for b, k := range g.tileK {
				for _, times := range []int32{1, 3, 700} {
					t.create(info{m: 1, k: int32(k) * times, n: int32(g.tileN[b]), kind: ofB[b]})
				}
			}
		}).
		No("others", func(t *T) {
			g := t.geometry()
			for b, k := range g.tileK {
				for _, bad := range []int32{0, int32(k) / 2, int32(k) + 1, -int32(k)} {
					t.refuse(info{m: 1, k: bad, n: int32(g.tileN[b]), kind: ofB[b]})
				}
			}
		}),
	rule("m3.b_N", "N is a multiple of what the board takes for the type of B").
		OK("multiples", func(t *T) {
			g := t.geometry()
			for b, n := range g.tileN {
				for _, times := range []int32{1, 3, 100} {
					t.create(info{m: 1, k: int32(g.tileK[b]), n: int32(n) * times, kind: ofB[b]})
				}
			}
		}).
		No("others", func(t *T) {
			g := t.geometry()
			for b, n := range g.tileN {
				for _, bad := range []int32{0, int32(n) / 2, int32(n) + 1, -int32(n)} {
					t.refuse(info{m: 1, k: int32(g.tileK[b]), n: bad, kind: ofB[b]})
				}
			}
		}),
	rule("m3.c_M", "M is at least 1").
		OK("any", func(t *T) {
			for _, m := range []int32{1, 2, 3, 1001} {
				t.create(info{m: m, k: 32, n: 64, kind: 2})
			}
		}).
		No("less", func(t *T) {
			for _, m := range []int32{0, -1, -1 << 31} {
				t.refuse(info{m: m, k: 32, n: 64, kind: 2})
			}
		}),
)
