package main

import "fmt"

// intTile is the shape of one microkernel of 8-bit products: mr rows by nv vectors of four columns.
type intTile struct {
	mr, nv, phases int
	indirect       bool
	blocks         bool // instructions multiply two rows by two columns: int8blocks.go
}

// vectors is how many vectors of sums a tile has before phases or blocks become rows.
func (t intTile) vectors() int {
	if t.blocks {
		return (t.mr + 1) / 2 * 2 * t.nv
	}
	return t.mr * t.nv * t.phases
}

// int8gemm emits the direct or the indirect products of codes: tiles of 16 columns where an instruction adds four
// products, else of 8.
func int8gemm(g *gen, indirect bool) {
	mr, nv := 5, 4
	switch {
	case g.mixed:
		mr = 6
	case !g.dot:
		mr, nv = 4, 2
	}
	for m := 1; m <= mr; m++ {
		t := intTile{mr: m, nv: nv, phases: 1, indirect: indirect, blocks: g.mixed && m > 2}
		for g.dot && !t.blocks && m*nv*t.phases <= 8 {
			t.phases *= 2
		}
		g.intTile(t)
	}
}

// intTile emits a micro-kernel. Codes of A are unsigned, those of B signed. Without instructions for that, 128 is taken
// from A, by flipping its highest bit, and the sums begin with 128 times the sum of their column, which follows the
// words of B.
//
// Vectors with products of four: from 0 on sums [phase][row][vector]; then for each row 16 codes of A; 16 times 128;
// then two or four pairs of vectors of B. Without: 0-15 sums [row][vector][half], each lane half a column's sum;
// 16-19 for each row 16 codes of A; 20-23 two words of B for eight columns; 24, 25 words of A; 26-29 products; 30 16
// times 128. With products of two rows and two columns: int8blocks.go. The epilogue reuses what is behind the sums.
func (g *gen) intTile(t intTile) {
	name, cols := fmt.Sprintf("dot%dx%d", t.mr, 4*t.nv), 4*t.nv
	sig := "b *int8, ldb int, c *uint8, ldc int, init, factors, rows *int32, scale, add, low *float32, " +
		"zero, lo, hi, cols int)"
	doc := []string{
		fmt.Sprintf("computes blocks*%d rows by cols <= %d columns of requantized products of codes.", t.mr, cols),
		"k is in words of four codes; strides are in bytes. init, factors, add and low may be nil. Sums start with",
		"init, and factors times the number of the row.",
		"Without scale the sums are stored themselves, as float32.",
	}
	if t.indirect {
		g.function("i"+name, "func(blocks, taps, k int, tab *int32, ldt int, base, zeros *uint8, "+sig, append(doc,
			"Row i of A is taps runs: run t starts at base[tab[t][i]], or at zeros where tab[t][i] < 0.")...)
	} else {
		g.function(name, "func(blocks, k int, a *uint8, lda int, "+sig, doc...)
	}
	v := g.all()
	start, buffer := g.local(16*t.nv), g.local(16*t.nv)
	row, b, taps, tab := g.gps(t.mr), g.gp(), g.gp(), g.gp()
	narrow := g.gp() // no weight is -128
	g.intStart(t, v, start, buffer, narrow)
	g.label("block")
	n := t.mr * t.nv
	sums := v[:t.vectors()]
	switch {
	case t.blocks:
		for _, x := range sums {
			g.v("movi.16b", x, 0)
		}
	case g.dot:
		for j := range t.nv {
			g.i("FMOVQ %i(RSP), %d", start+16*j, v[j])
		}
		for i := t.nv; i < n; i++ {
			g.v("mov.16b", v[i], v[i%t.nv])
		}
		for _, x := range sums[n:] {
			g.v("movi.16b", x, 0)
		}
	default:
		sums = v[:2*n]
		for _, x := range sums {
			g.v("movi.16b", x, 0)
		}
	}
	g.argTo("b", b)
	loop := func() {
		switch {
		case t.blocks:
			g.blockLoop(t, v, row, b)
		case g.dot:
			g.dotLoop(t, v, row, b)
		default:
			g.pairLoops(t, v, row, b, narrow)
		}
	}
	if t.indirect {
		g.argTo("taps", taps)
		g.argTo("tab", tab)
		g.tapRows(row, tab, "base", "zeros", 0)
		loop()
		g.nextTap(taps, tab)
	} else {
		g.matrixRows(row)
		loop()
	}
	work := v[t.vectors():]
	switch {
	case t.blocks:
		g.blockRows(t, v, start)
	case g.dot:
		for p := t.phases / 2; p > 0; p /= 2 {
			for i := range p * n {
				g.v("add.4s", v[i], v[i], v[p*n+i])
			}
		}
	default:
		for i := range n {
			g.v("addp.4s", v[i], v[2*i], v[2*i+1])
		}
		for j := range t.nv {
			g.i("FMOVQ %i(RSP), %d", start+16*j, v[n])
			for i := range t.mr {
				g.v("add.4s", v[i*t.nv+j], v[i*t.nv+j], v[n])
			}
		}
		work = v[n:]
	}
	if len(work) > 8 {
		work = work[:8]
	}
	g.intStore(v[:n], t.nv, work, buffer)
	g.nextBlock(t.mr, t.indirect)
	g.end()
}

