package main

import "fmt"

// copies merge and enlarge rows of elements, and transpose blocks.
func copies(g *gen) {
	if g.isa != neon {
		return
	}
	for i := range shapes {
		g.merge(i)
	}
	for i := range shapes {
		g.enlarge(i)
	}
	g.copyRows()
	g.split4()
	g.blocks("transpose1", 16, 16, 0)
	g.blocks("transpose2", 8, 16, 1)
	g.blocks("transpose8bytes", 4, 4, 3)
}

// merge makes one row of two, of which elements take turns.
func (g *gen) merge(size int) {
	g.function(fmt.Sprintf("merge%d", 1<<size), "func(dst, a, b *byte, n int)",
		fmt.Sprintf("lets elements of %d bytes of a and b take turns, n bytes of each, a multiple of %d.", 1<<size, pairStep))
	dst, a, b, n := g.arg("dst"), g.arg("a"), g.arg("b"), g.arg("n")
	g.whole(n, 16, func() {
		x, y := g.next(a)(), g.next(b)()
		g.i("FSTPQ.P (%u, %u), 32(%b)", g.op("zip1."+shapes[size], x, y), g.op("zip2."+shapes[size], x, y), dst)
	})
}

// enlarge makes two rows of each, in which each element is twice. The rest of a row is made with the elements before it
// once more.
func (g *gen) enlarge(size int) {
	g.function(fmt.Sprintf("enlarge%d", 1<<size), "func(dst, src *byte, n, rows int)",
		fmt.Sprintf("is [Enlarge] on rows of n >= 16 bytes of elements of %d bytes.", 1<<size))
	dst, src, n, rows := g.arg("dst"), g.arg("src"), g.arg("n"), g.arg("rows")
	last, k, below, from, to := g.gp(), g.gp(), g.gp(), g.gp(), g.gp()
	g.i("SUB $16, %u, %d", n, last)
	part := func() {
		x := g.vec()
		g.i("ADD %u, %u, %d", k, src, from)
		g.load(4, from, 0, x)
		low, high := g.op("zip1."+shapes[size], x, x), g.op("zip2."+shapes[size], x, x)
		for _, row := range []*reg{dst, below} {
			g.i("ADD %u<<1, %u, %d", k, row, to)
			g.i("FSTPQ (%u, %u), (%u)", low, high, to)
		}
	}
	g.label("row")
	g.i("ADD %u<<1, %u, %d", n, dst, below)
	g.i("MOVD $0, %d", k)
	g.label("parts")
	part()
	g.i("ADD $16, %u, %d", k, k)
	g.i("CMP %u, %u", last, k)
	g.jump("LE", "parts")
	g.i("MOVD %u, %d", last, k)
	part()
	g.i("ADD %u, %u, %d", n, src, src)
	g.i("ADD %u<<1, %u, %d", n, below, dst)
	g.i("SUB $1, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

// copyRows copies rows of 32 bytes and more. The rest of a row is copied with the bytes before it once more.
func (g *gen) copyRows() {
	g.function("copyRows", "func(dst *byte, ldd int, src *byte, lds, n, rows int)",
		"copies rows of n >= 32 bytes; strides in bytes.")
	dst, ldd, src, lds, rows := g.arg("dst"), g.arg("ldd"), g.arg("src"), g.arg("lds"), g.arg("rows")
	last, left, from, to, a, b := g.arg("n"), g.gp(), g.gp(), g.gp(), g.vec(), g.vec()
	g.i("SUB $32, %u, %d", last, last)
	g.label("row")
	g.i("MOVD %u, %d", src, from)
	g.i("MOVD %u, %d", dst, to)
	g.i("MOVD %u, %d", last, left)
	g.i("CMP $0, %u", left)
	g.jump("EQ", "rest")
	g.label("parts")
	g.i("FLDPQ.P 32(%b), (%d, %d)", from, a, b)
	g.i("FSTPQ.P (%u, %u), 32(%b)", a, b, to)
	g.i("SUBS $32, %u, %d", left, left)
	g.jump("GT", "parts")
	g.label("rest")
	g.i("ADD %u, %u, %d", last, src, from)
	g.i("ADD %u, %u, %d", last, dst, to)
	g.i("FLDPQ (%u), (%d, %d)", from, a, b)
	g.i("FSTPQ (%u, %u), (%u)", a, b, to)
	g.i("ADD %u, %u, %d", lds, src, src)
	g.i("ADD %u, %u, %d", ldd, dst, dst)
	g.i("SUB $1, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

// split4 takes pairs of 4 bytes apart. The last of a row are taken with the pairs before them once more.
func (g *gen) split4() {
	g.function("split4", "func(dst *byte, ldd, next int, src *byte, apart, n, rows int)",
		"writes the first of n >= 8 pairs of 4 bytes to dst and the second ones ldd bytes on; the pairs of the next of rows",
		"are apart bytes on, and go next bytes on.")
	dst, ldd, next, src, apart := g.arg("dst"), g.arg("ldd"), g.arg("next"), g.arg("src"), g.arg("apart")
	rows, last, k, from, to := g.arg("rows"), g.arg("n"), g.gp(), g.gp(), g.gp()
	g.i("SUB $4, %u, %d", last, last)
	part := func() {
		x, y := g.vec(), g.vec()
		g.i("ADD %u<<3, %u, %d", k, src, from)
		g.i("FLDPQ (%u), (%d, %d)", from, x, y)
		g.i("ADD %u<<2, %u, %d", k, dst, to)
		g.store(4, g.op("uzp1.4s", x, y), to, 0)
		g.i("ADD %u, %u, %d", ldd, to, to)
		g.store(4, g.op("uzp2.4s", x, y), to, 0)
	}
	g.label("row")
	g.i("MOVD $0, %d", k)
	g.label("parts")
	part()
	g.i("ADD $4, %u, %d", k, k)
	g.i("CMP %u, %u", last, k)
	g.jump("LE", "parts")
	g.i("MOVD %u, %d", last, k)
	part()
	g.i("ADD %u, %u, %d", apart, src, src)
	g.i("ADD %u, %u, %d", next, dst, dst)
	g.i("SUB $1, %u, %d", rows, rows)
	g.ifNot(rows, "row")
	g.end()
}

// blocks is a transposition by blocks of rows and cols elements, whose size is given by its logarithm. A block is made
// of squares of as many vectors as a vector has elements: neighbours in distances that double exchange halves.
func (g *gen) blocks(name string, rows, cols, size int) {
	g.function(name, "func(dst *byte, ldd int, src *byte, lds, rows, cols int)",
		fmt.Sprintf("is the transpose of src [rows, cols], multiples of %d and %d, of elements of %d bytes; strides are "+
			"in bytes.", rows, cols, 1<<size))
	dst, ldd, src, lds, n := g.arg("dst"), g.arg("ldd"), g.arg("src"), g.arg("lds"), g.arg("cols")
	lanes, from, to, left, p := 16>>size, g.gp(), g.gp(), g.gp(), g.gp()
	g.label("cols")
	g.i("MOVD %u, %d", src, from)
	g.i("MOVD %u, %d", dst, to)
	g.argTo("rows", left)
	g.label("rows")
	v := g.vecs(lanes)
	for _, x := range v {
		g.loadStep(4, from, lds, x)
	}
	for i := size; i < 4; i++ {
		step := 1 << (i - size)
		for j := range v {
			if j&step == 0 {
				a, b := v[j], v[j+step]
				v[j], v[j+step] = g.op("trn1."+shapes[i], a, b), g.op("trn2."+shapes[i], a, b)
			}
		}
	}
	g.i("MOVD %u, %d", to, p)
	for _, x := range v {
		g.storeStep(4, x, p, ldd)
	}
	g.i("ADD $16, %u, %d", to, to)
	g.i("SUBS $%i, %u, %d", lanes, left, left)
	g.jump("GT", "rows")
	g.i("ADD $16, %u, %d", src, src)
	g.i("MOVD $%i, %d", lanes, p)
	g.i("MADD %u, %u, %u, %d", p, dst, ldd, dst)
	g.i("SUBS $%i, %u, %d", lanes, n, n)
	g.jump("GT", "cols")
	g.end()
}
