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
	if !ok || !g.isFloat32(out) || !slices.Equal(g.values[out].dims, g.values[v].dims) {
		return nil
	}
	return &gate{kernel.Act{Op: kernel.Gelu}, out, []int{divide, erf, add, multiply, half}}
}
