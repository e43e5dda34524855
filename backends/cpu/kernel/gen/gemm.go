package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile is the shape of one GEMM microkernel: mr rows by nv vectors.
type tile struct {
	mr, nv   int
	phases   int // accumulator sets taking turns over k, to hide latency when mr*nv is small
	indirect bool
}

// gemm emits the direct or the indirect micro-kernels of nv vectors with every row count up to the full tile. Four
// vectors are two panels of AVX-512. They are one panel of AVX2, for one and two rows: these are bound by reading B,
// and so B is read in order.
func gemm(g *gen, nv int, indirect bool) {
	mr := 6
	switch {
	case g.wide():
		mr = 8
	case nv == 4 && indirect:
		return
	case nv == 4:
		mr = 2
	}
	for m := 1; m <= mr && m*nv <= 24; m++ {
		t := tile{mr: m, nv: nv, indirect: indirect, phases: 1}
		for _, p := range []int{2, 4} {
			if m*nv*p <= len(g.vec)/2 && m <= 4 || nv == 1 && m > 4 && m*p <= len(g.vec)-4 {
				t.phases = p
			}
		}
		g.gemmTile(t)
	}
}

// gemmTile emits a micro-kernel. Vectors, n being their number: from 0 on sums [phase][row][vector]; the nv before n-2
// one row of B; n-2, n-1 values of A. The epilogue reuses the last four: n-4 a limit; n-2 bias or residual; n-1 the
// mask of AVX2.
func (g *gen) gemmTile(t tile) {
	name := fmt.Sprintf("gemm%dx%d", t.mr, t.nv*g.lanes)
	sig := "b *float32, ldb int, c *float32, ldc int, bias, res *float32, ldr int, lo, hi float32, cols, after int, " +
		"next *float32, step int)"
	doc := []string{
		fmt.Sprintf("computes blocks*%d rows by cols <= %d columns of C = clamp(A*B + bias + res).", t.mr, t.nv*g.lanes),
		"Strides are in bytes. bias and res may be nil. after != 0 adds res after the clamp.",
		"Every four steps of k fetch a line of next for each 32 columns into the second-level cache and move step bytes on.",
	}
	if t.indirect {
		g.text("i"+name, "func(blocks, taps, k int, tab *int32, ldt int, base, zero *float32, "+sig, append(doc,
			"Row i of A is taps runs of k values: run t starts at base[tab[t][i]], or at zero where tab[t][i] < 0.")...)
	} else {
		g.text(name, "func(blocks, k int, a *float32, lda int, "+sig, doc...)
	}
	n := len(g.vec)
	g.Commentf("vectors: 0-%d sums [phase][row][vector]; %d-%d one row of B; %d-%d values of A; the epilogue reuses the "+
		"last four",
		t.mr*t.nv*t.phases-1, n-4, n-3, n-2, n-1)
	row := make([]reg.GPVirtual, t.mr)
	for i := range row {
		row[i] = g.GP64()
	}
	b, b2, ix, next := g.GP64(), g.GP64(), g.GP64(), g.loadArg("next")
	var taps operand.Mem
	if t.indirect { // run ends, so that the index counts up to zero
		taps = g.AllocLocal(8)
		k := g.loadArg("k")
		g.SHLQ(operand.U8(2), k)
		g.ADDQ(k, g.arg("base"))
		g.ADDQ(k, g.arg("zero"))
	}

	g.Comment("one block of rows")
	g.Label("block")
	for i := range t.mr * t.nv * t.phases {
		g.zero(g.vec[i])
	}
	g.MOVQ(g.arg("b"), b)
	if t.nv == 4 && g.wide() {
		g.MOVQ(g.arg("ldb"), b2)
		g.ADDQ(b, b2)
	}
	if t.indirect {
		n, tab := g.loadArg("taps"), g.loadArg("tab")
		g.TESTQ(n, n)
		g.JZ(label("epilogue"))
		g.MOVQ(n, taps)
		g.tapRows(row, tab, "zero", 4)
		g.runLength(ix)
		g.gemmLoop(t, row, b, b2, ix, next)
		g.ADDQ(g.arg("ldt"), tab)
		g.SUBQ(operand.Imm(1), taps)
		g.JNZ(label("tap"))
	} else {
		lda := g.matrixRows(row, ix)
		g.gemmLoop(t, row, b, b2, ix, next)
		g.IMUL3Q(operand.Imm(uint64(t.mr)), lda, lda)
		g.ADDQ(lda, g.arg("a"))
	}
	g.Comment("phases, bias, residual, clamp, store; c and res move on in their argument slots")
	g.Label("epilogue")
	g.gemmEpilogue(t)
	if t.indirect {
		g.ADDQ(operand.Imm(uint64(4*t.mr)), g.arg("tab"))
	}
	g.SUBQ(operand.Imm(1), g.arg("blocks"))
	g.JNZ(label("block"))
	g.ret()
}

