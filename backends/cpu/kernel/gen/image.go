package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// image emits the kernels of images of bytes; one form serves both levels.
func image(g *gen) {
	if g.wide() {
		return
	}
	g.affine3()
	g.spread()
	g.resizeBytes("resize1", 1)
	g.resizeBytes("resize2", 2)
}

// affine3 keeps the order of sums of its portable twin and fuses nothing, so both give the same bits.
func (g *gen) affine3() {
	g.text("affine3", "func(dst0, dst1, dst2 *float32, a, b, c *uint8, n int, k *float32)",
		"makes three channels of three components; n is a positive multiple of the vector length.")
	dst := []reg.GPVirtual{g.loadArg("dst0"), g.loadArg("dst1"), g.loadArg("dst2")}
	src := []reg.GPVirtual{g.loadArg("a"), g.loadArg("b"), g.loadArg("c")}
	n, k := g.loadArg("n"), g.loadArg("k")
	get := func(i int) reg.VecVirtual {
		v := g.v()
		g.VBROADCASTSS(at(k, 4*i), v)
		return v
	}
	base := []reg.VecVirtual{get(0), get(1), get(2)}
	g.whole(n, func() {
		var x [3]reg.VecVirtual
		for i, p := range src {
			x[i] = g.v()
			g.VPMOVZXBD(at(p, 0), x[i])
			g.VCVTDQ2PS(x[i], x[i])
			g.VSUBPS(base[i], x[i], x[i])
			g.ADDQ(imm(g.lanes), p)
		}
		for c, p := range dst {
			t, u := get(4+4*c), get(5+4*c)
			g.VMULPS(x[1], t, t)
			g.VMULPS(x[2], u, u)
			g.VADDPS(u, t, t)
			g.VADDPS(get(6+4*c), t, t)
			w := get(3 + 4*c)
			g.VMULPS(x[0], w, w)
			g.VADDPS(t, w, w)
			g.VMOVUPS(w, at(p, 0))
			g.ADDQ(imm(g.bytes()), p)
		}
	})
}

// spread doubles the first and the second bytes of pairs.
func (g *gen) spread() {
	g.text("spread", "func(u, v, pairs *uint8, n int)",
		"gives each of n pixels the two components of its pair; n is a positive multiple of 16.")
	u, v, p, n := g.loadArg("u"), g.loadArg("v"), g.loadArg("pairs"), g.loadArg("n")
	var masks [2]reg.VecVirtual
	for c, name := range []string{"spreadFirst", "spreadSecond"} {
		m := g.StaticGlobal(name)
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 16 {
			g.AddDatum(i, operand.U8(i/2*2+c))
		}
		masks[c] = g.XMM()
		g.VMOVDQU(m, masks[c])
	}
	g.Label("loop")
	x := g.XMM()
	g.VMOVDQU(at(p, 0), x)
	for c, d := range []reg.GPVirtual{u, v} {
		y := g.XMM()
		g.VPSHUFB(masks[c], x, y)
		g.VMOVDQU(y, at(d, 0))
		g.ADDQ(imm(16), d)
	}
	g.ADDQ(imm(16), p)
	g.SUBQ(imm(16), n)
	g.JG(label("loop"))
	g.ret()
}

// resizeBytes mixes with h = a<<16 + wx*(b-a) per row, of 24 bits, and of the two rows
//
//	(h0<<16 + wy*d + 2^31) >> 32 = (h0 + 2^15 + wy*(d>>16) + (wy*(d&65535))>>16) >> 16, with d = h1-h0
func (g *gen) resizeBytes(name string, comps int) {
	g.text(name, "func(dst, top, bottom *uint8, at *int32, weight *uint32, n int, wy uint32)",
		"mixes pixels of two rows with their neighbours; n is a positive multiple of 8. It loads 4 bytes at each place.")
	dst, top, bottom := g.loadArg("dst"), g.loadArg("top"), g.loadArg("bottom")
	index, weight, n := g.loadArg("at"), g.loadArg("weight"), g.loadArg("n")
	wy := g.v()
	g.VBROADCASTSS(g.arg("wy"), wy)
	low, half := g.mov(g.bcast(0xff)), g.mov(g.bcast(1<<15))
	g.Label("loop")
	i, wx := g.v(), g.v()
	g.VMOVDQU(at(index, 0), i)
	g.VMOVDQU(at(weight, 0), wx)
	var rows [2]reg.VecVirtual
	for r, p := range []reg.GPVirtual{top, bottom} {
		mask := g.v()
		rows[r] = g.v()
		g.VPXOR(rows[r], rows[r], rows[r])
		g.VPCMPEQD(mask, mask, mask)
		g.VPGATHERDD(mask, operand.Mem{Base: p, Index: i, Scale: 1}, rows[r])
	}
	field := func(x reg.VecVirtual, shift int) reg.VecVirtual {
		y := g.v()
		switch shift {
		case 0:
			g.VPAND(low, x, y)
		case 24:
			g.VPSRLD(operand.U8(24), x, y)
		default:
			g.VPSRLD(operand.U8(shift), x, y)
			g.VPAND(low, y, y)
		}
		return y
	}
	var mixed [2]reg.VecVirtual
	for c := range comps {
		var h [2]reg.VecVirtual
		for r, x := range rows {
			a, b := field(x, 8*c), field(x, 8*(c+comps))
			g.VPSUBD(a, b, b)
			g.VPMULLD(wx, b, b)
			g.VPSLLD(operand.U8(16), a, a)
			g.VPADDD(b, a, a)
			h[r] = a
		}
		d, t := g.v(), g.v()
		g.VPSUBD(h[0], h[1], d)
		g.VPMULHUW(wy, d, t) // of the low halves: the high halves of wy are 0
		g.VPSRAD(operand.U8(16), d, d)
		g.VPMULLD(wy, d, d)
		g.VPADDD(d, t, t)
		g.VPADDD(h[0], t, t)
		g.VPADDD(half, t, t)
		g.VPSRLD(operand.U8(16), t, t)
		mixed[c] = t
	}
	if comps == 2 {
		g.VPSLLD(operand.U8(8), mixed[1], mixed[1])
		g.VPOR(mixed[1], mixed[0], mixed[0])
	}
	x, y := g.XMM(), g.XMM()
	g.VEXTRACTI128(operand.U8(1), mixed[0], x)
	g.VPACKUSDW(x, mixed[0].AsX(), y)
	if comps == 1 {
		g.VPACKUSWB(y, y, y)
		g.VMOVQ(y, at(dst, 0))
	} else {
		g.VMOVDQU(y, at(dst, 0))
	}
	g.ADDQ(imm(8*comps), dst)
	g.ADDQ(imm(32), index)
	g.ADDQ(imm(32), weight)
	g.SUBQ(imm(8), n)
	g.JG(label("loop"))
	g.ret()
}
