package main

import "fmt"

// tile is the shape of one GEMM microkernel: mr rows by nv vectors.
type tile struct {
	mr, nv   int
	phases   int // sets of sums taking turns over k, to hide latency when mr*nv is small
	indirect bool
}

// gemm emits the direct or the indirect micro-kernels of nv vectors with every row count up to the full tile: 5 rows
// of 16 columns or 8 of 8, which leave registers to load B ahead of its use.
func gemm(g *gen, nv int, indirect bool) {
	if g.isa != neon {
		return
	}
	for m := 1; m <= map[int]int{2: 8, 4: 5}[nv]; m++ {
		t := tile{mr: m, nv: nv, indirect: indirect, phases: 1}
		for _, p := range []int{2, 4} {
			if m*nv*p <= 16 {
				t.phases = p
			}
		}
		g.gemmTile(t)
	}
}

// gemmTile emits a micro-kernel. Vectors: from 0 on sums [phase][row][vector]; then for each row four values of A; then
// pairs of vectors of B, two or four of them, which take turns. The epilogue reuses what is behind the sums: the
// first one a bias, a residual or a limit.
func (g *gen) gemmTile(t tile) {
	name := fmt.Sprintf("gemm%dx%d", t.mr, 4*t.nv)
	sig := "b *float32, ldb int, c *float32, ldc int, bias, res *float32, ldr int, lo, hi float32, cols, after int, " +
		"next *float32, step int)"
	doc := []string{
		fmt.Sprintf("computes blocks*%d rows by cols <= %d columns of C = clamp(A*B + bias + res).", t.mr, 4*t.nv),
		"Strides are in bytes, ldb is 64 or 128. bias and res may be nil. after != 0 adds res after the clamp.",
		"Every four steps of k fetch a line of next into the second-level cache and move step bytes on.",
	}
	if t.indirect {
		g.function("i"+name, "func(blocks, taps, k int, tab *int32, ldt int, base, zero *float32, "+sig, append(doc,
			"Row i of A is taps runs of k values: run t starts at base[tab[t][i]], or at zero where tab[t][i] < 0.")...)
	} else {
		g.function(name, "func(blocks, k int, a *float32, lda int, "+sig, doc...)
	}
	v := g.all()
	sums := t.mr * t.nv * t.phases
	row, b, next := g.gps(t.mr), g.gp(), g.arg("next")
	taps, tab := g.gp(), g.gp()
	g.comment("vectors: 0-%d sums [phase][row][vector]; %d-%d values of A; from there on rows of B", sums-1, sums,
		sums+t.mr-1)
	g.label("block")
	for i := range sums {
		g.v("movi.16b", v[i], 0)
	}
	g.argTo("b", b)
	if t.indirect {
		g.argTo("taps", taps)
		g.argTo("tab", tab)
		g.ifZero(taps, "epilogue")
		g.tapRows(row, tab, "base", "zero", 2)
		g.gemmLoop(t, v, row, b, next)
		g.nextTap(taps, tab)
	} else {
		g.matrixRows(row)
		g.gemmLoop(t, v, row, b, next)
	}
	g.label("epilogue")
	g.gemmEpilogue(t, v)
	g.nextBlock(t.mr, t.indirect)
	g.end()
}

// tapRows begins a tap: row gets its runs, which begin at an argument plus the table's entries shifted, or at another
// argument where an entry is negative.
func (g *gen) tapRows(row []*reg, tab *reg, from, zeros string, shift int) {
	g.comment("rows of this tap")
	g.label("tap")
	base, zero := g.arg(from), g.arg(zeros)
	for i, r := range row {
		g.i("MOVW %i(%u), %d", 4*i, tab, r)
		g.i("CMP $0, %u", r)
		at := g.gp()
		g.i("ADD %u<<%i, %u, %d", r, shift, base, at)
		g.i("CSEL LT, %u, %u, %d", zero, at, r)
	}
}

// nextTap goes on with the next tap of the rows.
func (g *gen) nextTap(taps, tab *reg) {
	ldt := g.arg("ldt")
	g.i("ADD %u, %u, %d", ldt, tab, tab)
	g.i("SUB $1, %u, %d", taps, taps)
	g.ifNot(taps, "tap")
}

