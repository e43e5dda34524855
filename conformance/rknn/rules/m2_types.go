package rules

// name reads a name up to its NUL.
func name(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

var matmulTypes = onBoards(
	rule("m2.a_types", "each type has its element types; types with INT4 need RK3588 or RK3576").
		OK("element_types", func(t *T) {
			for kind, want := range kinds {
				if _, has := t.geometry().tileN[want[1]]; !has {
					continue
				}
				a := t.create(small(kind)).attrs
				got := [3]uint32{a.a.kind, a.b.kind, a.c.kind}
				t.Check(got == want, "type %d: elements %v, want %v", kind, got, want)
			}
		}).
		No("unknown", func(t *T) {
			for _, kind := range []uint32{0, 13, 14, 16, 1 << 31} {
				t.refuse(small(kind))
			}
		}).
		No("INT4_elsewhere", func(t *T) {
			if t.large() {
				t.refuse(info{m: 1, k: 32, n: 32, kind: 10}) // there are INT4 matrices, of 64 columns
				return
			}
			for _, kind := range []uint32{7, 8, 10, 11, 12, 15} {
				t.refuse(small(kind))
			}
		}),
	rule("m2.b_attributes", "names are A, B and C, sizes in bytes without padding").
		OK("names_and_sizes", func(t *T) {
			for kind, types := range kinds {
				if _, has := t.geometry().tileN[types[1]]; !has {
					continue
				}
				a := t.create(small(kind)).attrs
				t.Check(name(a.a.name[:]) == "A" && name(a.b.name[:]) == "B" && name(a.c.name[:]) == "C", "type %d: names", kind)
				got, want := [3]uint32{a.a.size, a.b.size, a.c.size}, [3]uint32{64 * bits[types[0]] / 8, 2048 * bits[types[1]] / 8,
					128 * bits[types[2]] / 8}
				t.Check(got == want, "type %d: sizes %v, want %v", kind, got, want)
			}
		}).
		No("size_that_32_bits_do_not_hold", func(t *T) { t.refuse(info{m: 1 << 27, k: 32, n: 64, kind: 2}) }),
)
