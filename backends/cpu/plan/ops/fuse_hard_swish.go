package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// hardSwishFrom recognizes v * hardsigmoid(v), or v * clip(v+3, 0, 6) / 6 with the division anywhere after the clip,
// from node i, the function's first, to the node that multiplies it by v.
func hardSwishFrom(p *ir.Program, v graph.Value, i, multiply int) *gate {
	g := p.Net
	factor, sixth := g.Graph.Nodes[i].Out[0], false // the function so far; it is divided by 6 already
	nodes := []int{i}
	if h, ok := g.Graph.Nodes[i].Op.(*op.HardSigmoid); ok {
		if math.Abs(float64(h.Alpha)-1./6) > 1e-6 || h.Beta != 0.5 {
			return nil
		}
		sixth = true
	} else {
		if _, ok := withNumber(p, i, v, &op.Add{}, 3); !ok {
			return nil
		}
		clip := g.OnlyUse(factor)
		if p.Taken(clip) {
			return nil
		}
		n := &g.Graph.Nodes[clip]
		if a, ok := activation(g, n); !ok || a != (kernel.Act{Op: kernel.Clamp, Alpha: 0, Beta: 6}) {
			return nil
		}
		factor, nodes = n.Out[0], append(nodes, clip)
		if next := g.OnlyUse(factor); next != multiply {
			if factor, sixth = byOneSixth(p, next, factor); !sixth {
				return nil
			}
			nodes = append(nodes, next)
		}
	}
	m := &g.Graph.Nodes[multiply]
	if _, ok := m.Op.(*op.Mul); !ok || g.OnlyUse(factor) != multiply || !slices.Contains(m.In, v) ||
		!slices.Contains(m.In, factor) {
		return nil
	}
	out := m.Out[0]
	nodes = append(nodes, multiply)
	if !sixth {
		last := g.OnlyUse(out)
		if out, sixth = byOneSixth(p, last, out); !sixth {
			return nil
		}
		nodes = append(nodes, last)
	}
	if !g.IsFloat32(out) || !slices.Equal(g.Values[out].Dims, g.Values[v].Dims) {
		return nil
	}
	return &gate{kernel.Act{Op: kernel.HardSwish}, out, nodes}
}

// byOneSixth returns the output of node i when it divides v by 6.
func byOneSixth(p *ir.Program, i int, v graph.Value) (graph.Value, bool) {
	if out, ok := withNumber(p, i, v, &op.Div{}, 6); ok {
		return out, true
	}
	return withNumber(p, i, v, &op.Mul{}, 1./6)
}