// matrixRows begins a block of rows of A: row gets them.
func (g *gen) matrixRows(row []*reg) {
	g.argTo("a", row[0])
	if len(row) > 1 {
		lda := g.arg("lda")
		for i, r := range row[1:] {
			g.i("ADD %u, %u, %d", lda, row[i], r)
		}
	}
}

// nextBlock moves on to the next block of rows, if there is one.
func (g *gen) nextBlock(mr int, indirect bool) {
	if indirect {
		tab := g.arg("tab")
		g.i("ADD $%i, %u, %d", 4*mr, tab, tab)
		g.setArg("tab", tab)
	} else {
		a, lda, n := g.arg("a"), g.arg("lda"), g.gp()
		g.i("MOVD $%i, %d", mr, n)
		g.i("MADD %u, %u, %u, %d", n, a, lda, a)
		g.setArg("a", a)
	}
	blocks := g.arg("blocks")
	g.i("SUB $1, %u, %d", blocks, blocks)
	g.setArg("blocks", blocks)
	g.ifNot(blocks, "block")
}

// gemmLoop multiplies one run; the rows and b move on. Rows of B are 128 bytes apart, or 64.
func (g *gen) gemmLoop(t tile, v [32]*reg, row []*reg, b, next *reg) {
	sums := t.mr * t.nv * t.phases
	a := v[sums : sums+t.mr]
	turns := 2
	if 32-sums-t.mr >= 8 {
		turns = 4
	}
	pairs := v[sums+t.mr : sums+t.mr+2*turns]
	k, step, ldb := g.arg("k"), g.arg("step"), g.arg("ldb")
	steps := func(n, stride int) { // of k; A is loaded
		each := t.nv / 2
		fetch := func(s int) {
			if s < n*each {
				p := s % turns * 2
				g.i("FLDPQ %i(%u), (%d, %d)", s/each*stride+s%each*32, b, pairs[p], pairs[p+1])
			}
		}
		for s := range turns - 1 {
			fetch(s)
		}
		for s := range n * each {
			fetch(s + turns - 1)
			u, p := s/each, s%turns*2
			for i := range t.mr {
				for h := range 2 {
					sum := ((u%t.phases)*t.mr+i)*t.nv + s%each*2 + h
					g.v("fmla.e", v[sum], pairs[p+h], a[i], u)
				}
			}
		}
		g.i("ADD $%i, %u, %d", n*stride, b, b)
	}
	loops := func(stride int) {
		s := fmt.Sprint(stride)
		g.i("SUBS $4, %u, %d", k, k)
		g.jump("LT", "rest"+s)
		g.label("loop" + s)
		for i, r := range row {
			g.i("FMOVQ.P 16(%b), %d", r, a[i])
		}
		g.i("PRFM (%u), PLDL2KEEP", next)
		g.i("ADD %u, %u, %d", step, next, next)
		steps(4, stride)
		g.i("SUBS $4, %u, %d", k, k)
		g.jump("GE", "loop"+s)
		g.label("rest" + s)
		g.i("ADDS $4, %u, %d", k, k)
		g.jump("EQ", "done")
		g.label("single" + s)
		for i, r := range row {
			g.i("FMOVS.P 4(%b), %d", r, a[i])
		}
		steps(1, stride)
		g.i("SUBS $1, %u, %d", k, k)
		g.jump("NE", "single"+s)
	}
	g.comment("four steps of k: load four values of each row of A, rows of B, multiply and add")
	g.i("CMP $64, %u", ldb)
	g.jump("EQ", "narrow")
	loops(128)
	g.jump("", "done")
	g.label("narrow")
	loops(64)
	g.label("done")
}

