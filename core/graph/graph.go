package graph

import (
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Value names a value of one graph: an index into Graph.Values.
type Value int32

// None stands for an optional input that is not given.
const None Value = -1

// ValueInfo describes a value of the graph.
type ValueInfo struct {
	Name string // unique names are not required; shown in reports and errors
	Fact tensor.Fact
}

// Node is one use of an operator.
type Node struct {
	Op   Op
	Name string // the model's name for it, may be empty
	// the operator's index in the program's own model (AddOperation order, ONNX node index); several nodes may share one;
	// -1: made by us
	Origin int
	In     []Value
	Out    []Value
	Terms  []string // what the program's API calls the inputs, "" where it has no word; nil: "input 0", "input 1", ...
}

// Label returns how errors and reports call the node: `operator 3 (conv "stem")`; with Terms, where Name is the API's
// word for the operator, `operation 3 (NAME)`.
func (n *Node) Label() string {
	if n.Terms != nil {
		return fmt.Sprintf("operation %d (%s)", n.Origin, n.Name)
	}
	s := NameOf(n.Op)
	if n.Name != "" {
		s += fmt.Sprintf(" %q", n.Name)
	}
	if n.Origin < 0 {
		return s
	}
	return fmt.Sprintf("operator %d (%s)", n.Origin, s)
}

// Graph is a model: values, nodes that connect them, and which values come in and go out. A value is a graph input, a
// constant, or the output of exactly one node. Nodes may stand in any order; Order gives an executable one.
type Graph struct {
	Name   string
	Values []ValueInfo
	Nodes  []Node
	In     []Value
	Out    []Value
	Meta   map[string]string // free metadata of the model; keys under "anynpu." have a meaning, see the README
}

// Fact returns what is known of v; the zero Fact for None.
func (g *Graph) Fact(v Value) tensor.Fact {
	if v == None {
		return tensor.Fact{}
	}
	return g.Values[v].Fact
}

// Facts returns what is known of each of vs.
func (g *Graph) Facts(vs []Value) []tensor.Fact {
	out := make([]tensor.Fact, len(vs))
	for i, v := range vs {
		out[i] = g.Fact(v)
	}
	return out
}

// Producers returns, per value, the index of the node that makes it, -1 for inputs and constants.
func (g *Graph) Producers() []int {
	p := make([]int, len(g.Values))
	for i := range p {
		p[i] = -1
	}
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].Out {
			if v != None {
				p[v] = i
			}
		}
	}
	return p
}

// Uses returns, per value, the indices of the nodes that read it, one entry per use, in node order.
func (g *Graph) Uses() [][]int {
	u := make([][]int, len(g.Values))
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].In {
			if v != None {
				u[v] = append(u[v], i)
			}
		}
	}
	return u
}

// Validate checks the structure: indices in range, each value made once, no input or constant is an output of a node,
// operators present, every graph output is made, no cycle. It recurses into bodies. Errors are of kind fault.Argument.
func (g *Graph) Validate() error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Argument, "graph %q: %s", g.Name, fmt.Sprintf(format, args...))
	}
	const (
		free = iota
		input
		constant
		made
	)
	state := make([]uint8, len(g.Values))
	for i := range g.Values {
		if g.Values[i].Fact.Const != nil {
			state[i] = constant
		}
	}
	inRange := func(v Value) bool { return v >= 0 && int(v) < len(g.Values) }
	for i, v := range g.In {
		if !inRange(v) {
			return bad("input %d: value %d of %d", i, v, len(g.Values))
		}
		if state[v] != free {
			return bad("input %d: value %d is given twice or constant", i, v)
		}
		state[v] = input
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op == nil {
			return bad("node %d has no operator", i)
		}
		for k, v := range n.In {
			if v != None && !inRange(v) {
				return bad("%s: input %d: value %d of %d", n.Label(), k, v, len(g.Values))
			}
		}
		for k, v := range n.Out {
			if v == None {
				continue
			}
			if !inRange(v) {
				return bad("%s: output %d: value %d of %d", n.Label(), k, v, len(g.Values))
			}
			if state[v] != free {
				return bad("%s: output %d: value %d %q has another source", n.Label(), k, v, g.Values[v].Name)
			}
			state[v] = made
		}
		if c, ok := n.Op.(Control); ok {
			for _, b := range c.Bodies() {
				if b == nil {
					return bad("%s: a body is missing", n.Label())
				}
				if err := b.Validate(); err != nil {
					return fault.Wrap(err, "%s", n.Label())
				}
			}
		}
	}
	for i := range g.Nodes {
		for k, v := range g.Nodes[i].In {
			if v != None && state[v] == free {
				return bad("%s: input %d: value %d %q has no source", g.Nodes[i].Label(), k, v, g.Values[v].Name)
			}
		}
	}
	for i, v := range g.Out {
		if !inRange(v) {
			return bad("output %d: value %d of %d", i, v, len(g.Values))
		}
		if state[v] == free {
			return bad("output %d: value %d %q has no source", i, v, g.Values[v].Name)
		}
	}
	_, err := g.Order()
	return err
}

// Order returns the node indices in an executable order: every node after the makers of its inputs, otherwise as they
// stand. A cycle is an error of kind fault.Argument that names one node on it.
func (g *Graph) Order() ([]int, error) {
	prod := g.Producers()
	waits := make([]int, len(g.Nodes)) // inputs not made yet
	users := make([][]int, len(g.Nodes))
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].In {
			if v == None || prod[v] < 0 {
				continue
			}
			waits[i]++
			users[prod[v]] = append(users[prod[v]], i)
		}
	}
	order := make([]int, 0, len(g.Nodes))
	var ready intHeap
	for i, w := range waits {
		if w == 0 {
			ready.push(i)
		}
	}
	for len(ready) > 0 {
		i := ready.pop()
		order = append(order, i)
		for _, u := range users[i] {
			if waits[u]--; waits[u] == 0 {
				ready.push(u)
			}
		}
	}
	if len(order) == len(g.Nodes) {
		return order, nil
	}
	for i, w := range waits {
		if w > 0 {
			return nil, fault.New(fault.Argument, "graph %q: %s depends on its own result", g.Name, g.Nodes[i].Label())
		}
	}
	panic("graph: nodes are missing from the order without a cycle")
}

// intHeap is a binary heap with the smallest number on top.
type intHeap []int

func (h *intHeap) push(v int) {
	*h = append(*h, v)
	s := *h
	for i := len(s) - 1; i > 0; {
		p := (i - 1) / 2
		if s[p] <= s[i] {
			break
		}
		s[p], s[i] = s[i], s[p]
		i = p
	}
}

func (h *intHeap) pop() int {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && s[c+1] < s[c] {
			c++
		}
		if s[i] <= s[c] {
			break
		}
		s[i], s[c] = s[c], s[i]
		i = c
	}
	*h = s
	return top
}
