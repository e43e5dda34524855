package ir

import (
	"context"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// Program is the intermediate form: operations in the order of computing, of which each is one step of the plan.
// quantize and match make it, layout gives it buffers.
type Program struct {
	Net     *Network
	Ctx     context.Context
	At      [][]*Node // per node of the graph: what computes it, and what comes before
	There   []bool    // per value: the node that makes it has run before what is matched, or waits
	Made    []bool    // per value: its elements are there, not only its codes, and it does not wait
	Params  map[graph.Value]QuantParams
	Centred map[graph.Value]graph.Value // per value of 8 bits: its codes minus the zero point, as float values
	Waiting map[graph.Value]*Node       // results that are made when something reads them
	Fused   []int                       // nodes of the graph that are part of another's step
}

// Node is an operation with its operands. Whether a kernel computes it is decided: layout and lower do not refuse.
type Node struct {
	At    int    // the node of the graph that it stands for, None: a pass added it
	Kind  string // the name of its rule; when a pass added it, what it is for
	Op    Operation
	In    []graph.Value // what it reads: constants that are packed or kept are no operands
	Out   []graph.Value
	fused []int // nodes of the graph that are part of it
	Waits bool  // it is made for the first reader, and not at all when there is none
	Codes bool  // it reads codes as they are

	Reads, Writes []int // buffers; layout sets them
	None          bool  // its results alias others: no step
}

// Fused lists the nodes of the graph that are part of n, besides the one that it stands for.
func (n *Node) Fused() []int { return n.fused }

// Operation computes a node.
type Operation interface {
	// Layout chooses the order of the dimensions of operands and results and takes their buffers.
	Layout(l *Layouter, n *Node)
	// Lower returns the step.
	Lower(w *Lowering, n *Node) run.Step
}

// Patch is the find of a rule at a place in the graph: the nodes that replace one of its nodes, perhaps with others.
type Patch struct {
	Nodes   []*Node // one of them stands for the node of the graph
	params  map[graph.Value]QuantParams
	Centred map[graph.Value]graph.Value
	Unread  []int         // nodes of the graph that it does without
	Extra   []Value       // values that the graph does not have, numbered from len(Network.Values)
	kept    []graph.Value // constants whose bytes stay
	Tables  int64         // bytes of tables that Build makes for it
}

// Rule finds what computes node i of the graph, nil when it has nothing for it. It changes nothing but Network.kept,
// which find empties before each rule and moves into the patch.
type Rule struct {
	Name string
	Find func(p *Program, i int) *Patch
}

// Placed is a program whose operands and results are buffers, with the conversions between layouts as nodes of their
// own.
type Placed struct {
	*Program
	list    []*Node // that are steps
	buffers []run.Buffer
	outputs []run.Output
	fused   []int
}

// Forms are the buffers of one value, run.None: not made. Elements have the value's type; codes are its 8-bit codes
// unsigned, with CodeSlack bytes after them.
type Forms struct {
	Elements, Codes [2]int // by order
}

// Kinds of nodes that move a value to another order of its dimensions.
const (
	layoutKind    = "layout"        // a conversion, which the pass adds
	TransposeKind = "transposition" // an operator, unless its result is a view
)

// Conversions make the operations that the layout pass puts between the forms of a value.
type Conversions struct {
	Elements func(v *Value, o run.Order) Operation     // elements in another order
	Codes    func(dims []int64, o run.Order) Operation // codes in another order
	Decode   func(c QuantParams, v *Value) Operation   // elements of unsigned codes
	Unsign   func(elements int, flip bool) Operation   // unsigned codes of the elements of an 8-bit type
}

// Layouter gives each value an order of the dimensions and adds a node where a reader wants another one.
type Layouter struct {
	*Placed
	with   Conversions
	Forms  []Forms             // per value
	chosen map[*Node]run.Order // of nodes that take any order, nil: that in which their operand is made
	uses   []use               // of values as elements
	free   map[*Node]bool      // the nodes that take any order
}

// use is a value read or written in an order. by is the node that could do so in either, nil when the order is given.
type use struct {
	value graph.Value
	by    *Node
	order run.Order
	write bool
}

// Lowered is a list of steps whose constants are to be packed and whose memory has no place.
type Lowered struct {
	Graph   *graph.Graph
	Steps   []*run.Step
	Fused   []int
	Buffers []run.Buffer
	Outputs []run.Output
	Tables  []*run.WindowTable
}

// Lowering gives an operation what its step needs.
type Lowering struct {
	*Lowered
	Net    *Network
	Packer *Packer
}

// Find returns what the first rule that has something finds.
func (p *Program) Find(rules []Rule, i int) *Patch {
	for _, r := range rules {
		p.Net.kept = nil
		if found := r.Find(p, i); found != nil {
			found.kept = p.Net.kept
			for _, n := range found.Nodes {
				if n.At != run.None {
					n.Kind = r.Name
				}
			}
			return found
		}
	}
	return nil
}

// Apply puts a patch in the place of node i. It is the only function that changes a program.
func (p *Program) Apply(i int, x *Patch) {
	net := p.Net
	net.Values = append(net.Values, x.Extra...)
	p.Made = append(p.Made, make([]bool, len(x.Extra))...)
	p.There = append(p.There, make([]bool, len(x.Extra))...)
	net.Budget.Tables -= x.Tables
	for v, c := range x.params {
		p.Params[v] = c
	}
	for v, c := range x.Centred {
		p.Centred[v] = c
	}
	net.Done[i] = true
	for _, v := range x.kept {
		net.Pinned[unsafe.SliceData(net.Values[v].Data)] = true
	}
	for _, k := range x.Unread {
		net.Done[k] = true
	}
	for _, n := range x.Nodes {
		for _, k := range n.fused {
			net.Done[k] = true
		}
		p.Fused = append(p.Fused, n.fused...)
		if n.Waits {
			p.Waiting[n.Out[0]] = n
		}
	}
	p.At[i] = x.Nodes
}

// Pass notes what is there when the nodes of i have run.
func (p *Program) Pass(i int) {
	for _, n := range p.At[i] {
		for _, v := range n.Out {
			if v != graph.None {
				p.There[v] = true
			}
		}
		if n.Waits {
			continue
		}
		for _, v := range n.In {
			if v != graph.None && !n.Codes {
				p.read(v)
			}
		}
		for _, v := range n.Out {
			if _, coded := p.Params[v]; v != graph.None {
				p.Made[v] = p.Made[v] || !coded
			}
		}
	}
}

// read notes that a node reads v, which makes it if it waits for that, or if there are only codes of it.
func (p *Program) read(v graph.Value) {
	if p.Made[v] {
		return
	}
	p.Made[v] = true
	if n := p.Waiting[v]; n != nil {
		for _, x := range n.In {
			p.read(x)
		}
	}
}

// IsThere reports whether v can be had by the node that is matched.
func (p *Program) IsThere(v graph.Value) bool { return p.There[v] || p.Net.Values[v].Data != nil }

// IsMade reports whether v is there for the node that is matched.
func (p *Program) IsMade(v graph.Value) bool { return p.Made[v] || p.Net.Values[v].Data != nil }

// Pending returns the operation that v waits for, nil when it is made.
func (p *Program) Pending(v graph.Value) Operation {
	if n := p.Waiting[v]; n != nil && !p.Made[v] {
		return n.Op
	}
	return nil
}

// nodes returns the program in the order of computing.
func (p *Program) nodes() []*Node {
	var list []*Node
	for _, i := range p.Net.Order {
		list = append(list, p.At[i]...)
	}
	return list
}

// One is the patch of a single node.
func One(i int, op Operation, in, out []graph.Value, fused ...int) *Patch {
	return &Patch{Nodes: []*Node{{At: i, Op: op, In: in, Out: out, fused: fused}}}
}

// Plainly is the patch of a node that reads its first inputs as they are in the graph.
func (p *Program) Plainly(i int, op Operation, inputs int) *Patch {
	n := &p.Net.Graph.Nodes[i]
	return One(i, op, slices.Clone(n.In[:inputs]), n.Out)
}

// Taken reports that no rule may take node i: there is no such node, or it is taken already.
func (p *Program) Taken(i int) bool { return i == run.None || p.Net.Done[i] }

// Without returns list without i.
func Without(list []int, i int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(k int) bool { return k == i })
}

// HasCodes reports whether v is there as codes.
func (p *Program) HasCodes(v graph.Value) bool {
	_, ok := p.Params[v]
	return ok
}

// ParamsAt returns what the codes of v mean, which are there or those of its type, ok false when it has none.
func (p *Program) ParamsAt(v graph.Value) (c QuantParams, ok bool) {
	if c, ok = p.Params[v]; ok {
		return c, true
	}
	if x := &p.Net.Values[v]; x.Data == nil && x.IsQuant8() {
		return QuantParamsOfType(x.Type), true
	}
	return c, false
}

// CodesPatch is the patch of a node that makes the codes of v of those of its inputs.
func (p *Program) CodesPatch(i int, op Operation, in []graph.Value, v graph.Value, c QuantParams, fused ...int) *Patch {
	found := One(i, op, in, []graph.Value{v}, fused...)
	found.Nodes[0].Codes = true
	found.params = map[graph.Value]QuantParams{v: c}
	return found
}
