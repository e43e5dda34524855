package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

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

// qdqViewOp gives a value the codes of its operand, under the same or another meaning or shape.
type qdqViewOp struct{ same bool } // same: the sizes are the same

func (q qdqViewOp) Layout(l *ir.Layouter, n *ir.Node) {
	n.None = true
	x, y := &l.Forms[n.In[0]], &l.Forms[n.Out[0]]
	switch {
	case x.Codes == [2]int{run.None, run.None} && l.Net.Values[n.In[0]].Type.DType == l.Net.Values[n.Out[0]].Type.DType:
		y.Elements[run.NCHW] = l.Want(n.In[0], run.NCHW)
	case !q.same:
		y.Codes[run.NCHW] = l.Codes(n.In[0], run.NCHW)
	default:
		l.Enter(n.In[0])
		y.Codes = x.Codes
	}
}

func (qdqViewOp) Lower(*ir.Lowering, *ir.Node) run.Step { panic("a view is no step") }

// qdqTransposeOp are codes of images whose channels are moved: those of the operand in another order.
type qdqTransposeOp struct{ last bool } // last: after the positions

func (q qdqTransposeOp) Layout(l *ir.Layouter, n *ir.Node) {
	n.None = true
	if q.last {
		l.Forms[n.Out[0]].Codes[run.NCHW] = l.Codes(n.In[0], run.NHWC)
	} else {
		l.Forms[n.Out[0]].Codes[run.NHWC] = l.Codes(n.In[0], run.NCHW)
	}
}

func (qdqTransposeOp) Lower(*ir.Lowering, *ir.Node) run.Step { panic("another order is no step") }

// matchQDQTranspose finds codes of a quantized type whose channels are moved after the positions, or before them.
func matchQDQTranspose(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Transpose); !is || !p.HasCodes(n.In[0]) {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	perm, ok := g.Ints(n.In, 1)
	rank := len(x.Dims)
	if !ok || !x.IsQuant8() || x.Type.DType != y.Type.DType || !sameCodes(x.Type.Quant, y.Type.Quant) || y.Dims == nil {
		return nil
	}
	if last := channelsMoved(perm, rank); last != nil {
		return p.CodesPatch(i, qdqTransposeOp{*last}, n.In[:1], n.Out[0], p.Params[n.In[0]])
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
func matchDequantize(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Dequantize); !is {
		return nil
	}
	x, y := &g.Values[n.In[0]], n.Out[0]
	c, ok := ir.QuantParamsOfNode(g, n, x.Type.DType)
	if !ok || !g.IsFloat32(y) || x.Type.Quant != nil || x.Data != nil || x.Dims == nil || x.Count() == 0 {
		return nil
	}
	return p.CodesPatch(i, qdqViewOp{same: true}, n.In[:1], y, c)
}

// matchQDQView makes a value of another shape of the codes of its input.
func matchQDQView(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	same := false
	switch n.Op.(type) {
	case *op.Identity:
		same = true
	case *op.Reshape, *op.Flatten, *op.Squeeze, *op.Unsqueeze:
	default:
		return nil
	}
	x, y := n.In[0], n.Out[0]
	from, to := &g.Values[x], &g.Values[y]
	if !p.HasCodes(x) || to.Dims == nil || from.Count() != to.Count() || from.Type.DType != to.Type.DType ||
		!sameCodes(from.Type.Quant, to.Type.Quant) {
		return nil
	}
	return p.CodesPatch(i, qdqViewOp{same: same}, n.In[:1], y, p.Params[x])
}