// intStart leaves what the sums of each column begin with at the given place: init, and 128 times the sum of the
// column, unless an instruction multiplies unsigned by signed bytes. Without products of four it says as well whether
// no weight is -128.
func (g *gen) intStart(t intTile, v [32]*reg, start, buffer int, narrow *reg) {
	init := g.arg("init")
	for j := range t.nv {
		g.v("movi.16b", v[j], 0)
	}
	g.ifZero(init, "noinit")
	g.row(t.nv, init, buffer, v[:t.nv], "init")
	g.label("noinit")
	if !g.mixed {
		g.comment("128 times the sums of the columns, which follow the words")
		b, ldb, k := g.arg("b"), g.arg("ldb"), g.arg("k")
		if t.indirect {
			taps := g.arg("taps")
			g.i("MUL %u, %u, %d", taps, k, k)
		}
		g.i("MADD %u, %u, %u, %d", k, b, ldb, b)
		sum, least := v[t.nv:2*t.nv], v[2*t.nv]
		for j := 0; j < t.nv; j += 2 {
			g.i("FLDPQ %i(%u), (%d, %d)", 16*j, b, sum[j], sum[j+1])
		}
		if !g.dot {
			g.v("orr.16b", least, sum[0], sum[1])
			g.v("shl.4s", least, least, 31)
			g.v("umaxv.4s", least, least)
			g.i("FMOVS %u, %d", least, narrow)
			g.i("CMP $0, %u", narrow)
			g.i("CSET EQ, %d", narrow)
		}
		for j, x := range sum {
			g.v("sshr.4s", x, x, 7)
			g.v("shl.4s", x, x, 7)
			g.v("add.4s", v[j], v[j], x)
		}
	}
	for j := range t.nv {
		g.i("FMOVQ %u, %i(RSP)", v[j], start+16*j)
	}
}

