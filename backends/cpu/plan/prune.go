package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// prune drops the nodes that no output and no effect needs, and counts the uses of every value by the others.
func prune(x *ir.Loaded, tables run.Budget) *ir.Network {
	g := x.Graph
	net := &ir.Network{Loaded: x, Maker: g.Producers(), Done: make([]bool, len(g.Nodes)), Held: make([]bool, len(g.Nodes)),
		Pinned: map[*byte]bool{}, Budget: tables}
	need := make([]bool, len(g.Values))
	for _, v := range g.Out {
		need[v] = true
	}
	var kept []int
	for _, i := range slices.Backward(x.Order) {
		n := &g.Nodes[i]
		keep := graph.TraitsOf(n.Op).Effect
		for _, v := range n.Out {
			keep = keep || v != graph.None && need[v] && x.Values[v].Data == nil
		}
		if !keep {
			net.Done[i] = true
			continue
		}
		kept = append(kept, i)
		for k, v := range n.In {
			if v != graph.None && (x.Values[v].Data == nil || !slices.Contains(graph.TraitsOf(n.Op).ShapeInputs, k)) {
				need[v] = true
			}
		}
	}
	slices.Reverse(kept)
	net.Order = kept
	net.Uses = make([][]int, len(g.Values))
	for _, i := range kept {
		for _, v := range g.Nodes[i].In {
			if v != graph.None {
				net.Uses[v] = append(net.Uses[v], i)
			}
		}
	}
	return net
}