// tapRows begins a tap: row gets its runs, which begin at argument base plus the table's entries of size bytes each, or
// at the argument that zeros names where an entry is negative. With both arguments a run length ahead, row gets the
// ends of the runs.
func (g *gen) tapRows(row []reg.GPVirtual, tab reg.GPVirtual, zeros string, size uint8) {
	g.Comment("rows of this tap")
	g.Label("tap")
	base, zero := g.loadArg("base"), g.loadArg(zeros)
	for i := range row {
		g.MOVLQSX(at(tab, 4*i), row[i])
		g.TESTQ(row[i], row[i])
		g.LEAQ(idx(base, row[i], size, 0), row[i])
		g.CMOVQLT(zero, row[i])
	}
}

// runLength has ix count from minus the run length.
func (g *gen) runLength(ix reg.GPVirtual) {
	g.MOVQ(g.arg("k"), ix)
	g.NEGQ(ix)
}

// matrixRows begins a block of rows of A: row gets their ends, and ix counts from minus their length in steps of four
// bytes. It returns the stride of A.
func (g *gen) matrixRows(row []reg.GPVirtual, ix reg.GPVirtual) (lda reg.GPVirtual) {
	lda = g.loadArg("lda")
	g.MOVQ(g.arg("k"), ix)
	g.MOVQ(g.arg("a"), row[0])
	g.LEAQ(idx(row[0], ix, 4, 0), row[0])
	for i := 1; i < len(row); i++ {
		g.LEAQ(idx(row[i-1], lda, 1, 0), row[i])
	}
	g.NEGQ(ix)
	return lda
}

// gemmLoop multiplies one run: ix counts from minus the run length to zero,
// row holds the ends of the rows' runs, b moves on.
func (g *gen) gemmLoop(t tile, row []reg.GPVirtual, b, b2, ix, next reg.GPVirtual) {
	n := len(g.vec)
	bv := g.vec[n-2-t.nv : n-2]
	var ldb reg.GPVirtual
	if !g.wide() {
		ldb = g.loadArg("ldb")
	}
	step := func(u int) {
		for j := range t.nv {
			switch d := j * g.bytes(); {
			case !g.wide():
				g.VMOVUPS(at(b, d), bv[j])
			case t.nv == 4:
				g.VMOVUPS(at([]reg.GPVirtual{b, b2}[j/2], j%2*g.bytes()+u*2*g.bytes()), bv[j])
			default:
				g.VMOVUPS(at(b, d+u*t.nv*g.bytes()), bv[j])
			}
		}
		if !g.wide() {
			g.ADDQ(ldb, b)
		}
		for i := range t.mr {
			acc := ((u%t.phases)*t.mr + i) * t.nv
			m := idx(row[i], ix, 4, 4*u)
			if g.wide() && t.nv == 1 {
				g.VFMADD231PS_BCST(m, bv[0], g.vec[acc])
				continue
			}
			s := g.vec[n-2+i%2]
			g.VBROADCASTSS(m, s)
			for j := range t.nv {
				g.VFMADD231PS(bv[j], s, g.vec[acc+j])
			}
		}
	}
	advance := func(steps int) {
		if g.wide() {
			g.ADDQ(imm(steps*min(2, t.nv)*g.bytes()), b)
			if t.nv == 4 {
				g.ADDQ(imm(steps*2*g.bytes()), b2)
			}
		}
		g.ADDQ(imm(steps), ix)
	}
	const unroll = 4
	loop := func(name string, prefetch bool) {
		g.Label(name)
		for u := range max(1, t.nv*g.lanes/32) {
			g.PREFETCHT1(at(next, 64*u))
		}
		g.ADDQ(g.arg("step"), next)
		for u := range unroll {
			if prefetch && !g.wide() {
				for line := 0; line < t.nv*g.bytes(); line += 64 {
					g.PREFETCHT0(at(b, 2048+line))
				}
			}
			step(u)
		}
		advance(unroll)
		g.CMPQ(ix, imm(-unroll))
		g.JLE(label(name))
	}
	g.Comment("four steps of k: load a row of B, broadcast each row of A, multiply and add")
	g.CMPQ(ix, imm(-unroll))
	g.JGT(label("rest"))
	switch {
	case t.mr <= 4: // bound by reading B
		loop("loop", true)
	case !g.wide():
		loop("loop", false)
	default: // a long run of B comes from beyond the first-level cache
		loop("loop", false)
	}
	g.Label("rest")
	g.TESTQ(ix, ix)
	g.JZ(label("done"))
	g.Comment("the last one to three steps")
	g.Label("single")
	step(0)
	advance(1)
	g.JNZ(label("single"))
	g.Label("done")
}

