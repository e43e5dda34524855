package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// filter is a constant matrix of 8-bit codes whose float values an operator multiplies with.
type filter struct {
	codes  graph.Value // of the graph
	nodes  []int       // that dequantize them
	signed bool        // the codes are int8
	order  codeOrder
	scale  []float32 // one, or one per index on axis
	axis   int       // of the codes
	zero   []int64   // alike; empty: zeros
}

// codeOrder is how the codes of a filter lie.
type codeOrder uint8

const (
	tapsInside    codeOrder = iota // [outputs, taps, inputs]
	tapsLast                       // [outputs, inputs, taps]
	outputsInside                  // [inputs, outputs, taps], of a transposed convolution
)

// zeroAt returns the zero point of the codes of output j.
func (f *filter) zeroAt(j int) int64 {
	if len(f.zero) == 0 {
		return 0
	}
	return f.zero[j%len(f.zero)]
}

// filterOfType returns v as a filter when it is a constant of a quantized type, nil when it is not one.
func filterOfType(g *ir.Network, v graph.Value) *filter {
	w := &g.Values[v]
	q := w.Type.Quant
	if w.Data == nil || w.Dims == nil || w.Count() == 0 || q == nil || q.Block != 0 ||
		w.Type.DType != tensor.Int8 && w.Type.DType != tensor.Uint8 ||
		slices.ContainsFunc(q.Scale, func(s float32) bool { return !ir.UsableScale(s) }) {
		return nil
	}
	f := &filter{codes: v, signed: w.Type.DType == tensor.Int8, scale: q.Scale, axis: q.Axis}
	for j := range q.Scale {
		f.zero = append(f.zero, int64(q.ZeroAt(j)))
	}
	return f
}

// filterOf returns the quantized constant that v is made from, nil when it is not one.
func filterOf(g *ir.Network, v graph.Value) *filter {
	if v == graph.None {
		return nil
	}
	f := &filter{}
	at := g.Maker[v]
	if at < 0 {
		return nil
	}
	f.nodes = append(f.nodes, at)
	n := &g.Graph.Nodes[at]
	if _, is := n.Op.(*op.Transpose); is {
		perm, ok := g.Ints(n.In, 1)
		rank := len(perm)
		switch {
		case !ok || rank < 3 || g.Maker[n.In[0]] < 0:
			return nil
		case slices.Equal(perm, append(append([]int64{0}, longs(2, rank)...), 1)):
			f.order = tapsLast
		case slices.Equal(perm, append(longs(1, rank), 0)):
			f.order = outputsInside
		default:
			return nil
		}
		f.nodes = append(f.nodes, g.Maker[n.In[0]])
		n = &g.Graph.Nodes[g.Maker[n.In[0]]]
	}
	o, is := n.Op.(*op.Dequantize)
	if !is || o.Block != 0 {
		return nil
	}
	w := &g.Values[n.In[0]]
	if w.Data == nil || w.Dims == nil || w.Type.Quant != nil ||
		w.Type.DType != tensor.Int8 && w.Type.DType != tensor.Uint8 || w.Count() == 0 ||
		g.Values[n.Out[0]].Type.DType != tensor.Float32 {
		return nil
	}
	if f.scale = g.Constant(n.In[1]); len(f.scale) == 0 ||
		slices.ContainsFunc(f.scale, func(s float32) bool { return !ir.UsableScale(s) }) {
		return nil
	}
	var ok bool
	if f.zero, ok = g.Ints(n.In, 2); !ok || len(f.zero) != 0 && len(f.zero) != len(f.scale) {
		return nil
	}
	axis, err := op.Axis(o.Axis, len(w.Dims))
	if err != nil && len(f.scale) > 1 {
		return nil
	}
	f.codes, f.axis, f.signed = n.In[0], axis, w.Type.DType == tensor.Int8
	if len(f.zero) == 0 && !f.signed {
		f.zero = []int64{0}
	}
	return f
}

// middle is the zero point of codes that are numbers of 8 bits.
func (f *filter) middle() int64 {
	if f.signed {
		return 0
	}
	return 128
}

// centred reports whether all zero points are the middle of the codes.
func (f *filter) centred() bool {
	return f.signed && len(f.zero) == 0 || !slices.ContainsFunc(f.zero, func(z int64) bool { return z != f.middle() })
}

// quantizedAfter returns the node that quantizes v, None when there is another reader of v.
func quantizedAfter(g *ir.Network, v graph.Value) int {
	k := g.OnlyUse(v)
	if k == run.None {
		return k
	}
	if n := &g.Graph.Nodes[k]; graph.NameOf(n.Op) != "quantize" || n.In[0] != v {
		return run.None
	}
	return k
}

func longs(from, to int) []int64 {
	var v []int64
	for _, i := range run.Seq(from, to) {
		v = append(v, int64(i))
	}
	return v
}

// HoldsFilter reports whether node i makes a filter for one operator that may do without the float values.
func HoldsFilter(f *ir.Network, i int) bool {
	n := &f.Graph.Nodes[i]
	if len(n.Out) != 1 || f.Values[n.Out[0]].Data != nil {
		return false
	}
	v := n.Out[0]
	if filterOf(f, v) == nil {
		return holdsBlocked(f, i)
	}
	u := f.OnlyUse(v)
	if u == run.None {
		return false
	}
	if _, is := f.Graph.Nodes[u].Op.(*op.Transpose); is {
		if v = f.Graph.Nodes[u].Out[0]; filterOf(f, v) == nil {
			return false
		}
		u = f.OnlyUse(v)
	}
	if u == run.None {
		return false
	}
	switch r := &f.Graph.Nodes[u]; r.Op.(type) {
	case *op.Conv, *op.ConvTranspose, *op.MatMul:
		return r.In[1] == v && r.In[0] != v
	}
	return false
}
