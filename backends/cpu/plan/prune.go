package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
)

// prune drops the nodes that no output and no effect needs, and counts the uses of every value by the others.
func prune(x *loaded, tables budget) *network {
	g := x.graph
	net := &network{loaded: x, maker: g.Producers(), done: make([]bool, len(g.Nodes)), held: make([]bool, len(g.Nodes)),
		pinned: map[*byte]bool{}, budget: tables}
	need := make([]bool, len(g.Values))
	for _, v := range g.Out {
		need[v] = true
	}
	var kept []int
	for _, i := range slices.Backward(x.order) {
		n := &g.Nodes[i]
		keep := graph.TraitsOf(n.Op).Effect
		for _, v := range n.Out {
			keep = keep || v != graph.None && need[v] && x.values[v].data == nil
		}
		if !keep {
			net.done[i] = true
			continue
		}
		kept = append(kept, i)
		for k, v := range n.In {
			if v != graph.None && (x.values[v].data == nil || !slices.Contains(graph.TraitsOf(n.Op).ShapeInputs, k)) {
				need[v] = true
			}
		}
	}
	slices.Reverse(kept)
	net.order = kept
	net.uses = make([][]int, len(g.Values))
	for _, i := range kept {
		for _, v := range g.Nodes[i].In {
			if v != graph.None {
				net.uses[v] = append(net.uses[v], i)
			}
		}
	}
	return net
}
