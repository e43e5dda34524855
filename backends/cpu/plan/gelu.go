package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// gelu recognizes v * (erf(v / sqrt 2) + 1) * 0.5, as exporters write it for operator sets without Gelu, and returns
// the product, None when it is none. It marks the nodes.
func (b *builder) gelu(v graph.Value) graph.Value {
	u := b.uses[v]
	if len(u) != 2 || slices.Contains(b.graph.Out, v) {
		return graph.None
	}
	for k := range 2 {
		if out, nodes := b.geluFrom(v, u[k], u[1-k]); out != graph.None {
			for _, i := range nodes {
				b.fuse(i)
			}
			return out
		}
	}
	return graph.None
}

// geluFrom follows v from the node that divides it to the one that halves the product.
func (b *builder) geluFrom(v graph.Value, divide, multiply int) (out graph.Value, nodes []int) {
	root, ok := b.withNumber(divide, v, &op.Div{}, math.Sqrt2)
	if !ok {
		if root, ok = b.withNumber(divide, v, &op.Mul{}, math.Sqrt2/2); !ok {
			return graph.None, nil
		}
	}
	erf := b.onlyUse(root)
	if erf == none || b.done[erf] {
		return graph.None, nil
	}
	if _, ok := b.graph.Nodes[erf].Op.(*op.Erf); !ok {
		return graph.None, nil
	}
	add := b.onlyUse(b.graph.Nodes[erf].Out[0])
	one, ok := b.withNumber(add, b.graph.Nodes[erf].Out[0], &op.Add{}, 1)
	if !ok || b.onlyUse(one) != multiply || b.done[multiply] {
		return graph.None, nil
	}
	m := &b.graph.Nodes[multiply]
	if _, ok := m.Op.(*op.Mul); !ok || !slices.Contains(m.In, v) || !slices.Contains(m.In, one) {
		return graph.None, nil
	}
	half := b.onlyUse(m.Out[0])
	out, ok = b.withNumber(half, m.Out[0], &op.Mul{}, 0.5)
	if !ok || !b.values[out].fast() || !slices.Equal(b.values[out].dims, b.values[v].dims) {
		return graph.None, nil
	}
	return out, []int{divide, erf, add, multiply, half}
}

// withNumber returns the output of node i when it combines v with one number close to c by an operator like o.
func (b *builder) withNumber(i int, v graph.Value, o graph.Op, c float64) (graph.Value, bool) {
	if i == none || b.done[i] || b.graph.Nodes[i].Op.Name() != o.Name() {
		return graph.None, false
	}
	n := &b.graph.Nodes[i]
	other := n.In[1]
	if _, div := o.(*op.Div); !div && other == v {
		other = n.In[0]
	} else if n.In[0] != v {
		return graph.None, false
	}
	x := b.constant(other)
	if len(x) != 1 || math.Abs(float64(x[0])-c) > 1e-6 {
		return graph.None, false
	}
	return n.Out[0], true
}
