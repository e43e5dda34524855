package plan

import (
	"context"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/core/graph"
)

// program is the intermediate form: operations in the order of computing, of which each is one step of the plan.
// quantize and match make it, layout gives it buffers.
type program struct {
	net     *network
	ctx     context.Context
	at      [][]*node // per node of the graph: what computes it, and what comes before
	there   []bool    // per value: the node that makes it has run before what is matched, or waits
	made    []bool    // per value: its elements are there, not only its codes, and it does not wait
	params  map[graph.Value]quantParams
	centred map[graph.Value]graph.Value // per value of 8 bits: its codes minus the zero point, as float values
	waiting map[graph.Value]*node       // results that are made when something reads them
	fused   []int                       // nodes of the graph that are part of another's step
}

// node is an operation with its operands. Whether a kernel computes it is decided: layout and lower do not refuse.
type node struct {
	at    int    // the node of the graph that it stands for, none: a pass added it
	kind  string // the name of its rule; when a pass added it, what it is for
	op    operation
	in    []graph.Value // what it reads: constants that are packed or kept are no operands
	out   []graph.Value
	fused []int // nodes of the graph that are part of it
	waits bool  // it is made for the first reader, and not at all when there is none
	codes bool  // it reads codes as they are

	reads, writes []int // buffers; layout sets them
	none          bool  // its results are those of others: no step
}

// operation is what a node computes.
type operation interface {
	// layout chooses the order of the dimensions of operands and results and takes their buffers.
	layout(l *layouter, n *node)
	// lower returns the step.
	lower(w *lowering, n *node) step
}

// patch is what a rule finds at a place in the graph: the nodes that replace one of its nodes, perhaps with others.
type patch struct {
	nodes   []*node // one of them stands for the node of the graph
	params  map[graph.Value]quantParams
	centred map[graph.Value]graph.Value
	unread  []int         // nodes of the graph that it does without
	extra   []value       // values that the graph does not have, numbered from len(network.values)
	kept    []graph.Value // constants whose bytes stay
	tables  int64         // bytes of tables that Build makes for it
}

// rule finds what computes node i of the graph, nil when it has nothing for it. It changes nothing but network.kept,
// which find empties before each rule and moves into the patch.
type rule struct {
	name string
	find func(p *program, i int) *patch
}

// placed is a program whose operands and results are buffers, with the conversions between layouts as nodes of their
// own.
type placed struct {
	*program
	list    []*node // that are steps
	buffers []buffer
	outputs []output
	fused   []int
}

// forms are the buffers of one value, none: not made. Elements are those of the value's type; codes are its 8-bit codes
// unsigned, with codeSlack bytes behind them.
type forms struct {
	elements, codes [2]int // by order
}

// Kinds of nodes that move a value to another order of its dimensions.
const (
	layoutKind    = "layout"        // a conversion, which the pass adds
	transposeKind = "transposition" // an operator, unless its result is a view
)

// conversions make the operations that the layout pass puts between the forms of a value.
type conversions struct {
	elements func(v *value, o order) operation       // elements in another order
	codes    func(dims []int64, o order) operation   // codes in another order
	decode   func(c quantParams, v *value) operation // elements of unsigned codes
	unsign   func(elements int, flip bool) operation // unsigned codes of the elements of an 8-bit type
}

// layouter gives each value an order of the dimensions and adds a node where a reader wants another one.
type layouter struct {
	*placed
	with   conversions
	forms  []forms         // per value
	chosen map[*node]order // of nodes that take any order, nil: that in which their operand is made
	uses   []use           // of values as elements
	free   map[*node]bool  // the nodes that take any order
}

// use is a value read or written in an order. by is the node that could do so in either, nil when the order is given.
type use struct {
	value graph.Value
	by    *node
	order order
	write bool
}

// lowered is a list of steps whose constants are to be packed and whose memory has no place.
type lowered struct {
	graph   *graph.Graph
	steps   []*step
	fused   []int
	buffers []buffer
	outputs []output
	tables  []*windowTable
}

// lowering is what an operation makes its step with.
type lowering struct {
	*lowered
	net    *network
	packer *packer
}

// find returns what the first rule that has something finds.
func (p *program) find(rules []rule, i int) *patch {
	for _, r := range rules {
		p.net.kept = nil
		if found := r.find(p, i); found != nil {
			found.kept = p.net.kept
			for _, n := range found.nodes {
				if n.at != none {
					n.kind = r.name
				}
			}
			return found
		}
	}
	return nil
}

