package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa describes one vector instruction set to the emitters.
type isa struct {
	name  string // suffix of the emitted symbols
	lanes int    // float32 lanes of a vector register
	vec   []reg.VecPhysical
}

var (
	avx2 = &isa{"AVX2", 8, []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}}
	avx512 = &isa{"AVX512", 16, []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}}
	isas = []*isa{avx2, avx512}
)

func (s *isa) wide() bool { return s.lanes == 16 }
func (s *isa) bytes() int { return 4 * s.lanes }

// gen emits the functions of one file, for one instruction set. The last vector register of AVX2 and opcode mask K1 of
// AVX-512 hold the tail mask.
type gen struct {
	*build.Context
	*isa
	consts  map[string]operand.Mem
	vectors map[string]bool // symbols of those constants that fill a vector
	pass    string          // before the labels of a stream, in functions with several
	size    int             // bytes of the numbers that get and put move: 4, or 2 for halves
	brain   bool            // halves are bfloat16, not binary16
	pairs   bool            // apply takes two vectors of them
}

func newGen(s *isa) *gen {
	g := &gen{Context: build.NewContext(), isa: s, consts: map[string]operand.Mem{},
		vectors: map[string]bool{}, size: 4}
	g.ConstraintExpr("!noasm")
	return g
}

// text starts a function named base plus the suffix of the instruction set.
func (g *gen) text(base, signature string, doc ...string) {
	g.Function(base + g.name)
	g.pass = ""
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(signature)
	doc[0] = base + g.name + " " + doc[0]
	g.Doc(doc...)
}

func (g *gen) ret() {
	g.VZEROUPPER()
	g.RET()
}

// arg is the stack slot of a parameter.
func (g *gen) arg(name string) operand.Mem {
	b, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

func (g *gen) loadArg(name string) reg.GPVirtual {
	r := g.GP64()
	g.MOVQ(g.arg(name), r)
	return r
}

func at(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

func idx(base, index reg.Register, scale uint8, disp int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

func (g *gen) zero(v reg.Register) {
	if g.wide() {
		g.VPXORD(v, v, v)
	} else {
		g.VXORPS(v, v, v)
	}
}

func (g *gen) mask() reg.VecPhysical { return g.vec[len(g.vec)-1] }

// tail sets the tail mask to the first n lanes, 0 <= n <= lanes (a larger n
// counts as lanes under AVX-512 only). n is not changed.
func (g *gen) tail(n reg.GPVirtual) {
	t := g.GP64()
	if g.wide() {
		g.MOVL(operand.U32(0xffff), t.As32())
		g.BZHIL(n.As32(), t.As32(), t.As32())
		g.KMOVW(t.As32(), reg.K1)
		return
	}
	tab := g.maskTable()
	g.LEAQ(tab, t)
	m := g.GP64()
	g.MOVQ(n, m)
	g.NEGQ(m)
	g.VMOVUPS(idx(t, m, 4, 32), g.mask())
}

// maskTable is 8 lanes of ones followed by 8 lanes of zeros.
func (g *gen) maskTable() operand.Mem {
	if m, ok := g.consts["maskTable"]; ok {
		return m
	}
	m := g.StaticGlobal("maskTable")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		v := uint32(0xffffffff)
		if i >= 8 {
			v = 0
		}
		g.AddDatum(4*i, operand.U32(v))
	}
	g.consts["maskTable"] = m
	return m
}

func (g *gen) loadTail(m operand.Mem, v reg.Register) {
	if g.wide() {
		g.VMOVUPS_Z(m, reg.K1, v)
	} else {
		g.VMASKMOVPS(m, g.mask(), v)
	}
}

func (g *gen) storeTail(v reg.Register, m operand.Mem) {
	if g.wide() {
		g.VMOVUPS(v, reg.K1, m)
	} else {
		g.VMASKMOVPS(v, g.mask(), m)
	}
}

func (g *gen) loadMaybe(masked bool, m operand.Mem, v reg.Register) {
	if masked {
		g.loadTail(m, v)
	} else {
		g.VMOVUPS(m, v)
	}
}

func (g *gen) storeMaybe(masked bool, v reg.Register, m operand.Mem) {
	if masked {
		g.storeTail(v, m)
	} else {
		g.VMOVUPS(v, m)
	}
}

// bcast is a float32 constant repeated to a full vector in read-only memory.
func (g *gen) bcast(bits uint32) operand.Mem {
	name := fmt.Sprintf("c%08x", bits)
	if m, ok := g.consts[name]; ok {
		return m
	}
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		g.AddDatum(4*i, operand.U32(bits))
	}
	g.consts[name] = m
	g.vectors[m.Symbol.Name] = true
	return m
}

func imm(n int) operand.Op { return operand.I32(int32(n)) }

func label(s string) operand.Op { return operand.LabelRef(s) }
