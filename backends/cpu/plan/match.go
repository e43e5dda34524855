package plan

import (
	"context"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// match finds an operation for every node that is left. Kind fault.Unsupported when no node has a fast kernel.
func match(ctx context.Context, p *program) error {
	net, fast := p.net, len(p.fused) > 0
	for _, i := range net.order {
		if err := ctx.Err(); err != nil {
			return fault.As(fault.Canceled, err, "plan")
		}
		if !net.done[i] {
			n := &net.graph.Nodes[i]
			var found *patch
			if len(n.In) > 0 && n.In[0] != graph.None { // neither random numbers nor a loop without a count
				found = p.find(rules, i)
			}
			if found == nil {
				found = one(i, &refOp{}, n.In, n.Out)
				found.nodes[0].kind = "reference"
			}
			p.apply(i, found)
		}
		for _, n := range p.at[i] {
			_, byRef := n.op.(*refOp)
			fast = fast || !byRef
		}
		p.pass(i)
	}
	if !fast {
		return fault.New(fault.Unsupported, "no node has a fast kernel")
	}
	return nil
}
