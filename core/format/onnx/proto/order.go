package proto

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
)

// Sort puts each node after the makers of its inputs; models in the wild are sorted, and stay as they are then.
func Sort(nodes []*Node) ([]*Node, error) {
	maker := map[string]int{}
	for i, n := range nodes {
		for _, o := range n.Out {
			if o == "" {
				continue
			}
			if j, taken := maker[o]; taken {
				return nil, fault.New(fault.File, "value %q is made by %s and by %s", o, nodes[j].Label(), n.Label())
			}
			maker[o] = i
		}
	}
	state := make([]uint8, len(nodes)) // 1: waiting for its makers, 2: placed
	out := make([]*Node, 0, len(nodes))
	type frame struct{ node, next int }
	var stack []frame
	for root := range nodes {
		if state[root] == 2 {
			continue
		}
		stack = append(stack[:0], frame{node: root})
		state[root] = 1
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			needs := nodes[top.node].Needs()
			if top.next == len(needs) {
				state[top.node] = 2
				out = append(out, nodes[top.node])
				stack = stack[:len(stack)-1]
				continue
			}
			name := needs[top.next]
			top.next++
			j, ok := maker[name]
			if !ok || state[j] == 2 {
				continue
			}
			if state[j] == 1 {
				return nil, fault.New(fault.File, "%s depends on its own result through %q", nodes[j].Label(), name)
			}
			state[j] = 1
			stack = append(stack, frame{node: j})
		}
	}
	return out, nil
}

// Needs returns the names the node reads, those that its bodies read of the graphs around them included.
func (n *Node) Needs() []string {
	if n.reads != nil {
		return n.reads
	}
	names := slices.Clone(n.In)
	walk := func(g *Graph) {
		own := g.defined()
		add := func(name string) {
			if !own[name] {
				names = append(names, name)
			}
		}
		for _, m := range g.Nodes {
			for _, name := range m.Needs() {
				add(name)
			}
		}
		for _, o := range g.Out {
			add(o.Name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(n.Attrs)) {
		a := n.Attrs[key]
		if a.G != nil {
			walk(a.G)
		}
		for _, g := range a.Graphs {
			walk(g)
		}
	}
	n.reads = append(names, "")
	return n.reads
}

// defined are the names of the graph's own values, which hide those around it.
func (g *Graph) defined() map[string]bool {
	own := map[string]bool{}
	for _, v := range g.In {
		own[v.Name] = true
	}
	for _, t := range g.Inits {
		own[t.Name] = true
	}
	for _, n := range g.Nodes {
		for _, name := range n.Out {
			own[name] = true
		}
	}
	return own
}

// Label returns how errors call the node.
func (n *Node) Label() string {
	op := n.OpType
	if n.Domain != "" {
		op = n.Domain + "." + op
	}
	if n.Name != "" {
		return fmt.Sprintf("node %d (%s %q)", n.Index, op, n.Name)
	}
	return fmt.Sprintf("node %d (%s)", n.Index, op)
}

// Operator is the node's operator, with its domain outside ai.onnx.
func (n *Node) Operator() string {
	if n.Domain == "" {
		return n.OpType
	}
	return n.Domain + "." + n.OpType
}

// Operators are the operators of the graph's nodes.
func (g *Graph) Operators() []string {
	ops := make([]string, len(g.Nodes))
	for i, n := range g.Nodes {
		ops[i] = n.Operator()
	}
	return ops
}

// Bodies returns the graphs that the attributes of a node hold.
func (n *Node) Bodies() []*Graph {
	var all []*Graph
	for _, key := range slices.Sorted(maps.Keys(n.Attrs)) {
		a := n.Attrs[key]
		all = append(all, a.Graphs...)
		if a.G != nil {
			all = append(all, a.G)
		}
	}
	return all
}
