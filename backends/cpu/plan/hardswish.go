package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// hardSwish recognizes v * hardsigmoid(v), or v * clip(v+3, 0, 6) / 6 with the division anywhere after the clip, and
// returns the product, None when it is none. It marks the nodes.
func (b *builder) hardSwish(v graph.Value) graph.Value {
	u := b.uses[v]
	if len(u) != 2 || slices.Contains(b.graph.Out, v) {
		return graph.None
	}
	for k := range 2 {
		if out, nodes := b.hardSwishFrom(v, u[k], u[1-k]); out != graph.None {
			for _, i := range nodes {
				b.fuse(i)
			}
			return out
		}
	}
	return graph.None
}

// hardSwishFrom follows v from node i, the gate's first, to the node that multiplies it by v.
func (b *builder) hardSwishFrom(v graph.Value, i, multiply int) (out graph.Value, nodes []int) {
	if b.done[i] || b.done[multiply] {
		return graph.None, nil
	}
	gate, sixth := b.graph.Nodes[i].Out[0], false // the gate so far; it is divided by 6 already
	nodes = []int{i}
	if h, ok := b.graph.Nodes[i].Op.(*op.HardSigmoid); ok {
		if math.Abs(float64(h.Alpha)-1./6) > 1e-6 || h.Beta != 0.5 {
			return graph.None, nil
		}
		sixth = true
	} else {
		if _, ok := b.withNumber(i, v, &op.Add{}, 3); !ok {
			return graph.None, nil
		}
		clip := b.onlyUse(gate)
		if clip == none || b.done[clip] {
			return graph.None, nil
		}
		n := &b.graph.Nodes[clip]
		if a, ok := b.activation(n); !ok || a != (kernel.Act{Op: kernel.Clamp, Alpha: 0, Beta: 6}) {
			return graph.None, nil
		}
		gate, nodes = n.Out[0], append(nodes, clip)
		if next := b.onlyUse(gate); next != multiply {
			if gate, sixth = b.sixth(next, gate); !sixth {
				return graph.None, nil
			}
			nodes = append(nodes, next)
		}
	}
	m := &b.graph.Nodes[multiply]
	if _, ok := m.Op.(*op.Mul); !ok || b.onlyUse(gate) != multiply || !slices.Contains(m.In, v) ||
		!slices.Contains(m.In, gate) {
		return graph.None, nil
	}
	out, nodes = m.Out[0], append(nodes, multiply)
	if !sixth {
		last := b.onlyUse(out)
		if out, sixth = b.sixth(last, out); !sixth {
			return graph.None, nil
		}
		nodes = append(nodes, last)
	}
	if !b.values[out].fast() || !slices.Equal(b.values[out].dims, b.values[v].dims) {
		return graph.None, nil
	}
	return out, nodes
}

// sixth returns the output of node i when it divides v by 6.
func (b *builder) sixth(i int, v graph.Value) (graph.Value, bool) {
	if out, ok := b.withNumber(i, v, &op.Div{}, 6); ok {
		return out, true
	}
	return b.withNumber(i, v, &op.Mul{}, 1./6)
}
