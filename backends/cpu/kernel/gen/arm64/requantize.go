package main

import "fmt"

// requantized makes the integers before the zero point of sums: round(x*scale + add), or with low the floor of
// x*scale + add + x*low. sums are rows of nv vectors; what is per column is read at its pointers, of which add and
// low may be nil. work are four vectors. Labels end with suffix.
func (g *gen) requantized(sums []*reg, nv int, scale, add, low *reg, work []*reg, suffix string) {
	rows := len(sums) / nv
	each := func(p *reg, do func(w, x *reg)) {
		for j := range nv {
			w := work[j%2]
			g.load(4, p, 16*j, w)
			for i := range rows {
				do(w, sums[i*nv+j])
			}
		}
	}
	for _, x := range sums {
		g.v("scvtf.4s", x, x)
	}
	g.ifNot(low, "floor"+suffix)
	each(scale, func(w, x *reg) { g.v("fmul.4s", x, x, w) })
	g.ifZero(add, "noadd"+suffix)
	each(add, func(w, x *reg) { g.v("fadd.4s", x, x, w) })
	g.label("noadd" + suffix)
	for _, x := range sums {
		g.v("fcvtns.4s", x, x)
	}
	g.jump("", "rounded"+suffix)
	g.label("floor" + suffix)
	g.comment("y = x*scale + add is exact, z = y + x*low is not: where it is whole and was rounded up, one less")
	y, z, lost, whole := work[0], work[1], work[2], work[3]
	for i, x := range sums {
		at := 16 * (i % nv)
		g.load(4, add, at, y)
		g.load(4, scale, at, z)
		g.v("fmla.4s", y, x, z)
		g.load(4, low, at, whole)
		g.v("mov.16b", z, y)
		g.v("fmla.4s", z, x, whole)
		g.v("fsub.4s", lost, z, y)
		g.v("fmls.4s", lost, x, whole)
		g.v("fcmgt.z", lost, lost)
		g.v("frintm.4s", whole, z)
		g.v("fcmeq.4s", whole, whole, z)
		g.v("and.16b", lost, lost, whole)
		g.v("fcvtms.4s", x, z)
		g.v("add.4s", x, x, lost)
	}
	g.label("rounded" + suffix)
}

// packInts adds the zero point to two or four vectors of integers and packs them into the bytes of the first, within
// the limits.
func (g *gen) packInts(x []*reg, zero, lo, hi *reg) {
	for j := 0; j < len(x); j += 2 {
		g.v("sqxtn.4h", x[j], x[j])
		g.v("sqxtn2.8h", x[j], x[j+1])
		g.v("sqadd.8h", x[j], x[j], zero)
	}
	g.v("sqxtun.8b", x[0], x[0])
	if len(x) > 2 {
		g.v("sqxtun2.16b", x[0], x[2])
	}
	g.v("umax.16b", x[0], x[0], lo)
	g.v("umin.16b", x[0], x[0], hi)
}

// codeArgs loads the zero point and the limits.
func (g *gen) codeArgs(zero, lo, hi *reg) {
	for i, name := range []string{"zero", "lo", "hi"} {
		_, slot := g.slot(name)
		r := []*reg{zero, lo, hi}[i]
		g.i("FMOVS "+slot+", %d", r)
		g.v([]string{"dup.8h", "dup.16b", "dup.16b"}[i], r, r, 0)
	}
}

// storeCodes stores as many of the codes in x as argument cols says, of nv vectors.
func (g *gen) storeCodes(nv int, x, c, cols *reg, buffer int, name string) {
	g.i("CMP $%i, %u", 4*nv, cols)
	g.jump("NE", "ragged"+name)
	g.store(nv, x, c, 0)
	g.jump("", "stored"+name)
	g.label("ragged" + name)
	from, to, n, b := g.gp(), g.gp(), g.gp(), g.gp()
	g.i("FMOVQ %u, %i(RSP)", x, buffer)
	g.i("ADD $%i, RSP, %d", buffer, from)
	g.i("MOVD %u, %d", c, to)
	g.i("MOVD %u, %d", cols, n)
	g.label("code" + name)
	g.i("MOVBU.P 1(%b), %d", from, b)
	g.i("MOVB.P %u, 1(%b)", b, to)
	g.i("SUB $1, %u, %d", n, n)
	g.ifNot(n, "code"+name)
	g.label("stored" + name)
}

// intStore requantizes and stores one block: rows of nv vectors of sums, which have all but the factors; work are the
// vectors behind them, at least seven. Argument c moves on.
func (g *gen) intStore(sums []*reg, nv int, work []*reg, buffer int) {
	rows := len(sums) / nv
	factors := g.arg("factors")
	g.ifZero(factors, "nofactors")
	p := g.arg("rows")
	row, f := work[0], work[2:2+nv]
	g.row(nv, factors, buffer, f, "factors")
	for i := range rows {
		g.i("FMOVS %i(%u), %d", 4*i, p, row)
		g.v("dup.4s", row, row, 0)
		for j, x := range f {
			g.v("mla.4s", sums[i*nv+j], row, x)
		}
	}
	g.i("ADD $%i, %u, %d", 4*rows, p, p)
	g.setArg("rows", p)
	g.label("nofactors")
	c, ldc, cols, scale := g.arg("c"), g.arg("ldc"), g.arg("cols"), g.arg("scale")
	g.ifZero(scale, "plain")
	add, low := g.arg("add"), g.arg("low")
	g.perColumn(nv, cols, &scale, &add, &low)
	g.requantized(sums, nv, scale, add, low, work[:4], "")
	g.codeArgs(work[0], work[1], work[2])
	for i := range rows {
		x := sums[i*nv : i*nv+nv]
		g.packInts(x, work[0], work[1], work[2])
		g.storeCodes(nv, x[0], c, cols, buffer, fmt.Sprint(i))
		g.i("ADD %u, %u, %d", ldc, c, c)
	}
	g.setArg("c", c)
	g.jump("", "end")
	g.label("plain")
	for _, x := range sums {
		g.v("scvtf.4s", x, x)
	}
	g.storeRows(rows, nv, sums, buffer)
	g.label("end")
}

// perColumn makes what the store reads per column readable as whole vectors: where there are fewer columns, copies.
func (g *gen) perColumn(nv int, cols *reg, pointers ...**reg) {
	g.i("CMP $%i, %u", 4*nv, cols)
	g.jump("EQ", "readable")
	for k, p := range pointers {
		buffer, name := g.local(16*nv), fmt.Sprint("column", k)
		g.ifZero(*p, "no"+name)
		to, n, x := g.gp(), g.gp(), g.gp()
		g.i("ADD $%i, RSP, %d", buffer, to)
		g.i("MOVD %u, %d", cols, n)
		g.label(name)
		g.i("MOVWU.P 4(%b), %d", *p, x)
		g.i("MOVW.P %u, 4(%b)", x, to)
		g.i("SUB $1, %u, %d", n, n)
		g.ifNot(n, name)
		g.i("ADD $%i, RSP, %d", buffer, *p)
		g.label("no" + name)
	}
	g.label("readable")
}