// gemmEpilogue adds the phases, bias and residual, clamps and stores one block. Infinite bounds change nothing.
func (g *gen) gemmEpilogue(t tile) {
	n := len(g.vec)
	acc := func(i, j int) reg.VecPhysical { return g.vec[i*t.nv+j] }
	for p := t.phases / 2; p > 0; p /= 2 {
		for i := range p * t.mr * t.nv {
			g.VADDPS(g.vec[p*t.mr*t.nv+i], g.vec[i], g.vec[i])
		}
	}
	cols := g.loadArg("cols")
	if t.nv > 1 {
		g.SUBQ(imm((t.nv-1)*g.lanes), cols)
	}
	g.tail(cols)
	last := func(j int) bool { return j == t.nv-1 }
	tmp := g.vec[n-2]

	bias := g.loadArg("bias")
	g.TESTQ(bias, bias)
	g.JZ(label("nobias"))
	for j := range t.nv {
		g.loadMaybe(last(j), at(bias, j*g.bytes()), tmp)
		for i := range t.mr {
			g.VADDPS(tmp, acc(i, j), acc(i, j))
		}
	}
	g.Label("nobias")

	residual := func() {
		res, ldr := g.loadArg("res"), g.loadArg("ldr")
		for i := range t.mr {
			for j := range t.nv {
				m := at(res, j*g.bytes())
				switch {
				case !last(j):
					g.VADDPS(m, acc(i, j), acc(i, j))
				case g.wide():
					g.VADDPS(m, acc(i, j), reg.K1, acc(i, j))
				default:
					g.loadTail(m, tmp)
					g.VADDPS(tmp, acc(i, j), acc(i, j))
				}
			}
			g.ADDQ(ldr, res)
		}
		g.MOVQ(res, g.arg("res"))
	}
	g.CMPQ(g.arg("res"), operand.Imm(0))
	g.JEQ(label("clamp"))
	g.CMPQ(g.arg("after"), operand.Imm(0))
	g.JNE(label("clamp"))
	residual()
	g.Label("clamp")
	// The second source is the value, so that NaN passes through.
	bound := g.vec[n-4]
	g.CMPL(g.arg("lo"), operand.U32(0xff800000))
	g.JEQ(label("below"))
	g.VBROADCASTSS(g.arg("lo"), bound)
	for i := range t.mr * t.nv {
		g.VMAXPS(g.vec[i], bound, g.vec[i])
	}
	g.Label("below")
	g.CMPL(g.arg("hi"), operand.U32(0x7f800000))
	g.JEQ(label("above"))
	g.VBROADCASTSS(g.arg("hi"), bound)
	for i := range t.mr * t.nv {
		g.VMINPS(g.vec[i], bound, g.vec[i])
	}
	g.Label("above")
	g.CMPQ(g.arg("res"), operand.Imm(0))
	g.JEQ(label("store"))
	g.CMPQ(g.arg("after"), operand.Imm(0))
	g.JEQ(label("store"))
	residual()
	g.Label("store")
	g.storeRows(t.mr, t.nv, acc)
}

// storeRows stores rows of vectors from argument c on, which moves on, the last vector of each row under the tail mask
// where its columns are fewer than its lanes. Without the mask AVX2 stores several times as fast.
func (g *gen) storeRows(mr, nv int, v func(i, j int) reg.VecPhysical) {
	c, ldc := g.loadArg("c"), g.loadArg("ldc")
	rows := func(masked bool) {
		for i := range mr {
			for j := range nv {
				g.storeMaybe(masked && j == nv-1, v(i, j), at(c, j*g.bytes()))
			}
			g.ADDQ(ldc, c)
		}
	}
	if !g.wide() {
		g.CMPQ(g.arg("cols"), imm(nv*g.lanes))
		g.JL(label("narrow"))
		rows(false)
		g.JMP(label("rows"))
		g.Label("narrow")
	}
	rows(true)
	g.Label("rows")
	g.MOVQ(c, g.arg("c"))
}
