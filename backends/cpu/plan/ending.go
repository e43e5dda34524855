package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// ending is what follows a sum up to its codes.
type ending struct {
	q      graph.Value // that holds the codes
	code   coding
	add    []float32 // per output, nil: zeros
	lo, hi uint8
	nodes  []int // on the way
}

// endingOf follows v, outputs along axis, through additions of constants and clamps to a QuantizeLinear; nil when it
// does not get there.
func endingOf(p *program, v graph.Value, axis int) *ending {
	return endingBy(p, v, p.net.onlyUse(v), axis)
}

// endingBy goes from v by way of node i, then by every only reader.
func endingBy(p *program, v graph.Value, i, axis int) *ending {
	g, e := p.net, &ending{}
	dims := g.values[v].dims
	lo, hi := float32(math.Inf(-1)), float32(math.Inf(1))
	clamped := false
	for ; ; i = g.onlyUse(v) {
		if p.taken(i) || slices.Contains(e.nodes, i) {
			return nil
		}
		n := &g.graph.Nodes[i]
		if len(n.Out) != 1 || !slices.Equal(g.values[n.Out[0]].dims, dims) {
			return nil
		}
		e.nodes = append(e.nodes, i)
		switch n.Op.(type) {
		case *op.Quantize:
			var ok bool
			if e.code, ok = codingOf(g, n, g.values[n.Out[0]].typ.DType); !ok || n.In[0] != v {
				return nil
			}
			e.q, e.lo, e.hi = n.Out[0], e.code.of(lo), e.code.of(hi)
			return e
		case *op.Add:
			other := n.In[0]
			if other == v {
				other = n.In[1]
			}
			c := perChannel(g, other, dims, axis)
			if c == nil || e.add != nil || clamped {
				return nil
			}
			e.add = c
		case *op.Relu, *op.Clip:
			a, ok := activation(g, n)
			if !ok || n.In[0] != v {
				return nil
			}
			if a.Op == kernel.Relu {
				a.Alpha, a.Beta = 0, float32(math.Inf(1))
			}
			lo, hi = min(max(lo, a.Alpha), a.Beta), min(max(hi, a.Alpha), a.Beta)
			clamped = true
		default:
			return nil
		}
		v = n.Out[0]
		if !g.values[v].fast() {
			return nil
		}
	}
}

// patch is the one of the operation between the codes of in and those that e names.
func (e *ending) patch(p *program, i int, op operation, in ...graph.Value) *patch {
	return p.coded(i, op, in, e.q, e.code, without(e.nodes, i)...)
}
