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

// codeViewOp is a value whose codes are those of its operand, under the same or another meaning or shape.
type codeViewOp struct{ same bool } // same: the sizes are the same

func (q codeViewOp) layout(l *layouter, n *node) {
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

func (codeViewOp) lower(*lowering, *node) step { panic("a view is no step") }

// matchDequantize gives the result of a DequantizeLinear the codes of its input.
func matchDequantize(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Dequantize); !is {
		return nil
	}
	x, y := &g.values[n.In[0]], n.Out[0]
	c, ok := codingOf(g, n, x.typ.DType)
	if !ok || !g.fast(y) || x.typ.Quant != nil || x.data != nil || x.dims == nil || x.count() == 0 {
		return nil
	}
	return p.coded(i, codeViewOp{same: true}, n.In[:1], y, c)
}

// matchCodeView makes a value of another shape of the codes of its input.
func matchCodeView(p *program, i int) *patch {
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
	if !p.isCoded(x) || g.values[y].dims == nil || g.values[x].count() != g.values[y].count() {
		return nil
	}
	return p.coded(i, codeViewOp{same: same}, n.In[:1], y, p.codings[x])
}
