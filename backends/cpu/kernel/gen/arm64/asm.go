package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"regexp"
	"strings"
)

// isa is an instruction set: each has what the ones before it have.
type isa struct {
	name         string // suffix of the emitted symbols
	dot, mixed   bool   // products of four bytes of one signedness, of two
	ownFunctions bool   // has functions that no lower one has
}

var (
	neon    = &isa{name: "NEON"}
	dotprod = &isa{name: "DotProd", dot: true}
	fp16    = &isa{name: "FP16", dot: true}
	i8mm    = &isa{name: "I8MM", dot: true, mixed: true}
	isas    = []*isa{neon, dotprod, fp16, i8mm}
)

// reg is a register of vectors or a general one. n is its number, -1 until assign has found one.
type reg struct {
	vec bool
	n   int
}

// inst is an instruction, or a label.
type inst struct {
	text        func() string
	defs, uses  []*reg
	label, jump string
	falls       bool // goes on with the next line
}

type param struct {
	name, typ string
	at, size  int
}

// gen emits the functions of one file, for one instruction set. Vector registers are virtual until a function ends,
// unless it takes them by number; general registers are always virtual.
type gen struct {
	*isa
	text, decls strings.Builder

	name      string
	params    []param
	frame     int // bytes of arguments and results
	locals    int
	body      []*inst
	first     []*inst // what loads constants
	held      map[uint64]*reg
	maxHeld   int // constants that stay in registers
	table     *reg
	constants []uint64
	size      int  // bytes of the numbers that load and store move: 4, or 2 for halves
	brain     bool // halves are bfloat16, not binary16
}

// function starts a function named base plus the suffix of the instruction set, and doc completes the sentence that
// begins with its name.
func (g *gen) function(base, signature string, doc ...string) {
	g.name = base + g.isa.name
	g.params, g.frame, g.locals, g.body, g.first, g.table = nil, 0, 0, nil, nil, nil
	g.held, g.maxHeld = map[uint64]*reg{}, 14
	e, err := parser.ParseExpr(signature)
	if err != nil {
		panic(err)
	}
	t := e.(*ast.FuncType)
	add := func(l *ast.FieldList) {
		for _, f := range l.List {
			typ := signature[f.Type.Pos()-1 : f.Type.End()-1]
			size := 8
			if typ == "float32" || typ == "int32" || typ == "uint32" {
				size = 4
			}
			for _, n := range f.Names {
				g.frame = (g.frame + size - 1) / size * size
				g.params = append(g.params, param{n.Name, typ, g.frame, size})
				g.frame += size
			}
		}
	}
	add(t.Params)
	if t.Results != nil {
		g.frame = (g.frame + 7) &^ 7
		add(t.Results)
	}
	fmt.Fprintf(&g.decls, "\n// %s %s\n", g.name, strings.Join(doc, "\n// "))
	fmt.Fprintf(&g.decls, "//\n//go:noescape\nfunc %s%s\n", g.name, strings.TrimPrefix(signature, "func"))
}

// end writes the function.
func (g *gen) end() {
	g.ret()
	g.body = append(g.first, g.body...)
	assign(g.name, g.body)
	if g.locals > 0 { // the first 16 bytes are the assembler's
		g.locals += 16
	}
	fmt.Fprintf(&g.text, "\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n", g.name, g.locals, g.frame)
	for _, i := range g.body {
		if i.label != "" {
			fmt.Fprintf(&g.text, "\n%s:\n", i.label)
			continue
		}
		fmt.Fprintf(&g.text, "\t%s\n", i.text())
	}
}

func (g *gen) ret() { g.body = append(g.body, &inst{text: func() string { return "RET" }}) }

// vec is a fresh register of vectors, numbered one of the given number.
func (g *gen) vec() *reg             { return &reg{vec: true, n: -1} }
func (g *gen) gp() *reg              { return &reg{n: -1} }
func (g *gen) numbered(n int) *reg   { return &reg{vec: true, n: n} }
func (g *gen) vecs(n int) (r []*reg) { return fresh(n, g.vec) }
func (g *gen) gps(n int) (r []*reg)  { return fresh(n, g.gp) }

