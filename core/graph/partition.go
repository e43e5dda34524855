package graph

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
)

// mergeBudget bounds the steps that Partition spends on looking for larger parts; what it returns is right without
// them.
const mergeBudget = 2_000_000

// Partition splits g's nodes into parts, each of nodes with one owner (owner has an entry per node) that are connected
// with each other, as large as they can be while no part depends on itself through another. Parts come in an executable
// order, the nodes of a part in ascending order. When all nodes have one owner there is one part, connected or not.
func (g *Graph) Partition(owner []int) ([][]int, error) {
	if len(owner) != len(g.Nodes) {
		return nil, fault.New(fault.Argument, "partition: %d owners for %d nodes", len(owner), len(g.Nodes))
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	if len(order) == 0 {
		return nil, nil
	}
	if !slices.ContainsFunc(owner, func(o int) bool { return o != owner[0] }) {
		slices.Sort(order)
		return [][]int{order}, nil
	}
	p := newPartitioner(g, owner, order)
	p.mergeNeighbours()
	return p.parts(), nil
}

// partitioner groups nodes. The level of a node is the largest number of changes of owner on a path to it. Every edge
// between nodes of different owners raises the level and no edge lowers it, so groups of nodes that are connected
// inside one (owner, level) do not depend on themselves; merging of groups keeps that by looking for paths.
type partitioner struct {
	owner  []int
	parent []int              // union-find over nodes
	next   []map[int]struct{} // edges between groups, by root
	prev   []map[int]struct{}
}

func newPartitioner(g *Graph, owner, order []int) *partitioner {
	n := len(g.Nodes)
	p := &partitioner{owner: owner, parent: make([]int, n), next: make([]map[int]struct{}, n),
		prev: make([]map[int]struct{}, n)}
	for i := range p.parent {
		p.parent[i] = i
	}
	prod := g.Producers()
	level := make([]int, n)
	for _, i := range order {
		for _, v := range g.Nodes[i].In {
			if v == None || prod[v] < 0 {
				continue
			}
			from := level[prod[v]]
			if owner[prod[v]] != owner[i] {
				from++
			}
			level[i] = max(level[i], from)
		}
	}
	edges := func(f func(from, to int)) {
		for i := range g.Nodes {
			for _, v := range g.Nodes[i].In {
				if v != None && prod[v] >= 0 {
					f(prod[v], i)
				}
			}
		}
	}
	edges(func(from, to int) {
		if owner[from] == owner[to] && level[from] == level[to] {
			p.parent[p.root(from)] = p.root(to)
		}
	})
	edges(func(from, to int) { p.link(p.root(from), p.root(to)) })
	return p
}

func (p *partitioner) root(i int) int {
	for p.parent[i] != i {
		p.parent[i] = p.parent[p.parent[i]]
		i = p.parent[i]
	}
	return i
}

func (p *partitioner) link(from, to int) {
	if from == to {
		return
	}
	if p.next[from] == nil {
		p.next[from] = map[int]struct{}{}
	}
	if p.prev[to] == nil {
		p.prev[to] = map[int]struct{}{}
	}
	p.next[from][to] = struct{}{}
	p.prev[to][from] = struct{}{}
}

// mergeNeighbours joins groups of one owner with an edge between them and no other path, until there are none.
func (p *partitioner) mergeNeighbours() {
	budget := mergeBudget
	for changed := true; changed && budget > 0; {
		changed = false
		for a := range p.parent {
			if p.root(a) != a {
				continue
			}
			for _, b := range sorted(p.next[a]) {
				if p.root(a) == a && p.root(b) == b && p.owner[a] == p.owner[b] && !p.detour(a, b, &budget) {
					p.merge(a, b)
					changed = true
				}
			}
		}
	}
}

func sorted(set map[int]struct{}) []int {
	s := make([]int, 0, len(set))
	for v := range set {
		s = append(s, v)
	}
	slices.Sort(s)
	return s
}

// detour reports whether b can be reached from a through another group; true when the budget is used up.
func (p *partitioner) detour(a, b int, budget *int) bool {
	seen := map[int]struct{}{}
	var stack []int
	for n := range p.next[a] {
		if n != b {
			stack = append(stack, n)
		}
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == b {
			return true
		}
		if _, again := seen[n]; again {
			continue
		}
		seen[n] = struct{}{}
		if *budget--; *budget < 0 {
			return true
		}
		for m := range p.next[n] {
			stack = append(stack, m)
		}
	}
	return false
}

// merge puts b into a.
func (p *partitioner) merge(a, b int) {
	p.parent[b] = a
	for n := range p.next[b] {
		delete(p.prev[n], b)
		p.link(a, n)
	}
	for n := range p.prev[b] {
		delete(p.next[n], b)
		p.link(n, a)
	}
	delete(p.next[a], a)
	delete(p.prev[a], a)
	p.next[b], p.prev[b] = nil, nil
}

// parts lists the groups in an executable order.
func (p *partitioner) parts() [][]int {
	nodes := map[int][]int{}
	var roots []int
	for i := range p.parent {
		r := p.root(i)
		if nodes[r] == nil {
			roots = append(roots, r)
		}
		nodes[r] = append(nodes[r], i)
	}
	waits := map[int]int{}
	index := map[int]int{} // root to its place in roots, which is ordered by first node
	var ready intHeap
	for k, r := range roots {
		index[r] = k
		if waits[r] = len(p.prev[r]); waits[r] == 0 {
			ready.push(k)
		}
	}
	out := make([][]int, 0, len(roots))
	for len(ready) > 0 {
		r := roots[ready.pop()]
		out = append(out, nodes[r])
		for _, n := range sorted(p.next[r]) {
			if waits[n]--; waits[n] == 0 {
				ready.push(index[n])
			}
		}
	}
	if len(out) != len(roots) {
		panic("graph: parts depend on each other in a circle")
	}
	return out
}

// Extract returns the part of g that consists of the given nodes, as a graph of its own that shares constants and
// bodies with g. in and out are the values of g that its inputs and outputs stand for, in ascending order: what the
// part reads from outside other than constants, and what others, or g's outputs, read of it.
func (g *Graph) Extract(nodes []int) (part *Graph, in, out []Value) {
	inside := make([]bool, len(g.Values))
	for _, i := range nodes {
		for _, v := range g.Nodes[i].Out {
			if v != None {
				inside[v] = true
			}
		}
	}
	member := make([]bool, len(g.Nodes))
	for _, i := range nodes {
		member[i] = true
	}
	read := make([]bool, len(g.Values)) // from the outside
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].In {
			if v != None && !member[i] {
				read[v] = true
			}
		}
	}
	for _, v := range g.Out {
		read[v] = true
	}
	part = &Graph{Name: g.Name, Meta: g.Meta}
	local := make([]Value, len(g.Values))
	for i := range local {
		local[i] = None
	}
	enter := func(v Value) Value {
		if v == None {
			return None
		}
		if local[v] == None {
			local[v] = Value(len(part.Values))
			part.Values = append(part.Values, g.Values[v])
			if !inside[v] && g.Values[v].Fact.Const == nil {
				in = append(in, v)
			}
			if inside[v] && read[v] {
				out = append(out, v)
			}
		}
		return local[v]
	}
	for _, i := range nodes {
		n := g.Nodes[i]
		n.In, n.Out = slices.Clone(n.In), slices.Clone(n.Out)
		for k, v := range n.In {
			n.In[k] = enter(v)
		}
		for k, v := range n.Out {
			n.Out[k] = enter(v)
		}
		part.Nodes = append(part.Nodes, n)
	}
	slices.Sort(in)
	slices.Sort(out)
	for _, v := range in {
		part.In = append(part.In, local[v])
	}
	for _, v := range out {
		part.Out = append(part.Out, local[v])
	}
	return part, in, out
}
