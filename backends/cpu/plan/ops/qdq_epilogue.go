package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// qdqEpilogue is the way from a sum to its codes.
type qdqEpilogue struct {
	q      graph.Value // that holds the codes
	params ir.QuantParams
	add    []float32 // per output, nil: zeros
	lo, hi uint8
	nodes  []int // on the way
}

// qdqEpilogueOf follows v, outputs along axis, through additions of constants and clamps to a QuantizeLinear; nil when
// it does not get there.
func qdqEpilogueOf(p *ir.Program, v graph.Value, axis int) *qdqEpilogue {
	return qdqEpilogueBy(p, v, p.Net.OnlyUse(v), axis)
}

// qdqEpilogueBy goes from v by way of node i, then by every only reader.
func qdqEpilogueBy(p *ir.Program, v graph.Value, i, axis int) *qdqEpilogue {
	g, e := p.Net, &qdqEpilogue{}
	dims := g.Values[v].Dims
	lo, hi := float32(math.Inf(-1)), float32(math.Inf(1))
	clamped := false
	for ; ; i = g.OnlyUse(v) {
		if p.Taken(i) || slices.Contains(e.nodes, i) {
			return nil
		}
		n := &g.Graph.Nodes[i]
		if len(n.Out) != 1 || !slices.Equal(g.Values[n.Out[0]].Dims, dims) {
			return nil
		}
		e.nodes = append(e.nodes, i)
		switch n.Op.(type) {
		case *op.Quantize:
			var ok bool
			if e.params, ok = ir.QuantParamsOfNode(g, n, g.Values[n.Out[0]].Type.DType); !ok || n.In[0] != v {
				return nil
			}
			e.q, e.lo, e.hi = n.Out[0], e.params.Of(lo), e.params.Of(hi)
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
		if !g.Values[v].IsFloat32() {
			return nil
		}
	}
}

// patch replaces node i by an operation that makes the codes of e.q from those of in.
func (e *qdqEpilogue) patch(p *ir.Program, i int, op ir.Operation, in ...graph.Value) *ir.Patch {
	return p.CodesPatch(i, op, in, e.q, e.params, ir.Without(e.nodes, i)...)
}
