package main

// image emits the kernels of images of bytes.
func image(g *gen) {
	if g.isa != neon {
		return
	}
	g.affine3()
	g.spread()
	g.resizeBytes("resize1", 1)
	g.resizeBytes("resize2", 2)
}

// affine3 keeps the order of sums of its portable twin and fuses nothing, so both give the same bits.
func (g *gen) affine3() {
	g.function("affine3", "func(dst0, dst1, dst2 *float32, a, b, c *uint8, n int, k *float32)",
		"makes three channels of three components; n is a positive multiple of 8.")
	dst := []*reg{g.arg("dst0"), g.arg("dst1"), g.arg("dst2")}
	src := []*reg{g.arg("a"), g.arg("b"), g.arg("c")}
	n, k := g.arg("n"), g.arg("k")
	w := g.vecs(15)
	for i, x := range w {
		g.load(1, k, 4*i, x)
		g.v("dup.4s", x, x, 0)
	}
	g.whole(n, 8, func() {
		var x [3][2]*reg
		for i, p := range src {
			b := g.vec()
			g.i("FMOVD.P 8(%b), %d", p, b)
			g.v("uxtl.8h", b, b)
			x[i] = [2]*reg{g.op("uxtl.4s", b), g.op("uxtl2.4s", b)}
			for _, y := range x[i] {
				g.v("scvtf.4s", y, y)
				g.v("fsub.4s", y, y, w[i])
			}
		}
		for c, p := range dst {
			var r [2]*reg
			for h := range r {
				t := g.add(g.mul(w[4+4*c], x[1][h]), g.mul(w[5+4*c], x[2][h]))
				g.v("fadd.4s", t, t, w[6+4*c])
				r[h] = g.add(g.mul(w[3+4*c], x[0][h]), t)
			}
			g.i("FSTPQ.P (%u, %u), 32(%b)", r[0], r[1], p)
		}
	})
}

// spread doubles the first and the second bytes of pairs.
func (g *gen) spread() {
	g.function("spread", "func(u, v, pairs *uint8, n int)",
		"gives each of n pixels the two components of its pair; n is a positive multiple of 16.")
	u, v, p, n := g.arg("u"), g.arg("v"), g.arg("pairs"), g.arg("n")
	g.whole(n, 16, func() {
		x := g.vec()
		g.i("FMOVQ.P 16(%b), %d", p, x)
		g.i("FMOVQ.P %u, 16(%b)", g.op("trn1.16b", x, x), u)
		g.i("FMOVQ.P %u, 16(%b)", g.op("trn2.16b", x, x), v)
	})
}

// resizeBytes mixes with h = a<<16 + wx*(b-a) per row, of 24 bits, and of the two rows
//
//	(h0<<16 + wy*d + 2^31) >> 32 = (h0 + 2^15 + wy*(d>>16) + (wy*(d&65535))>>16) >> 16, with d = h1-h0
func (g *gen) resizeBytes(name string, comps int) {
	g.function(name, "func(dst, top, bottom *uint8, at *int32, weight *uint32, n int, wy uint32)",
		"mixes pixels of two rows with their neighbours; n is a positive multiple of 8. It loads 4 bytes at each place.")
	dst, top, bottom := g.arg("dst"), g.arg("top"), g.arg("bottom")
	index, weight, n, wy := g.arg("at"), g.arg("weight"), g.arg("n"), g.every("wy")
	low, half, short := g.bits(0xff), g.bits(1<<15), g.bits(0xffff)
	g.whole(n, 4, func() {
		wx := g.vec()
		g.i("FMOVQ.P 16(%b), %d", weight, wx)
		rows := g.vecs(2)
		buffer := g.local(32)
		at, x := g.gp(), g.gp()
		for i := range 4 {
			g.i("MOVW.P 4(%b), %d", index, at)
			for r, p := range []*reg{top, bottom} {
				g.i("MOVWU (%u)(%u), %d", p, at, x)
				g.i("MOVW %u, %i(RSP)", x, buffer+16*r+4*i)
			}
		}
		for r, v := range rows {
			g.i("FMOVQ %i(RSP), %d", buffer+16*r, v)
		}
		field := func(x *reg, shift int) *reg {
			if shift == 0 {
				return g.op("and.16b", x, low)
			}
			y := g.op("ushr.4s", x, shift)
			if shift < 24 {
				g.v("and.16b", y, y, low)
			}
			return y
		}
		mixed := g.vecs(comps)
		for c := range comps {
			var h [2]*reg
			for r, x := range rows {
				a, b := field(x, 8*c), field(x, 8*(c+comps))
				g.v("sub.4s", b, b, a)
				h[r] = g.op("shl.4s", a, 16)
				g.v("mla.4s", h[r], b, wx)
			}
			d := g.op("sub.4s", h[1], h[0])
			t := g.op("mul.4s", g.op("and.16b", d, short), wy)
			g.v("ushr.4s", t, t, 16)
			g.v("sshr.4s", d, d, 16)
			g.v("mla.4s", t, d, wy)
			g.v("add.4s", t, t, h[0])
			g.v("add.4s", t, t, half)
			mixed[c] = g.op("ushr.4s", t, 16)
		}
		r := mixed[0]
		if comps == 2 {
			r = g.op("orr.16b", mixed[0], g.op("shl.4s", mixed[1], 8))
		}
		g.v("xtn.4h", r, r)
		if comps == 2 {
			g.i("FMOVD.P %u, 8(%b)", r, dst)
			return
		}
		g.v("xtn.8b", r, r)
		g.i("FMOVS.P %u, 4(%b)", r, dst)
	})
}
