package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// filter is a constant matrix of 8-bit codes whose numbers an operator multiplies with.
type filter struct {
	codes graph.Value // of the graph
	moved bool        // codes are [outputs, inputs, taps], not [outputs, taps, inputs]
	scale []float32   // one, or one per index on axis
	axis  int         // of the codes
	zero  []int64     // alike; empty: zeros
}

// filter returns the quantized constant that v is made from, nil when it is none.
func (b *builder) filter(v graph.Value) *filter {
	if v == graph.None {
		return nil
	}
	f := &filter{}
	at := b.maker[v]
	if at < 0 {
		return nil
	}
	n := &b.graph.Nodes[at]
	if _, is := n.Op.(*op.Transpose); is {
		perm, ok := b.ints(n.In, 1)
		rank := len(perm)
		if !ok || rank < 3 || !slices.Equal(perm, append(append([]int64{0}, longs(2, rank)...), 1)) || b.maker[n.In[0]] < 0 {
			return nil
		}
		f.moved = true
		n = &b.graph.Nodes[b.maker[n.In[0]]]
	}
	o, is := n.Op.(*op.Dequantize)
	if !is || o.Block != 0 {
		return nil
	}
	w := &b.values[n.In[0]]
	if w.data == nil || w.dims == nil || w.typ.Quant != nil || w.typ.DType != tensor.Int8 && w.typ.DType != tensor.Uint8 ||
		w.count() == 0 || b.values[n.Out[0]].typ.DType != tensor.Float32 {
		return nil
	}
	if f.scale = b.constant(n.In[1]); len(f.scale) == 0 ||
		slices.ContainsFunc(f.scale, func(s float32) bool { return !usableScale(s) }) {
		return nil
	}
	var ok bool
	if f.zero, ok = b.ints(n.In, 2); !ok || len(f.zero) != 0 && len(f.zero) != len(f.scale) {
		return nil
	}
	axis, err := op.Axis(o.Axis, len(w.dims))
	if err != nil && len(f.scale) > 1 {
		return nil
	}
	f.codes, f.axis = n.In[0], axis
	offset := int64(0)
	if w.typ.DType == tensor.Uint8 {
		offset = 128
	}
	if len(f.zero) == 0 && offset != 0 || slices.ContainsFunc(f.zero, func(z int64) bool { return z != offset }) {
		return nil
	}
	return f
}

func longs(from, to int) []int64 {
	var v []int64
	for _, i := range seq(from, to) {
		v = append(v, int64(i))
	}
	return v
}

// putOff reports whether node i makes a filter for one operator that may do without the numbers; they are made when it
// does not.
func (b *builder) putOff(i int) bool {
	n := &b.graph.Nodes[i]
	if len(n.Out) != 1 || b.values[n.Out[0]].data != nil {
		return false
	}
	v := n.Out[0]
	if b.filter(v) == nil {
		return false
	}
	u := b.onlyUse(v)
	if u == none {
		return false
	}
	if _, is := b.graph.Nodes[u].Op.(*op.Transpose); is {
		if v = b.graph.Nodes[u].Out[0]; b.filter(v) == nil {
			return false
		}
		u = b.onlyUse(v)
	}
	if u == none {
		return false
	}
	switch r := &b.graph.Nodes[u]; r.Op.(type) {
	case *op.Conv, *op.MatMul:
		return r.In[1] == v && r.In[0] != v
	}
	return false
}
