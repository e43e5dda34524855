package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// geluFrom recognizes v * (erf(v / sqrt 2) + 1) * 0.5, as exporters write it for operator sets without Gelu, from the
// node that divides v to the one that halves the product.
func geluFrom(p *ir.Program, v graph.Value, divide, multiply int) *gate {
	g := p.Net
	root, ok := withNumber(p, divide, v, &op.Div{}, math.Sqrt2)
	if !ok {
		if root, ok = withNumber(p, divide, v, &op.Mul{}, math.Sqrt2/2); !ok {
			return nil
		}
	}
	erf := g.OnlyUse(root)
	if p.Taken(erf) {
		return nil
	}
	if _, ok := g.Graph.Nodes[erf].Op.(*op.Erf); !ok {
		return nil
	}
	add := g.OnlyUse(g.Graph.Nodes[erf].Out[0])
	one, ok := withNumber(p, add, g.Graph.Nodes[erf].Out[0], &op.Add{}, 1)
	if !ok || g.OnlyUse(one) != multiply {
		return nil
	}
	m := &g.Graph.Nodes[multiply]
	if _, ok := m.Op.(*op.Mul); !ok || !slices.Contains(m.In, v) || !slices.Contains(m.In, one) {
		return nil
	}
	half := g.OnlyUse(m.Out[0])
	out, ok := withNumber(p, half, m.Out[0], &op.Mul{}, 0.5)
	if !ok || !g.IsFloat32(out) || !slices.Equal(g.Values[out].Dims, g.Values[v].Dims) {
		return nil
	}
	return &gate{kernel.Act{Op: kernel.Gelu}, out, []int{divide, erf, add, multiply, half}}
}