func fresh(n int, f func() *reg) (r []*reg) {
	for range n {
		r = append(r, f())
	}
	return r
}

// all are the 32 registers of vectors by number, for functions that choose themselves.
func (g *gen) all() (r [32]*reg) {
	for i := range r {
		r[i] = g.numbered(i)
	}
	return r
}

var verb = regexp.MustCompile(`%[udbiVW]`)

// i emits an instruction in Go's notation: %u is a register that is read, %d one that is written, %b both, %i a number;
// %V and %W are read and written ones where Go calls vectors V.
func (g *gen) i(format string, operands ...any) {
	in := &inst{falls: true}
	k := 0
	verb.ReplaceAllStringFunc(format, func(s string) string {
		if r, ok := operands[k].(*reg); ok {
			if s != "%u" && s != "%V" {
				in.defs = append(in.defs, r)
			}
			if s != "%d" && s != "%W" {
				in.uses = append(in.uses, r)
			}
		}
		k++
		return s
	})
	in.text = func() string {
		k := -1
		return verb.ReplaceAllStringFunc(format, func(s string) string {
			k++
			if r, ok := operands[k].(*reg); ok {
				if s == "%V" || s == "%W" {
					return fmt.Sprint("V", r.n)
				}
				if r.vec {
					return fmt.Sprint("F", r.n)
				}
				return fmt.Sprint("R", r.n)
			}
			return fmt.Sprint(operands[k])
		})
	}
	g.body = append(g.body, in)
}

func (g *gen) comment(format string, args ...any) {
	text := "// " + fmt.Sprintf(format, args...)
	g.body = append(g.body, &inst{falls: true, text: func() string { return text }})
}

func (g *gen) label(name string) { g.body = append(g.body, &inst{falls: true, label: name}) }

// jump goes to a label, if cond is not "" only where it holds: EQ, LT and so on.
func (g *gen) jump(cond, label string) {
	op := "B" + cond
	if cond == "" {
		op = "JMP"
	}
	g.body = append(g.body, &inst{falls: cond != "", jump: label, text: func() string { return op + " " + label }})
}

// ifZero and ifNot go to a label where r is zero, or not.
func (g *gen) ifZero(r *reg, label string) { g.branch("CBZ", r, label) }
func (g *gen) ifNot(r *reg, label string)  { g.branch("CBNZ", r, label) }

func (g *gen) branch(op string, r *reg, label string) {
	g.body = append(g.body, &inst{falls: true, jump: label, uses: []*reg{r},
		text: func() string { return fmt.Sprintf("%s R%d, %s", op, r.n, label) }})
}

func (g *gen) slot(name string) (p param, text string) {
	for _, p := range g.params {
		if p.name == name {
			return p, fmt.Sprintf("%s+%d(FP)", name, p.at)
		}
	}
	panic(g.name + ": no parameter " + name)
}

// arg is a parameter in a general register, setArg puts it back.
func (g *gen) arg(name string) *reg { return g.argTo(name, g.gp()) }

func (g *gen) argTo(name string, r *reg) *reg {
	p, slot := g.slot(name)
	op := "MOVD"
	switch p.typ {
	case "int32":
		op = "MOVW"
	case "uint32":
		op = "MOVWU"
	}
	g.i(op+" "+slot+", %d", r)
	return r
}

func (g *gen) setArg(name string, r *reg) {
	_, slot := g.slot(name)
	g.i("MOVD %u, "+slot, r)
}

// every repeats a parameter of 32 bits all over a vector, or one whose lowest bytes count with another shape.
func (g *gen) every(name string) *reg { return g.everyOf(name, "4s") }

func (g *gen) everyOf(name, shape string) *reg {
	_, slot := g.slot(name)
	r := g.vec()
	g.i("FMOVS "+slot+", %d", r)
	return g.v("dup."+shape, r, r, 0)
}

// local is memory of the function: its offset from RSP.
func (g *gen) local(bytes int) int {
	at := g.locals + 16
	g.locals += (bytes + 15) &^ 15
	return at
}

// bits is a constant repeated all over a vector.
func (g *gen) bits(c uint32) *reg { return g.constant(uint64(c)<<32 | uint64(c)) }

