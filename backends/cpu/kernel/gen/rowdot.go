package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowDot emits dot products of m rows of A with r rows of W at a time.
func rowDot(g *gen) {
	for _, m := range []int{1, 2, 4} {
		r := 4
		if m == 4 && !g.wide() {
			r = 2
		}
		g.dotTile(m, r)
		g.dotTile(m, 1)
	}
}

func (g *gen) dotTile(m, r int) {
	g.text(fmt.Sprintf("rowDot%dx%d", m, r), "func(groups, k int, a *float32, lda int, w *float32, ldw int, c *float32, ldc int)",
		fmt.Sprintf("computes C[i][j] = A[i]*W[j] for %d rows of A and groups*%d rows of W; groups > 0, strides in bytes.", m, r))
	groups := g.loadArg("groups")
	a, w := make([]reg.GPVirtual, m), make([]reg.GPVirtual, r)
	for i := range a {
		a[i] = g.GP64()
	}
	for j := range w {
		w[j] = g.GP64()
	}
	c := g.loadArg("c")
	k := g.GP64()
	g.Label("group")
	g.MOVQ(g.arg("a"), a[0])
	for i := 1; i < m; i++ {
		g.MOVQ(a[i-1], a[i])
		g.ADDQ(g.arg("lda"), a[i])
	}
	g.MOVQ(g.arg("w"), w[0])
	for j := 1; j < r; j++ {
		g.MOVQ(w[j-1], w[j])
		g.ADDQ(g.arg("ldw"), w[j])
	}
	{
		next := g.GP64()
		g.MOVQ(w[r-1], next)
		g.ADDQ(g.arg("ldw"), next)
		g.MOVQ(next, g.arg("w"))
	}
	phases := 1
	if m*r <= 4 {
		phases = 2
	}
	g.Commentf("vectors: 0-%d sums [phase][row of A][row of W]", phases*m*r-1)
	acc := g.vec[:phases*m*r] // low registers, which the horizontal sums need
	for _, v := range acc {
		g.zero(v)
	}
	g.MOVQ(g.arg("k"), k)
	ptrs := append(append([]reg.GPVirtual{}, a...), w...)
	g.stream(k, phases, ptrs, func(d int, masked bool) {
		p := d / g.bytes()
		x := make([]reg.VecVirtual, m)
		for i := range x {
			x[i] = g.get(at(a[i], d), masked)
		}
		for j := range w {
			switch {
			case m == 1 && !masked:
				g.VFMADD231PS(at(w[j], d), x[0], acc[p*m*r+j])
			default:
				y := g.get(at(w[j], d), masked)
				for i := range x {
					g.VFMADD231PS(y, x[i], acc[p*m*r+i*r+j])
				}
			}
		}
	})
	if phases == 2 {
		for i := range m * r {
			g.VADDPS(acc[m*r+i], acc[i], acc[i])
		}
	}
	g.Comment("horizontal sums")
	o := g.GP64()
	g.MOVQ(c, o)
	for i := range m {
		s := acc[i*r:][:r]
		for _, v := range s {
			g.narrow(v)
		}
		h := func(x, y reg.VecPhysical) reg.VecPhysical {
			g.VHADDPS(y.AsX(), x.AsX(), x.AsX())
			return x
		}
		switch r {
		case 4:
			g.VMOVUPS(h(h(s[0], s[1]), h(s[2], s[3])).AsX(), at(o, 0))
		case 2:
			v := h(s[0], s[1])
			g.VMOVLPS(h(v, v).AsX(), at(o, 0))
		case 1:
			v := h(s[0], s[0])
			g.VMOVSS(h(v, v).AsX(), at(o, 0))
		}
		if i < m-1 {
			g.ADDQ(g.arg("ldc"), o)
		}
	}
	g.ADDQ(imm(4*r), c)
	g.SUBQ(operand.Imm(1), groups)
	g.JNZ(label("group"))
	g.ret()
}

// narrow adds the parts of v down to its first four lanes.
func (g *gen) narrow(v reg.VecPhysical) {
	h, x := g.YMM(), g.XMM()
	if g.wide() {
		g.VEXTRACTF64X4(operand.U8(1), v, h)
		g.VADDPS(h, v.AsY(), v.AsY())
		g.VEXTRACTF32X4(operand.U8(1), v.AsY(), x)
	} else {
		g.VEXTRACTF128(operand.U8(1), v, x)
	}
	g.VADDPS(x, v.AsX(), v.AsX())
}
