package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// coded is a sum of products between codes, the node that computes it, and what it is as a convolution, nil for a
// product of matrices.
type coded struct {
	*qdqSum
	conv  *convolution
	axis  int // that counts outputs
	depth int // of a product of matrices
}

// codedSum returns the sum that node i computes of codes and a constant filter of codes, nil when it is none.
func codedSum(p *ir.Program, i int) *coded {
	n := &p.Net.Graph.Nodes[i]
	switch o := n.Op.(type) {
	case *op.Conv:
		if p.HasCodes(n.In[0]) {
			return codedConv(p, i, o)
		}
	case *op.MatMul:
		if p.HasCodes(n.In[0]) {
			return codedProduct(p, i, o)
		}
	}
	return nil
}

func codedConv(p *ir.Program, i int, o *op.Conv) *coded {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	x, wd := &g.Values[n.In[0]], g.Values[n.In[1]].Dims
	rank := len(x.Dims)
	if o.ChannelsLast || rank < 3 || rank > 5 || len(wd) != rank || x.Count() > math.MaxInt32 {
		return nil
	}
	ws, err := o.Windows(x.Dims[2:], wd[1:rank-1])
	if err != nil {
		return nil
	}
	win, err := window(ws)
	if err != nil {
		return nil
	}
	c := &qdqSum{at: i, x: p.Params[n.In[0]], f: filterOf(g, n.In[1]), win: win, batch: int(x.Dims[0]),
		channels: int(x.Dims[1]), taps: win.Taps(), ic: int(wd[rank-1]), n: int(wd[0])}
	bias, ok := biasOf(g, n.In, 2, c.n)
	if !ok || c.f == nil || c.f.order == outputsInside || !c.resolve(g, 0) {
		return nil
	}
	c.add(bias)
	c.raw = !c.f.centred()
	groups := int(max(o.Groups, 1))
	return &coded{qdqSum: c, axis: 1,
		conv: &convolution{win: win, taps: c.taps, c: c.channels, groups: groups, ic: c.ic, oc: c.n / groups}}
}

func codedProduct(p *ir.Program, i int, o *op.MatMul) *coded {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	x, wd := &g.Values[n.In[0]], g.Values[n.In[1]].Dims
	f := filterOf(g, n.In[1])
	if f == nil || f.order != tapsInside || len(wd) != 2 || o.TransposeA || len(x.Dims) < 2 {
		return nil
	}
	outputs, depth, axis := int(wd[1]), int(wd[0]), 1
	if o.TransposeB {
		outputs, depth, axis = depth, outputs, 0
	}
	c := &qdqSum{at: i, x: p.Params[n.In[0]], f: f, batch: x.Count() / depth, channels: depth, taps: 1, ic: depth,
		n: outputs, transposed: !o.TransposeB}
	c.win, _ = window(nil)
	bias, ok := columnBias(g, n.In, outputs)
	if !ok || !c.resolve(g, axis) {
		return nil
	}
	c.add(bias)
	c.raw = !f.centred()
	return &coded{qdqSum: c, axis: len(g.Values[n.Out[0]].Dims) - 1, depth: depth}
}

// gemm is the operation of c as a product of matrices, nil when it is none that kernels take.
func (c *coded) gemm() *qdqGemmOp {
	switch {
	case c.conv == nil:
		return &qdqGemmOp{sum: c.qdqSum, order: run.NCHW, taps: 1, depth: c.depth}
	case c.conv.groups > 1 || c.raw && (c.win.Kernel[0] > 1 || c.win.In[0] > 1):
		return nil
	}
	return newQDQGemm(c.qdqSum, c.conv, run.NHWC)
}
