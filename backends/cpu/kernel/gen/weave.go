package main

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
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

// weave puts instructions that stand together in the order of their turns, but in the functions apart.
func weave(f *ir.File, apart map[string]bool) {
	for _, fn := range f.Functions() {
		for _, i := range fn.Instructions() {
			if i.Opcode == "VBLENDMPS" {
				i.Inputs = i.Inputs[:3] // avo has the result among them, which would be live from the beginning
			}
		}
		var out []ir.Node
		var parts [][]ir.Node
		for _, n := range fn.Nodes {
			switch mark(n) {
			case weaveBegin:
				parts = make([][]ir.Node, 1)
			case weaveNext:
				parts = append(parts, nil)
			case weaveEnd:
				out = append(out, turns(parts, apart[fn.Name])...)
				parts = nil
			default:
				if parts == nil {
					out = append(out, n)
				} else {
					parts[len(parts)-1] = append(parts[len(parts)-1], n)
				}
			}
		}
		fn.Nodes = out
	}
}

func mark(n ir.Node) string {
	if c, is := n.(*ir.Comment); is && len(c.Lines) == 1 {
		return c.Lines[0]
	}
	return ""
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

// beyond lists the functions of a compiled file that use vector registers which AVX2 lacks.
func beyond(f *ir.File) (names []string) {
	for _, fn := range f.Functions() {
		if slices.ContainsFunc(fn.Instructions(), func(i *ir.Instruction) bool {
			return slices.ContainsFunc(i.Operands, func(o operand.Op) bool {
				v, is := o.(reg.VecPhysical)
				return is && v.PhysicalIndex() > 15
			})
		}) {
			names = append(names, fn.Name)
		}
	}
	return names
}
