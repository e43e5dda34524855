package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// factor is what a product with a constant matrix on the right is made of.
type factor struct {
	rows, depth, cols int
	w                 []float32 // [cols, depth] if transposed, else [depth, cols]
	transposed        bool
	bias              []float32
}

// factorOf returns the product that a node computes with a constant matrix on the right, ok false when it is not one.
func factorOf(g *network, n *graph.Node) (f factor, ok bool) {
	switch o := n.Op.(type) {
	case *op.FullyConnected:
		return fullyConnectedFactor(g, n)
	case *op.MatMul:
		return matMulFactor(g, n, o)
	}
	return f, false
}

// fullyConnectedFactor is x * transpose(w) + bias with constant w and bias.
func fullyConnectedFactor(g *network, n *graph.Node) (f factor, ok bool) {
	x, w := &g.values[n.In[0]], g.operand(n.In[1])
	if !x.isFloat32() || !g.values[n.Out[0]].isFloat32() || len(w) == 0 {
		return f, false
	}
	wd := g.values[n.In[1]].dims
	f = factor{depth: int(wd[1]), cols: int(wd[0]), w: w, transposed: true}
	f.rows = x.count() / f.depth
	f.bias, ok = biasOf(g, n.In, 2, f.cols)
	return f, ok
}

// matMulFactor is x * w + bias with constant w and bias.
func matMulFactor(g *network, n *graph.Node, o *op.MatMul) (f factor, ok bool) {
	x, w := &g.values[n.In[0]], &g.values[n.In[1]]
	c := g.operand(n.In[1])
	r := len(w.dims)
	if !x.isFloat32() || c == nil || !w.isFloat32() || !g.values[n.Out[0]].isFloat32() || len(x.dims) < 2 || r < 2 ||
		o.TransposeA || product(w.dims[:r-2]) != 1 || r > len(x.dims) {
		return f, false
	}
	f = factor{depth: int(w.dims[r-2]), cols: int(w.dims[r-1]), w: c, transposed: o.TransposeB}
	if o.TransposeB {
		f.depth, f.cols = f.cols, f.depth
	}
	f.rows = x.count() / f.depth
	f.bias, ok = columnBias(g, n.In, f.cols)
	return f, ok
}

// columnBias returns the constant bias of a product with the given number of columns: one value per column, or one for
// all.
func columnBias(g *network, in []graph.Value, cols int) (v []float32, ok bool) {
	if !given(in, 2) {
		return nil, true
	}
	v = g.constant(in[2])
	d := g.values[in[2]].dims
	switch {
	case len(v) == 1:
		return slices.Repeat(v, cols), true
	case len(v) == cols && len(d) > 0 && int(d[len(d)-1]) == cols:
		return v, true
	}
	return nil, false
}

// matchProduct finds a product with a constant matrix, and those of the same left side that other nodes compute.
func matchProduct(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	f, ok := factorOf(g, n)
	if !ok {
		return nil
	}
	q := &siblingGemm{order: nchw, parts: []part{f.part(p, i)}, gemm: kernel.Gemm{M: f.rows, K: f.depth}}
	for _, k := range siblings(p, n) {
		if h, ok := factorOf(g, &g.graph.Nodes[k]); ok && h.rows == f.rows && h.depth == f.depth && joins(p, k, n) {
			q.parts = append(q.parts, h.part(p, k))
		}
	}
	return q.patch(i, n.In[0])
}

// part is the columns of a product of siblings that node i computes.
func (f factor) part(p *program, i int) part {
	n := &p.net.graph.Nodes[i]
	epi := epilogueOf(p, n.Out[0], len(p.net.values[n.Out[0]].dims)-1, true)
	return part{i, f.cols, matrix(n.In[1], "gemm", f.w, f.depth, f.cols, 1, f.transposed, epi.scale),
		epi.normalized(f.bias), epi}
}
