package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// geluFrom recognizes v * (erf(v / sqrt 2) + 1) * 0.5, as exporters write it for operator sets without Gelu, from the
// node that divides v to the one that halves the product.
func geluFrom(p *program, v graph.Value, divide, multiply int) *gate {
	g := p.net
	root, ok := withNumber(p, divide, v, &op.Div{}, math.Sqrt2)
	if !ok {
		if root, ok = withNumber(p, divide, v, &op.Mul{}, math.Sqrt2/2); !ok {
			return nil
		}
	}
	erf := g.onlyUse(root)
	if p.taken(erf) {
		return nil
	}
	if _, ok := g.graph.Nodes[erf].Op.(*op.Erf); !ok {
		return nil
	}
	add := g.onlyUse(g.graph.Nodes[erf].Out[0])
	one, ok := withNumber(p, add, g.graph.Nodes[erf].Out[0], &op.Add{}, 1)
	if !ok || g.onlyUse(one) != multiply {
		return nil
	}
	m := &g.graph.Nodes[multiply]
	if _, ok := m.Op.(*op.Mul); !ok || !slices.Contains(m.In, v) || !slices.Contains(m.In, one) {
		return nil
	}
	half := g.onlyUse(m.Out[0])
	out, ok := withNumber(p, half, m.Out[0], &op.Mul{}, 0.5)
	if !ok || !g.fast(out) || !slices.Equal(g.values[out].dims, g.values[v].dims) {
		return nil
	}
	return &gate{kernel.Act{Op: kernel.Gelu}, out, []int{divide, erf, add, multiply, half}}
}

// withNumber returns the output of node i when it combines v with one number close to c by an operator like o.
func withNumber(p *program, i int, v graph.Value, o graph.Op, c float64) (graph.Value, bool) {
	if p.taken(i) || graph.NameOf(p.net.graph.Nodes[i].Op) != graph.NameOf(o) {
		return graph.None, false
	}
	n := &p.net.graph.Nodes[i]
	other := n.In[1]
	if _, div := o.(*op.Div); !div && other == v {
		other = n.In[0]
	} else if n.In[0] != v {
		return graph.None, false
	}
	x := p.net.constant(other)
	if len(x) != 1 || math.Abs(float64(x[0])-c) > 1e-6 {
		return graph.None, false
	}
	return n.Out[0], true
}
