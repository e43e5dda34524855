package onnx

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
)

// sortNodes puts each node after the makers of its inputs; models in the wild are sorted, and stay as they are then.
func sortNodes(nodes []*nodeProto) ([]*nodeProto, error) {
	maker := map[string]int{}
	for i, n := range nodes {
		for _, o := range n.out {
			if o == "" {
				continue
			}
			if j, taken := maker[o]; taken {
				return nil, fault.New(fault.File, "value %q is made by %s and by %s", o, nodes[j].label(), n.label())
			}
			maker[o] = i
		}
	}
	state := make([]uint8, len(nodes)) // 1: waiting for its makers, 2: placed
	out := make([]*nodeProto, 0, len(nodes))
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
			needs := nodes[top.node].needs()
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
				return nil, fault.New(fault.File, "%s depends on its own result through %q", nodes[j].label(), name)
			}
			state[j] = 1
			stack = append(stack, frame{node: j})
		}
	}
	return out, nil
}

// needs returns the names the node reads, those that its bodies read of the graphs around them included.
func (n *nodeProto) needs() []string {
	if n.reads != nil {
		return n.reads
	}
	names := slices.Clone(n.in)
	walk := func(g *graphProto) {
		own := g.defined()
		add := func(name string) {
			if !own[name] {
				names = append(names, name)
			}
		}
		for _, m := range g.nodes {
			for _, name := range m.needs() {
				add(name)
			}
		}
		for _, o := range g.out {
			add(o.name)
		}
	}
	for _, key := range sortedKeys(n.attrs) {
		a := n.attrs[key]
		if a.g != nil {
			walk(a.g)
		}
		for _, g := range a.graphs {
			walk(g)
		}
	}
	n.reads = append(names, "")
	return n.reads
}

// defined are the names of the graph's own values, which hide those around it.
func (g *graphProto) defined() map[string]bool {
	own := map[string]bool{}
	for _, v := range g.in {
		own[v.name] = true
	}
	for _, t := range g.inits {
		own[t.name] = true
	}
	for _, n := range g.nodes {
		for _, name := range n.out {
			own[name] = true
		}
	}
	return own
}

// label returns how errors call the node.
func (n *nodeProto) label() string {
	op := n.opType
	if n.domain != "" {
		op = n.domain + "." + op
	}
	if n.name != "" {
		return fmt.Sprintf("node %d (%s %q)", n.index, op, n.name)
	}
	return fmt.Sprintf("node %d (%s)", n.index, op)
}
