package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// splits take groups of neighbours apart. The last groups of a row are taken with those before them once more.
func splits(g *gen) {
	if g.wide() {
		return
	}
	for _, size := range []int{1, 2, 4, 8} {
		g.split(fmt.Sprintf("split%d", size), 2, size, func(x []reg.VecVirtual) []reg.VecVirtual { return g.pairsApart(x, size) })
	}
	g.split("split4In3", 3, 4, g.triplesApart)
}

// split is a function that takes groups of k elements apart, 32 bytes of each result at once.
func (g *gen) split(name string, k, size int, apartly func(x []reg.VecVirtual) []reg.VecVirtual) {
	g.text(name, "func(dst *byte, ldd, next int, src *byte, apart, n, rows int)",
		fmt.Sprintf("writes elements of n >= %d groups of %d of %d bytes: the first of each to dst,", 32/size, k, size),
		"and others ldd bytes on each; groups of the next of rows are apart bytes on, and go next bytes on.")
	dst, ldd, src, apart, rows := g.loadArg("dst"), g.loadArg("ldd"), g.loadArg("src"), g.loadArg("apart"),
		g.loadArg("rows")
	last, i := g.GP64(), g.GP64()
	g.MOVQ(g.arg("n"), last)
	if size > 1 {
		g.SHLQ(operand.U8(map[int]uint64{2: 1, 4: 2, 8: 3}[size]), last)
	}
	g.SUBQ(imm(32), last)
	to := []reg.GPVirtual{dst}
	for range k - 1 {
		to = append(to, g.GP64())
	}
	from := g.GP64()
	part := func() {
		x := make([]reg.VecVirtual, k)
		index, scale := i, uint8(k)
		if k == 3 {
			g.LEAQ(idx(i, i, 2, 0), from)
			index, scale = from, 1
		}
		for v := range x {
			x[v] = g.v()
			g.VMOVDQU(idx(src, index, scale, 32*v), x[v])
		}
		for v, y := range apartly(x) {
			g.VMOVDQU(y, idx(to[v], i, 1, 0))
		}
	}
	g.Label("rows")
	for v := 1; v < k; v++ {
		g.LEAQ(idx(to[v-1], ldd, 1, 0), to[v])
	}
	g.XORQ(i, i)
	g.Label("parts")
	part()
	g.ADDQ(imm(32), i)
	g.CMPQ(i, last)
	g.JLE(label("parts"))
	g.MOVQ(last, i)
	part()
	g.ADDQ(apart, src)
	g.ADDQ(g.arg("next"), dst)
	g.SUBQ(imm(1), rows)
	g.JG(label("rows"))
	g.ret()
}

// pairsApart are the first and the second elements of pairs.
func (g *gen) pairsApart(x []reg.VecVirtual, size int) []reg.VecVirtual {
	first, second := g.v(), g.v()
	halves := func(shift, pack func(operand.Op, operand.Op, operand.Op), bits int) {
		h := []reg.VecVirtual{g.v(), g.v(), g.v(), g.v()}
		for v := range x {
			shift(operand.U8(bits), x[v], h[2+v])
		}
		pack(h[3], h[2], second)
		for v := range x {
			if size == 1 {
				g.VPSLLW(operand.U8(8), x[v], h[v])
				g.VPSRLW(operand.U8(8), h[v], h[v])
			} else {
				g.VPSLLD(operand.U8(16), x[v], h[v])
				g.VPSRLD(operand.U8(16), h[v], h[v])
			}
		}
		pack(h[1], h[0], first)
	}
	switch size {
	case 1:
		halves(func(a, b, c operand.Op) { g.VPSRLW(a, b, c) }, func(a, b, c operand.Op) { g.VPACKUSWB(a, b, c) }, 8)
	case 2:
		halves(func(a, b, c operand.Op) { g.VPSRLD(a, b, c) }, func(a, b, c operand.Op) { g.VPACKUSDW(a, b, c) }, 16)
	case 4:
		g.VSHUFPS(operand.U8(0x88), x[1], x[0], first)
		g.VSHUFPS(operand.U8(0xdd), x[1], x[0], second)
	default:
		g.VPUNPCKLQDQ(x[1], x[0], first)
		g.VPUNPCKHQDQ(x[1], x[0], second)
	}
	g.VPERMQ(operand.U8(0xd8), first, first)
	g.VPERMQ(operand.U8(0xd8), second, second)
	return []reg.VecVirtual{first, second}
}

// triplesApart are the elements of triples of 4 bytes. Those of one place lie in different lanes, so they are blended
// before they are put in order.
func (g *gen) triplesApart(x []reg.VecVirtual) (y []reg.VecVirtual) {
	for place := range 3 {
		var from [3]uint8
		var order [8]uint32
		for i := range 8 {
			at := 3*i + place
			from[at/8] |= 1 << (at % 8)
			order[i] = uint32(at % 8)
		}
		v := g.v()
		g.VBLENDPS(operand.U8(from[1]), x[1], x[0], v)
		g.VBLENDPS(operand.U8(from[2]), x[2], v, v)
		p := g.v()
		g.VMOVDQU(g.words(fmt.Sprintf("order%d", place), order[:]), p)
		g.VPERMPS(v, p, v)
		y = append(y, v)
	}
	return y
}

// words are 32-bit numbers in read-only memory.
func (g *gen) words(name string, v []uint32) operand.Mem {
	if m, ok := g.consts[name]; ok {
		return m
	}
	m := g.StaticGlobal(name)
	g.consts[name] = m
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, b := range v {
		g.AddDatum(4*i, operand.U32(b))
	}
	return m
}
