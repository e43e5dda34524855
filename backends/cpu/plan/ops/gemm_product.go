package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// factor describes a product with a constant matrix on its right.
type factor struct {
	rows, depth, cols int
	w                 []float32 // [cols, depth] if transposed, else [depth, cols]
	transposed        bool
	bias              []float32
}

// factorOf returns the product that a node computes with a constant matrix on the right, ok false when it is not one.
func factorOf(g *ir.Network, n *graph.Node) (f factor, ok bool) {
	switch o := n.Op.(type) {
	case *op.FullyConnected:
		return fullyConnectedFactor(g, n)
	case *op.MatMul:
		return matMulFactor(g, n, o)
	}
	return f, false
}

// fullyConnectedFactor is x * transpose(w) + bias with constant w and bias.
func fullyConnectedFactor(g *ir.Network, n *graph.Node) (f factor, ok bool) {
	x, w := &g.Values[n.In[0]], g.Operand(n.In[1])
	if !x.IsFloat32() || !g.Values[n.Out[0]].IsFloat32() || len(w) == 0 {
		return f, false
	}
	wd := g.Values[n.In[1]].Dims
	f = factor{depth: int(wd[1]), cols: int(wd[0]), w: w, transposed: true}
	f.rows = x.Count() / f.depth
	f.bias, ok = biasOf(g, n.In, 2, f.cols)
	return f, ok
}

// matMulFactor is x * w + bias with constant w and bias.
func matMulFactor(g *ir.Network, n *graph.Node, o *op.MatMul) (f factor, ok bool) {
	x, w := &g.Values[n.In[0]], &g.Values[n.In[1]]
	c := g.Operand(n.In[1])
	r := len(w.Dims)
	if !x.IsFloat32() || c == nil || !w.IsFloat32() || !g.Values[n.Out[0]].IsFloat32() || len(x.Dims) < 2 || r < 2 ||
		o.TransposeA || run.Product(w.Dims[:r-2]) != 1 || r > len(x.Dims) {
		return f, false
	}
	f = factor{depth: int(w.Dims[r-2]), cols: int(w.Dims[r-1]), w: c, transposed: o.TransposeB}
	if o.TransposeB {
		f.depth, f.cols = f.cols, f.depth
	}
	f.rows = x.Count() / f.depth
	f.bias, ok = columnBias(g, n.In, f.cols)
	return f, ok
}

// columnBias returns the constant bias of a product with the given number of columns: one value per column, or one for
// all.
func columnBias(g *ir.Network, in []graph.Value, cols int) (v []float32, ok bool) {
	if !ir.Given(in, 2) {
		return nil, true
	}
	v = g.Constant(in[2])
	d := g.Values[in[2]].Dims
	switch {
	case len(v) == 1:
		return slices.Repeat(v, cols), true
	case len(v) == cols && len(d) > 0 && int(d[len(d)-1]) == cols:
		return v, true
	}
	return nil, false
}

// matchProduct finds a product with a constant matrix, and those of the same left side that other nodes compute.
func matchProduct(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	f, ok := factorOf(g, n)
	if !ok {
		return nil
	}
	q := &siblingGemm{order: run.NCHW, parts: []part{f.part(p, i)}, gemm: kernel.Gemm{M: f.rows, K: f.depth}}
	for _, k := range siblings(p, n) {
		if h, ok := factorOf(g, &g.Graph.Nodes[k]); ok && h.rows == f.rows && h.depth == f.depth && joins(p, k, n) {
			q.parts = append(q.parts, h.part(p, k))
		}
	}
	return q.patch(i, n.In[0])
}

// part is the columns of a product of siblings that node i computes.
func (f factor) part(p *ir.Program, i int) part {
	n := &p.Net.Graph.Nodes[i]
	epi := epilogueOf(p, n.Out[0], len(p.Net.Values[n.Out[0]].Dims)-1, true)
	return part{i, f.cols, ir.Matrix(n.In[1], "gemm", f.w, f.depth, f.cols, 1, f.transposed, epi.scale),
		epi.normalized(f.bias), epi}
}
