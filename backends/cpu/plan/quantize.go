package plan

import (
	"context"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/ops"
	"github.com/anynpu/anynpu/core/graph"
)

// quantize begins the program with the operations on 8-bit values. The other nodes are left to match.
func quantize(ctx context.Context, net *ir.Network) *ir.Program {
	p := &ir.Program{Net: net, Ctx: ctx, At: make([][]*ir.Node, len(net.Graph.Nodes)),
		There: make([]bool, len(net.Values)),
		Made:  make([]bool, len(net.Values)), Params: map[graph.Value]ir.QuantParams{},
		Centred: map[graph.Value]graph.Value{}, Waiting: map[graph.Value]*ir.Node{}}
	for _, v := range net.Graph.In {
		p.There[v], p.Made[v] = true, true
	}
	for _, i := range net.Order {
		n := &net.Graph.Nodes[i]
		if net.Done[i] || net.Held[i] || len(n.In) == 0 || n.In[0] == graph.None {
			continue
		}
		if found := p.Find(ops.QuantizeRules, i); found != nil {
			p.Apply(i, found)
		}
	}
	return p
}
