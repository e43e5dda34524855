package rknn

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// exposeQuantised takes the quantising of inputs and the dequantising of outputs out of a graph, as the vendor's converter does: what
// crosses the boundary are then the integers, and the ports know what they mean. Only quantisation per tensor, of 8 or 16 bits, that is
// the sole use of an input is taken out.
func exposeQuantised(g *graph.Graph, in, out []*port) {
	drop := map[int]bool{}
	uses, producers := g.Uses(), g.Producers()
	for i, v := range g.In {
		if len(uses[v]) != 1 || slices.Contains(g.Out, v) || g.Fact(v).DType != tensor.Float32 {
			continue
		}
		n := &g.Nodes[uses[v][0]]
		if _, ok := n.Op.(*op.Quantize); !ok || n.In[0] != v || slices.Contains(g.Out, n.Out[0]) {
			continue
		}
		w := n.Out[0]
		q, ok := perTensor(g, n, g.Fact(w).DType)
		if !ok {
			continue
		}
		in[i].quant, in[i].core = q, g.Fact(w).DType
		g.Values[w].Name, g.Values[w].Fact.Shape, g.In[i] = in[i].name, in[i].shape, w
		drop[uses[v][0]] = true
	}
	for i, v := range g.Out {
		at := producers[v]
		if at < 0 || drop[at] || g.Fact(v).DType != tensor.Float32 {
			continue
		}
		n := &g.Nodes[at]
		w := n.In[0]
		if _, ok := n.Op.(*op.Dequantize); !ok || w == graph.None || producers[w] < 0 || drop[producers[w]] || slices.Contains(g.Out, w) {
			continue
		}
		q, ok := perTensor(g, n, g.Fact(w).DType)
		if !ok {
			continue
		}
		out[i].quant, out[i].core = q, g.Fact(w).DType
		g.Values[w].Name, g.Out[i] = out[i].name, w
		if len(uses[v]) == 0 && !slices.Contains(g.Out, v) {
			drop[at] = true
		}
	}
	kept := g.Nodes[:0:0]
	for i, n := range g.Nodes {
		if !drop[i] {
			kept = append(kept, n)
		}
	}
	g.Nodes = kept
}

// perTensor reads the constant scale and zero point of a node that quantises to codes, or from codes, of one type.
func perTensor(g *graph.Graph, n *graph.Node, codes tensor.DType) (*quant, bool) {
	switch codes {
	case tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16:
	default:
		return nil, false
	}
	scale := g.Fact(n.In[1])
	if k, ok := scale.Shape.Count(); !ok || k != 1 || scale.Const == nil || scale.DType != tensor.Float32 {
		return nil, false
	}
	s, err := tensor.ReadFloat32s(scale.Const.Data, 1)
	if err != nil {
		return nil, false
	}
	q := &quant{scale: s[0]}
	if len(n.In) > 2 && n.In[2] != graph.None {
		zero := g.Fact(n.In[2])
		if k, ok := zero.Shape.Count(); !ok || k != 1 || zero.Const == nil {
			return nil, false
		}
		z, err := tensor.ReadInts(zero.DType, zero.Const.Data, 1)
		if err != nil {
			return nil, false
		}
		q.zero = int32(z[0])
	}
	return q, q.scale > 0
}
