package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// matchQDQConv finds a convolution of codes with codes.
func matchQDQConv(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	if !is || !p.HasCodes(n.In[0]) {
		return nil
	}
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
	if !ok || c.f == nil || !c.resolve(g, 0) {
		return nil
	}
	c.add(bias)
	c.raw = !c.f.centred()
	if c.epi = qdqEpilogueOf(p, n.Out[0], 1); c.epi == nil || !c.requantize() {
		return nil
	}
	groups := int(max(o.Groups, 1))
	conv := convolution{win: win, taps: c.taps, c: c.channels, groups: groups, ic: c.ic, oc: c.n / groups}
	if conv.depthwise() && kernel.FastDepthwiseInt8(c.taps*c.bytesPerTap(), c.n) {
		return c.patch(p, i, c.depthwise(run.NHWC, c.post))
	}
	if groups > 1 || c.raw && (win.Kernel[0] > 1 || win.In[0] > 1) {
		return nil
	}
	q := newQDQGemm(c, &conv, run.NHWC)
	if q == nil {
		return nil
	}
	return c.patch(p, i, q)
}

// matchQDQProduct finds a product of codes with a matrix of codes.
func matchQDQProduct(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.MatMul)
	if !is || !p.HasCodes(n.In[0]) {
		return nil
	}
	x, wd := &g.Values[n.In[0]], g.Values[n.In[1]].Dims
	f := filterOf(g, n.In[1])
	if f == nil || f.moved || len(wd) != 2 || o.TransposeA || len(x.Dims) < 2 {
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
	if c.epi = qdqEpilogueOf(p, n.Out[0], len(g.Values[n.Out[0]].Dims)-1); c.epi == nil || !c.requantize() {
		return nil
	}
	return c.patch(p, i, &qdqGemmOp{sum: c, order: run.NCHW, taps: 1, depth: depth})
}