// constant is one of 64 bits, twice. The first ones stay in registers.
func (g *gen) constant(c uint64) *reg {
	if r := g.held[c]; r != nil {
		return r
	}
	body := g.body
	if g.table == nil {
		g.table = g.gp()
		g.body = g.first
		g.i("MOVD $constants<>(SB), %d", g.table)
		g.first, g.body = g.body, body
	}
	at := -1
	for i, k := range g.constants {
		if k == c {
			at = i
		}
	}
	if at < 0 {
		at = len(g.constants)
		g.constants = append(g.constants, c)
	}
	r := g.vec()
	if len(g.held) >= g.maxHeld {
		g.i("FMOVQ %i(%u), %d", 16*at, g.table, r)
		return r
	}
	g.body = g.first
	g.i("FMOVQ %i(%u), %d", 16*at, g.table, r)
	g.first, g.body = g.body, body
	g.held[c] = r
	return r
}

// load and store move n float32, 4, 2 or 1, or binary16 as such; lanes beyond are zeros.
func (g *gen) load(n int, base *reg, at int, r *reg) *reg {
	switch {
	case g.size == 4:
		g.i(moves[n]+" %i(%u), %d", at, base, r)
		return r
	case n == 1:
		t := g.gp()
		g.i("MOVHU %i(%u), %d", at, base, t)
		g.i("FMOVS %u, %d", t, r)
	default:
		g.i(moves[n/2]+" %i(%u), %d", at, base, r)
	}
	if g.brain {
		return g.v("shll.4s", r, r)
	}
	return g.v("fcvtl.4s", r, r)
}

func (g *gen) store(n int, r, base *reg, at int) {
	if g.size == 4 {
		g.i(moves[n]+" %u, %i(%u)", r, at, base)
		return
	}
	var h *reg
	if g.brain { // rounded by an addition: a NaN has no bits that are dropped, as it comes from one of bfloat16
		odd := g.op("and.16b", g.op("ushr.4s", r, 16), g.bits(1))
		sum := g.op("add.4s", r, g.v("add.4s", odd, odd, g.bits(0x7fff)))
		h = g.op("uzp2.8h", sum, sum)
	} else {
		h = g.op("fcvtn.4h", r)
	}
	if n > 1 {
		g.i(moves[n/2]+" %u, %i(%u)", h, at, base)
		return
	}
	t := g.gp()
	g.i("FMOVS %u, %d", h, t)
	g.i("MOVH %u, %i(%u)", t, at, base)
}

// named is a function's name before the suffixes: of halves after the first word.
func (g *gen) named(word, name string) string {
	switch {
	case g.brain:
		return word + "Brain" + name
	case g.size == 2:
		return word + "Half" + name
	}
	return word + name
}

// numbers is the signature of a function, whose operands are halves if g is of them.
func (g *gen) numbers(signature string) string {
	if g.size == 2 {
		return strings.ReplaceAll(signature, "*float32", "*uint16")
	}
	return signature
}

// halves is the same functions of binary16, and brains of bfloat16.
func halves(f func(*gen)) func(*gen) {
	return func(g *gen) {
		g.size = 2
		f(g)
	}
}

func brains(f func(*gen)) func(*gen) {
	return func(g *gen) {
		g.size, g.brain = 2, true
		f(g)
	}
}

var moves = map[int]string{4: "FMOVQ", 2: "FMOVD", 1: "FMOVS"}

// loadStep and storeStep move on by the bytes in step.
func (g *gen) loadStep(n int, base, step, r *reg) *reg {
	if n == 4 {
		g.i("VLD1.P (%b)(%u), [%W.B16]", base, step, r)
		return r
	}
	g.load(n, base, 0, r)
	g.i("ADD %u, %u, %d", step, base, base)
	return r
}

func (g *gen) storeStep(n int, r, base, step *reg) {
	if n == 4 {
		g.i("VST1.P [%V.B16], (%b)(%u)", r, base, step)
		return
	}
	g.store(n, r, base, 0)
	g.i("ADD %u, %u, %d", step, base, base)
}