// dotLoop multiplies one run by products of four; the rows and b move on.
func (g *gen) dotLoop(t intTile, v [32]*reg, row []*reg, b *reg) {
	n := t.mr * t.nv * t.phases
	a := v[n : n+t.mr]
	flip := v[n+t.mr]
	turns := 2
	if 32-n-t.mr-1 >= 8 {
		turns = 4
	}
	pairs := v[n+t.mr+1 : n+t.mr+1+2*turns]
	k, ldb := g.arg("k"), g.arg("ldb")
	dot := "sdot.e"
	if g.mixed {
		dot = "sudot.e"
	} else {
		g.v("movi.16b", flip, 128)
	}
	// steps multiplies words; rows of B are stride bytes apart, ldb where it is 0.
	steps := func(words, stride int) {
		const each = 2
		fetch := func(s int) {
			if s < words*each {
				p, at := s%turns*2, s/each*stride+s%each*32
				if stride > 0 && s/each == 1 { // pairs alone would let products wait
					g.i("FMOVQ %i(%u), %d", at, b, pairs[p])
					g.i("FMOVQ %i(%u), %d", at+16, b, pairs[p+1])
				} else {
					g.i("FLDPQ %i(%u), (%d, %d)", at, b, pairs[p], pairs[p+1])
				}
				if stride == 0 && s%each == each-1 {
					g.i("ADD %u, %u, %d", ldb, b, b)
				}
			}
		}
		for s := range turns - 1 {
			fetch(s)
		}
		for _, x := range a { // between products each would wait for those before, on a processor that computes in order
			if !g.mixed {
				g.v("eor.16b", x, x, flip)
			}
		}
		for s := range words * each {
			fetch(s + turns - 1)
			u, p := s/each, s%turns*2
			for i := range t.mr {
				for h := range 2 {
					g.v(dot, v[((u%t.phases)*t.mr+i)*t.nv+s%each*2+h], pairs[p+h], a[i], u)
				}
			}
		}
	}
	g.comment("four words of k: load 16 codes of each row of A, words of B, multiply and add")
	loop := func(name string, stride int) {
		g.label(name)
		for i, r := range row {
			g.i("FMOVQ.P 16(%b), %d", r, a[i])
		}
		steps(4, stride)
		if stride > 0 {
			g.i("ADD $%i, %u, %d", 4*stride, b, b)
		}
		g.i("SUBS $4, %u, %d", k, k)
		g.jump("GE", name)
	}
	g.i("SUBS $4, %u, %d", k, k)
	g.jump("LT", "few")
	g.i("CMP $256, %u", ldb)
	g.jump("NE", "loop")
	loop("full", 256)
	g.jump("", "few")
	loop("loop", 0)
	g.label("few")
	g.i("ADDS $4, %u, %d", k, k)
	g.jump("EQ", "done")
	g.label("single")
	for i, r := range row {
		g.i("FMOVS.P 4(%b), %d", r, a[i])
	}
	steps(1, 0)
	g.i("SUBS $1, %u, %d", k, k)
	g.jump("NE", "single")
	g.label("done")
}

// pairLoops multiplies one run by products of 16 bits. Two of them are added before they are widened, unless a weight
// is -128: then the sum of two products of -128 would not fit.
func (g *gen) pairLoops(t intTile, v [32]*reg, row []*reg, b, narrow *reg) {
	a, bw, x, p, flip := v[16:16+t.mr], v[20:24], v[24:26], v[26:30], v[30]
	k, ldb := g.arg("k"), g.arg("ldb")
	g.v("movi.16b", flip, 128)
	word := func(w int) {
		g.i("FLDPQ 0(%u), (%d, %d)", b, bw[2*w], bw[2*w+1])
		g.i("ADD %u, %u, %d", ldb, b, b)
	}
	// words multiplies words u and u+1, or u alone.
	words := func(u, n int) {
		for w := range n {
			word(w)
		}
		for i := range t.mr {
			for w := range n {
				g.v("dup.4s", x[w], a[i], u+w)
			}
			for w, op := range []string{"smull", "smlal"}[:n] {
				for j := range 2 {
					g.v(op+".8h", p[2*j], bw[2*w+j], x[w])
					g.v(op+"2.8h", p[2*j+1], bw[2*w+j], x[w])
				}
			}
			for j := range 4 {
				g.v("sadalp.4s", v[4*i+j], p[j])
			}
		}
	}
	load := func() {
		for i, r := range row {
			g.i("FMOVQ.P 16(%b), %d", r, a[i])
		}
		for _, y := range a {
			g.v("eor.16b", y, y, flip)
		}
	}
	g.comment("four words of k: load 16 codes of each row of A, words of B, multiply, add neighbours")
	g.i("SUBS $4, %u, %d", k, k)
	g.jump("LT", "few")
	g.ifZero(narrow, "wide")
	g.label("loop")
	load()
	words(0, 2)
	words(2, 2)
	g.i("SUBS $4, %u, %d", k, k)
	g.jump("GE", "loop")
	g.jump("", "few")
	g.label("wide")
	load()
	for u := range 4 {
		words(u, 1)
	}
	g.i("SUBS $4, %u, %d", k, k)
	g.jump("GE", "wide")
	g.label("few")
	g.i("ADDS $4, %u, %d", k, k)
	g.jump("EQ", "done")
	g.label("single")
	for i, r := range row {
		g.i("FMOVS.P 4(%b), %d", r, a[i])
		g.v("eor.16b", a[i], a[i], flip)
	}
	words(0, 1)
	g.i("SUBS $1, %u, %d", k, k)
	g.jump("NE", "single")
	g.label("done")
}
