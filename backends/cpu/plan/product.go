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

// factor returns the product that a node computes with a constant matrix on the right, ok false when it is none.
func (b *builder) factor(n *graph.Node) (f factor, ok bool) {
	switch o := n.Op.(type) {
	case *op.FullyConnected:
		return b.fullyConnectedFactor(n)
	case *op.MatMul:
		return b.matMulFactor(n, o)
	}
	return f, false
}

// fullyConnectedFactor is x * transpose(w) + bias with constant w and bias.
func (b *builder) fullyConnectedFactor(n *graph.Node) (f factor, ok bool) {
	x, w := &b.values[n.In[0]], b.operand(n.In[1])
	if !x.fast() || !b.values[n.Out[0]].fast() || len(w) == 0 {
		return f, false
	}
	wd := b.values[n.In[1]].dims
	f = factor{depth: int(wd[1]), cols: int(wd[0]), w: w, transposed: true}
	f.rows = x.count() / f.depth
	f.bias, ok = b.bias(n.In, 2, f.cols)
	return f, ok
}

// matMulFactor is x * w + bias with constant w and bias.
func (b *builder) matMulFactor(n *graph.Node, o *op.MatMul) (f factor, ok bool) {
	x, w := &b.values[n.In[0]], &b.values[n.In[1]]
	c := b.operand(n.In[1])
	r := len(w.dims)
	if !x.fast() || c == nil || !w.fast() || !b.values[n.Out[0]].fast() || len(x.dims) < 2 || r < 2 || o.TransposeA ||
		product(w.dims[:r-2]) != 1 || r > len(x.dims) {
		return f, false
	}
	f = factor{depth: int(w.dims[r-2]), cols: int(w.dims[r-1]), w: c, transposed: o.TransposeB}
	if o.TransposeB {
		f.depth, f.cols = f.cols, f.depth
	}
	f.rows = x.count() / f.depth
	f.bias, ok = b.columnBias(n.In, f.cols)
	return f, ok
}

// matMul adds a product of two batches of matrices.
func (b *builder) matMul(n *graph.Node, o *op.MatMul) bool {
	x, w := &b.values[n.In[0]], &b.values[n.In[1]]
	if !x.fast() || !w.fast() || !b.values[n.Out[0]].fast() || len(x.dims) < 2 || len(w.dims) < 2 || o.TransposeA {
		return false
	}
	r := len(w.dims)
	depth, cols := int(w.dims[r-2]), int(w.dims[r-1])
	if o.TransposeB {
		depth, cols = cols, depth
	}
	bias, ok := b.columnBias(n.In, cols)
	return ok && b.batched(n, o.TransposeB, depth, cols, bias)
}

// columnBias returns the constant bias of a product with the given number of columns: one value per column, or one for
// all.
func (b *builder) columnBias(in []graph.Value, cols int) (v []float32, ok bool) {
	if !given(in, 2) {
		return nil, true
	}
	v = b.constant(in[2])
	d := b.values[in[2]].dims
	switch {
	case len(v) == 1:
		return slices.Repeat(v, cols), true
	case len(v) == cols && len(d) > 0 && int(d[len(d)-1]) == cols:
		return v, true
	}
	return nil, false
}

// product adds the product with a constant matrix that n computes, and those of the same left side that others do.
func (b *builder) product(n *graph.Node) bool {
	f, ok := b.factor(n)
	if !ok {
		return false
	}
	all := []part{b.part(n, f)}
	for _, i := range b.siblings(n) {
		if g, ok := b.factor(&b.graph.Nodes[i]); ok && g.rows == f.rows && g.depth == f.depth && b.joins(i, n) {
			all = append(all, b.sibling(i, func() part { return b.part(&b.graph.Nodes[i], g) }))
		}
	}
	s := step{reads: []int{b.wantPlain(n.In[0])}, inCols: []int{f.depth}}
	b.products(s, all, kernel.Gemm{M: f.rows, K: f.depth}, false)
	return true
}

// part makes the columns of a joint product that n computes.
func (b *builder) part(n *graph.Node, f factor) part {
	epi := b.epilogue(n.Out[0], len(b.values[n.Out[0]].dims)-1, true)
	packed := b.pack(matrix(n.In[1], "gemm", f.w, f.depth, f.cols, 1, f.transposed, epi.scale))
	return part{f.cols, packed, epi.normalized(f.bias), epi}
}