// apply puts a patch in the place of node i. It is the only function that changes a program.
func (p *program) apply(i int, x *patch) {
	net := p.net
	net.values = append(net.values, x.extra...)
	p.made = append(p.made, make([]bool, len(x.extra))...)
	p.there = append(p.there, make([]bool, len(x.extra))...)
	net.budget.tables -= x.tables
	for v, c := range x.params {
		p.params[v] = c
	}
	for v, c := range x.centred {
		p.centred[v] = c
	}
	net.done[i] = true
	for _, v := range x.kept {
		net.pinned[unsafe.SliceData(net.values[v].data)] = true
	}
	for _, k := range x.unread {
		net.done[k] = true
	}
	for _, n := range x.nodes {
		for _, k := range n.fused {
			net.done[k] = true
		}
		p.fused = append(p.fused, n.fused...)
		if n.waits {
			p.waiting[n.out[0]] = n
		}
	}
	p.at[i] = x.nodes
}

// pass notes what is there when the nodes of i have run.
func (p *program) pass(i int) {
	for _, n := range p.at[i] {
		for _, v := range n.out {
			if v != graph.None {
				p.there[v] = true
			}
		}
		if n.waits {
			continue
		}
		for _, v := range n.in {
			if v != graph.None && !n.codes {
				p.read(v)
			}
		}
		for _, v := range n.out {
			if _, coded := p.params[v]; v != graph.None {
				p.made[v] = p.made[v] || !coded
			}
		}
	}
}

// read notes that a node reads v, which makes it if it waits for that, or if there are only codes of it.
func (p *program) read(v graph.Value) {
	if p.made[v] {
		return
	}
	p.made[v] = true
	if n := p.waiting[v]; n != nil {
		for _, x := range n.in {
			p.read(x)
		}
	}
}

// isThere reports whether v can be had by the node that is matched.
func (p *program) isThere(v graph.Value) bool { return p.there[v] || p.net.values[v].data != nil }

// isMade reports whether v is there for the node that is matched.
func (p *program) isMade(v graph.Value) bool { return p.made[v] || p.net.values[v].data != nil }

// pending returns the operation that v waits for, nil when it is made.
func (p *program) pending(v graph.Value) operation {
	if n := p.waiting[v]; n != nil && !p.made[v] {
		return n.op
	}
	return nil
}

// nodes returns the program in the order of computing.
func (p *program) nodes() []*node {
	var list []*node
	for _, i := range p.net.order {
		list = append(list, p.at[i]...)
	}
	return list
}

// one is the patch of a single node.
func one(i int, op operation, in, out []graph.Value, fused ...int) *patch {
	return &patch{nodes: []*node{{at: i, op: op, in: in, out: out, fused: fused}}}
}

// plainly is the patch of a node that reads its first inputs as they are in the graph.
func (p *program) plainly(i int, op operation, inputs int) *patch {
	n := &p.net.graph.Nodes[i]
	return one(i, op, slices.Clone(n.In[:inputs]), n.Out)
}

// taken reports that no rule may take node i: there is no such node, or it is taken already.
func (p *program) taken(i int) bool { return i == none || p.net.done[i] }

// without returns list without i.
func without(list []int, i int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(k int) bool { return k == i })
}

// hasCodes reports whether v is there as codes.
func (p *program) hasCodes(v graph.Value) bool {
	_, ok := p.params[v]
	return ok
}

// paramsAt returns what the codes of v mean, which are there or those of its type, ok false when it has none.
func (p *program) paramsAt(v graph.Value) (c quantParams, ok bool) {
	if c, ok = p.params[v]; ok {
		return c, true
	}
	if x := &p.net.values[v]; x.data == nil && x.isQuant8() {
		return quantParamsOfType(x.typ), true
	}
	return c, false
}

// codesPatch is the patch of a node that makes the codes of v of those of its inputs.
func (p *program) codesPatch(i int, op operation, in []graph.Value, v graph.Value, c quantParams, fused ...int) *patch {
	found := one(i, op, in, []graph.Value{v}, fused...)
	found.nodes[0].codes = true
	found.params = map[graph.Value]quantParams{v: c}
	return found
}
