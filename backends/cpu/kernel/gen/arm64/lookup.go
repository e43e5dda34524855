package main

// lookup looks bytes up in a table of 256 bytes, in V16 to V31. One instruction looks up in 64 of them and leaves the
// results of bytes outside of its range as they are.
func lookup(g *gen) {
	if g.isa != neon {
		return
	}
	g.function("lookup", "func(dst, src, table *byte, n int)",
		"is dst = table[src] on n bytes, a positive multiple of 64; dst may be src.")
	dst, src, from, n := g.arg("dst"), g.arg("src"), g.arg("table"), g.arg("n")
	v := func(n int) *reg { return &reg{vec: true, n: n} }
	var table [16]*reg
	for i := range table {
		table[i] = v(16 + i)
		g.i("FMOVQ %i(%u), %d", 16*i, from, table[i])
	}
	step := v(2)
	g.v("movi.16b", step, 64)
	g.whole(n, 16, func() {
		x, found := v(0), v(1)
		g.i("FMOVQ.P 16(%b), %d", src, x)
		for i := 0; i < 16; i += 4 {
			name := "VTBX"
			if i == 0 {
				name = "VTBL"
			} else {
				g.i("VSUB %V.B16, %V.B16, %W.B16", step, x, x)
			}
			g.i(name+" %V.B16, [%V.B16, %V.B16, %V.B16, %V.B16], %W.B16", x, table[i], table[i+1], table[i+2], table[i+3],
				found)
		}
		g.i("FMOVQ.P %u, 16(%b)", found, dst)
	})
}
