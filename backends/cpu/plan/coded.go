package plan

import "github.com/anynpu/anynpu/core/op"

// Islands: between QuantizeLinear and DequantizeLinear tensors stay codes of 8 bits, one byte per element, and the
// operators there compute with integers. A value is coded when its codes exist; readers that need float values
// dequantize them.
//
// Exactness: sums of products are exact in int32, whatever the order. So an island's code is that of the real result of
// its node, halves to even, unless the result before rounding lies within 2^-12 of the middle between two codes (2^-21
// for each code that the bias is worth, when that is more than 512); there it may be the other of the two. The same
// graph in float32 errs by up to 2^-23 of the sum of the magnitudes of all products and rounds to the other code when
// that crosses a middle. So a node's code differs from float32 arithmetic by at most one, and only where the real
// result is that close to a middle. Quantizing, views, maxima and dequantized codes do not differ at all.

// qdqViewOp is a value whose codes are those of its operand, under the same or another meaning or shape.
type qdqViewOp struct{ same bool } // same: the sizes are the same

func (q qdqViewOp) layout(l *layouter, n *node) {
	n.none = true
	x, y := &l.forms[n.in[0]], &l.forms[n.out[0]]
	switch {
	case x.codes == [2]int{none, none} && l.net.values[n.in[0]].typ.DType == l.net.values[n.out[0]].typ.DType:
		y.elements[nchw] = l.want(n.in[0], nchw)
	case !q.same:
		y.codes[nchw] = l.codes(n.in[0], nchw)
	default:
		l.enter(n.in[0])
		y.codes = x.codes
	}
}

func (qdqViewOp) lower(*lowering, *node) step { panic("a view is no step") }

// qdqTransposeOp are codes of images whose channels are moved: those of the operand in another order.
type qdqTransposeOp struct{ last bool } // last: behind the positions

func (q qdqTransposeOp) layout(l *layouter, n *node) {
	n.none = true
	if q.last {
		l.forms[n.out[0]].codes[nchw] = l.codes(n.in[0], nhwc)
	} else {
		l.forms[n.out[0]].codes[nhwc] = l.codes(n.in[0], nchw)
	}
}

func (qdqTransposeOp) lower(*lowering, *node) step { panic("another order is no step") }

// matchQDQTranspose finds codes of a quantized type whose channels are moved behind the positions, or in front of them.
func matchQDQTranspose(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Transpose); !is || !p.hasCodes(n.In[0]) {
		return nil
	}
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	perm, ok := g.ints(n.In, 1)
	rank := len(x.dims)
	if !ok || !x.isQuant8() || x.typ.DType != y.typ.DType || !sameCodes(x.typ.Quant, y.typ.Quant) || y.dims == nil {
		return nil
	}
	if last := channelsMoved(perm, rank); last != nil {
		return p.codesPatch(i, qdqTransposeOp{*last}, n.In[:1], n.Out[0], p.params[n.In[0]])
	}
	return nil
}

// channelsMoved reports whether perm moves dimension 1 of an image to the end, or the last one to its place; nil:
// neither.
func channelsMoved(perm []int64, rank int) (last *bool) {
	if rank < 3 || len(perm) != rank || perm[0] != 0 {
		return nil
	}
	behind, front := true, true
	for k := 1; k < rank; k++ {
		behind = behind && perm[k] == int64(k%(rank-1)+1)
		front = front && perm[k] == int64((k+rank-3)%(rank-1)+1)
	}
	if behind || front {
		return &behind
	}
	return nil
}

// matchDequantize gives the result of a DequantizeLinear the codes of its input.
func matchDequantize(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Dequantize); !is {
		return nil
	}
	x, y := &g.values[n.In[0]], n.Out[0]
	c, ok := quantParamsOfNode(g, n, x.typ.DType)
	if !ok || !g.isFloat32(y) || x.typ.Quant != nil || x.data != nil || x.dims == nil || x.count() == 0 {
		return nil
	}
	return p.codesPatch(i, qdqViewOp{same: true}, n.In[:1], y, c)
}

// matchQDQView makes a value of another shape of the codes of its input.
func matchQDQView(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	same := false
	switch n.Op.(type) {
	case *op.Identity:
		same = true
	case *op.Reshape, *op.Flatten, *op.Squeeze, *op.Unsqueeze:
	default:
		return nil
	}
	x, y := n.In[0], n.Out[0]
	from, to := &g.values[x], &g.values[y]
	if !p.hasCodes(x) || to.dims == nil || from.count() != to.count() || from.typ.DType != to.typ.DType ||
		!sameCodes(from.typ.Quant, to.typ.Quant) {
		return nil
	}
	return p.codesPatch(i, qdqViewOp{same: same}, n.In[:1], y, p.params[x])
}