// gemmEpilogue adds the phases, bias and residual, clamps and stores one block; c and res move on in their argument
// slots. Infinite bounds change nothing.
func (g *gen) gemmEpilogue(t tile, v [32]*reg) {
	n := t.mr * t.nv
	for p := t.phases / 2; p > 0; p /= 2 {
		for i := range p * n {
			g.v("fadd.4s", v[i], v[i], v[p*n+i])
		}
	}
	buffer := g.local(16 * t.nv)
	work := v[n : n+t.nv]
	bias := g.arg("bias")
	g.ifZero(bias, "nobias")
	g.row(t.nv, bias, buffer, work, "bias")
	for i := range n {
		g.v("fadd.4s", v[i], v[i], work[i%t.nv])
	}
	g.label("nobias")
	res, after, ldr := g.arg("res"), g.arg("after"), g.arg("ldr")
	residual := func(s string) {
		for i := range t.mr {
			g.row(t.nv, res, buffer, work, fmt.Sprint("res", s, i))
			for j := range t.nv {
				g.v("fadd.4s", v[i*t.nv+j], v[i*t.nv+j], work[j])
			}
			g.i("ADD %u, %u, %d", ldr, res, res)
		}
		g.setArg("res", res)
	}
	g.ifZero(res, "clamp")
	g.ifNot(after, "clamp")
	residual("before")
	g.label("clamp")
	g.limit("lo", 0xff800000, "fmax.4s", v[:n], work[0])
	g.limit("hi", 0x7f800000, "fmin.4s", v[:n], work[0])
	g.argTo("res", res)
	g.ifZero(res, "store")
	g.ifZero(after, "store")
	residual("after")
	g.label("store")
	g.storeRows(t.mr, t.nv, v[:n], buffer)
}

// limit applies a bound unless it is the given infinity.
func (g *gen) limit(name string, none uint32, op string, v []*reg, work *reg) {
	_, slot := g.slot(name)
	bits, infinity := g.gp(), g.gp()
	g.i("MOVWU "+slot+", %d", bits)
	g.i("MOVD $%i, %d", none, infinity)
	g.i("CMP %u, %u", bits, infinity)
	g.jump("EQ", "no"+name)
	g.i("FMOVS "+slot+", %d", work)
	g.v("dup.4s", work, work, 0)
	for _, x := range v {
		g.v(op, x, x, work)
	}
	g.label("no" + name)
}

// row loads a row of nv vectors, of which argument cols says how many values there are; p stays.
func (g *gen) row(nv int, p *reg, buffer int, to []*reg, name string) {
	cols := g.arg("cols")
	g.i("CMP $%i, %u", 4*nv, cols)
	g.jump("EQ", "whole"+name)
	from, at, x := g.gp(), g.gp(), g.gp()
	g.i("MOVD %u, %d", p, from)
	g.i("ADD $%i, RSP, %d", buffer, at)
	g.label("copy" + name)
	g.i("MOVWU.P 4(%b), %d", from, x)
	g.i("MOVW.P %u, 4(%b)", x, at)
	g.i("SUB $1, %u, %d", cols, cols)
	g.ifNot(cols, "copy"+name)
	for j := range nv {
		g.i("FMOVQ %i(RSP), %d", buffer+16*j, to[j])
	}
	g.jump("", "loaded"+name)
	g.label("whole" + name)
	for j := 0; j < nv; j += 2 {
		g.i("FLDPQ %i(%u), (%d, %d)", 16*j, p, to[j], to[j+1])
	}
	g.label("loaded" + name)
}

// storeRows stores rows of vectors from argument c on, which moves on, as many values of each as argument cols says.
func (g *gen) storeRows(mr, nv int, v []*reg, buffer int) {
	c, ldc, cols := g.arg("c"), g.arg("ldc"), g.arg("cols")
	g.i("CMP $%i, %u", 4*nv, cols)
	g.jump("NE", "ragged")
	for i := range mr {
		for j := 0; j < nv; j += 2 {
			g.i("FSTPQ (%u, %u), %i(%u)", v[i*nv+j], v[i*nv+j+1], 16*j, c)
		}
		g.i("ADD %u, %u, %d", ldc, c, c)
	}
	g.jump("", "stored")
	g.label("ragged")
	from, to, x, n := g.gp(), g.gp(), g.gp(), g.gp()
	for i := range mr {
		name := fmt.Sprint("value", i)
		for j := range nv {
			g.i("FMOVQ %u, %i(RSP)", v[i*nv+j], buffer+16*j)
		}
		g.i("ADD $%i, RSP, %d", buffer, from)
		g.i("MOVD %u, %d", c, to)
		g.i("MOVD %u, %d", cols, n)
		g.label(name)
		g.i("MOVWU.P 4(%b), %d", from, x)
		g.i("MOVW.P %u, 4(%b)", x, to)
		g.i("SUB $1, %u, %d", n, n)
		g.ifNot(n, name)
		g.i("ADD %u, %u, %d", ldc, c, c)
	}
	g.label("stored")
	g.setArg("c", c)
}
