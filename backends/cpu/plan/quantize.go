package plan

import (
	"context"

	"github.com/anynpu/anynpu/core/graph"
)

// quantize begins the program with the operations on 8-bit values. The other nodes are left to match.
func quantize(ctx context.Context, net *network) *program {
	p := &program{net: net, ctx: ctx, at: make([][]*node, len(net.graph.Nodes)), there: make([]bool, len(net.values)),
		made: make([]bool, len(net.values)), params: map[graph.Value]quantParams{},
		centred: map[graph.Value]graph.Value{}, waiting: map[graph.Value]*node{}}
	for _, v := range net.graph.In {
		p.there[v], p.made[v] = true, true
	}
	for _, i := range net.order {
		n := &net.graph.Nodes[i]
		if net.done[i] || net.held[i] || len(n.In) == 0 || n.In[0] == graph.None {
			continue
		}
		if found := p.find(quantizeRules, i); found != nil {
			p.apply(i, found)
		}
	}
	return p
}
