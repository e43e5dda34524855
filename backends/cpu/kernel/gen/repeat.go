package main

// repeats writes rows of a few bytes several times each.
func repeats(g *gen) {
	if g.wide() {
		return
	}
	g.text("repeatRows", "func(dst, src *byte, n, times, rows int)",
		"writes each of rows of n <= 32 bytes several times, one behind the other. It reads and writes 32 bytes",
		"each time, of which those beyond n stand for nothing.")
	dst, src, n, rows := g.loadArg("dst"), g.loadArg("src"), g.loadArg("n"), g.loadArg("rows")
	k, x := g.GP64(), g.v()
	g.Label("rows")
	g.VMOVDQU(at(src, 0), x)
	g.MOVQ(g.arg("times"), k)
	g.Label("times")
	g.VMOVDQU(x, at(dst, 0))
	g.ADDQ(n, dst)
	g.DECQ(k)
	g.JG(label("times"))
	g.ADDQ(n, src)
	g.DECQ(rows)
	g.JG(label("rows"))
	g.ret()
}
