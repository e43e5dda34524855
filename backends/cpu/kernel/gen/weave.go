package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
)

// Marks of instructions that take turns; weave removes them.
const (
	weaveBegin = "weave: begin"
	weaveNext  = "weave: next"
	weaveEnd   = "weave: end"
)

// together emits body for each of n parts. Their instructions take turns in the file, so that the chain of one fills
// the waits of another: a processor looks some sixty instructions ahead. Parts share nothing that one of them writes.
func (g *gen) together(n int, body func(i int)) {
	g.Comment(weaveBegin)
	for i := range n {
		if i > 0 {
			g.Comment(weaveNext)
		}
		body(i)
	}
	g.Comment(weaveEnd)
}

// weaving says how a function's parts are put together.
type weaving struct {
	apart bool // one part follows the other
	held  int  // so many constants are in registers from the beginning
}

// weavings finds the best weaving of each function that has parts. Processors load one or two vectors per cycle, and a
// polynomial takes a constant for each instruction.
func (p *part) weavings(s *isa) map[string]weaving {
	all := map[string]weaving{}
	f, _ := p.functions(s)
	for _, fn := range f {
		if !slices.ContainsFunc(fn.Nodes, func(n ir.Node) bool { return mark(n) != "" }) {
			continue
		}
		w := weaving{}
		w.apart = !p.fits(s, fn.Name, w)
		for w.held = 24; w.held > 0 && !p.fits(s, fn.Name, w); w.held-- {
		}
		all[fn.Name] = w
	}
	return all
}

// functions emits the part anew.
func (p *part) functions(s *isa) ([]*ir.Function, *gen) {
	g := newGen(s)
	p.fill(g)
	f, err := g.Result()
	if err != nil {
		return nil, g // compile says so
	}
	return f.Functions(), g
}

// fits says whether a function has enough registers.
func (p *part) fits(s *isa, name string, w weaving) bool {
	all, g := p.functions(s)
	alone := &ir.File{}
	for _, fn := range all {
		if fn.Name == name {
			alone.AddSection(fn)
			g.weave(fn, w)
		}
	}
	return pass.Compile.Execute(alone) == nil && (s.wide() || !beyond(alone))
}

// weave puts instructions that stand together in the order of their turns.
func (g *gen) weave(fn *ir.Function, w weaving) {
	for _, i := range fn.Instructions() {
		if i.Opcode == "VBLENDMPS" {
			i.Inputs = i.Inputs[:3] // avo has the result among them, which would be live from the beginning
		}
	}
	held := g.hold(fn, w.held)
	var out []ir.Node
	var parts [][]ir.Node
	for _, n := range fn.Nodes {
		switch mark(n) {
		case weaveBegin:
			parts = make([][]ir.Node, 1)
		case weaveNext:
			parts = append(parts, nil)
		case weaveEnd:
			out = append(out, turns(parts, w.apart)...)
			parts = nil
		default:
			if parts == nil {
				out = append(out, n)
			} else {
				parts[len(parts)-1] = append(parts[len(parts)-1], n)
			}
		}
	}
	fn.Nodes = append(held, out...)
}

func mark(n ir.Node) string {
	if c, is := n.(*ir.Comment); is && len(c.Lines) == 1 && strings.HasPrefix(c.Lines[0], "weave: ") {
		return c.Lines[0]
	}
	return ""
}

// constant is the place among the operands of an instruction of a vector in read-only memory, -1 when it has none.
func (g *gen) constant(n ir.Node) int {
	i, is := n.(*ir.Instruction)
	if !is || strings.HasPrefix(i.Opcode, "VCVT") || strings.HasPrefix(i.Opcode, "VBROADCAST") ||
		strings.HasSuffix(i.Opcode, "SS") || strings.HasSuffix(i.Opcode, "SD") {
		return -1 // which read less than a vector
	}
	return slices.IndexFunc(i.Operands, func(o operand.Op) bool {
		m, is := o.(operand.Mem)
		return is && g.vectors[m.Symbol.Name]
	})
}

// hold replaces the n constants that parts need most by registers, and returns the instructions that fill these.
func (g *gen) hold(fn *ir.Function, n int) (loads []ir.Node) {
	var names []string
	uses, within := map[string]int{}, false
	for _, x := range fn.Nodes {
		switch mark(x) {
		case weaveBegin:
			within = true
		case weaveEnd:
			within = false
		}
		if at := g.constant(x); within && at >= 0 {
			name := x.(*ir.Instruction).Operands[at].(operand.Mem).Symbol.Name
			if uses[name]++; uses[name] == 1 {
				names = append(names, name)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(uses[b], uses[a]) })
	registers := map[string]reg.VecVirtual{}
	for _, name := range names[:min(n, len(names))] {
		registers[name] = g.v()
	}
	for _, x := range fn.Nodes {
		at := g.constant(x)
		if at < 0 {
			continue
		}
		i := x.(*ir.Instruction)
		m := i.Operands[at].(operand.Mem)
		r, is := registers[m.Symbol.Name]
		if !is {
			continue
		}
		if uses[m.Symbol.Name] > 0 {
			loads, uses[m.Symbol.Name] = append(loads, g.load(m, r)), 0
		}
		replace(i, m, r)
	}
	return loads
}

// load is an instruction that loads a vector.
func (g *gen) load(m operand.Mem, r reg.Register) *ir.Instruction {
	c := build.NewContext()
	c.Function("load")
	c.VMOVUPS(m, r)
	f, err := c.Result()
	if err != nil {
		panic(err)
	}
	return f.Functions()[0].Instructions()[0]
}

// replace puts a register in the place of an operand.
func replace(i *ir.Instruction, m operand.Mem, r reg.Register) {
	for _, list := range [][]operand.Op{i.Operands, i.Inputs} {
		for k, o := range list {
			if o == operand.Op(m) {
				list[k] = r
			}
		}
	}
}

// turns takes a node of each part in turn, or all of one part after another. What is said of an instruction is said
// for the first part alone.
func turns(parts [][]ir.Node, apart bool) []ir.Node {
	for i := range parts[1:] {
		parts[i+1] = slices.DeleteFunc(parts[i+1], func(n ir.Node) bool { _, is := n.(*ir.Comment); return is })
	}
	if apart {
		return slices.Concat(parts...)
	}
	var out []ir.Node
	for more := true; more; {
		more = false
		for i, p := range parts {
			for len(p) > 0 {
				out = append(out, p[0])
				_, comment := p[0].(*ir.Comment)
				p, more = p[1:], true
				if !comment {
					break
				}
			}
			parts[i] = p
		}
	}
	return out
}

// beyond says whether a compiled file has vector registers which AVX2 lacks.
func beyond(f *ir.File) bool {
	return slices.ContainsFunc(f.Functions(), func(fn *ir.Function) bool {
		return slices.ContainsFunc(fn.Instructions(), func(i *ir.Instruction) bool {
			return slices.ContainsFunc(i.Operands, func(o operand.Op) bool {
				v, is := o.(reg.VecPhysical)
				return is && v.PhysicalIndex() > 15
			})
		})
	})
}
