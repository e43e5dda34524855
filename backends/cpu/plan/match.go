package plan

import (
	"context"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/ops"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// match finds an operation for every node that is left. Kind fault.Unsupported when no node has a fast kernel, unless
// there may be none.
func match(ctx context.Context, p *ir.Program, slow bool) error {
	net, fast := p.Net, slow || len(p.Fused) > 0
	for _, i := range net.Order {
		if err := ctx.Err(); err != nil {
			return fault.As(fault.Canceled, err, "plan")
		}
		if !net.Done[i] {
			n := &net.Graph.Nodes[i]
			var found *ir.Patch
			_, control := n.Op.(graph.Control)
			if len(n.In) > 0 && (n.In[0] != graph.None || control) { // no random numbers
				found = p.Find(ops.Rules, i)
			}
			if found == nil {
				found = ir.One(i, &ops.Reference{}, n.In, n.Out)
				found.Nodes[0].Kind = "reference"
			}
			p.Apply(i, found)
		}
		for _, n := range p.At[i] {
			_, byRef := n.Op.(*ops.Reference)
			fast = fast || !byRef
		}
		p.Pass(i)
	}
	if !fast {
		return fault.New(fault.Unsupported, "no node has a fast kernel")
	}
	narrow(p)
	return nil
}
