package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// fullyConnected adds x * transpose(w) + bias with constant w and bias.
func (b *builder) fullyConnected(n *graph.Node) bool {
	x, w := &b.values[n.In[0]], b.operand(n.In[1])
	if !x.fast() || !b.values[n.Out[0]].fast() || len(w) == 0 {
		return false
	}
	wd := b.values[n.In[1]].dims
	outputs, depth := int(wd[0]), int(wd[1])
	bias, ok := b.bias(n.In, 2, outputs)
	if !ok {
		return false
	}
	return b.product(n, x.count()/depth, depth, outputs, w, true, bias)
}

// matMul adds a matrix product: with a constant matrix on the right, or of two batches.
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
	if !ok {
		return false
	}
	c := b.operand(n.In[1])
	if c == nil || product(w.dims[:r-2]) != 1 || r > len(x.dims) {
		return b.batched(n, o.TransposeB, depth, cols, bias)
	}
	return b.product(n, x.count()/depth, depth, cols, c, o.TransposeB, bias)
}

// columnBias returns the constant bias of a product with the given number of columns: one value per column, or one for all.
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

type productTask struct {
	st       *step
	residual bool
	kernel.Gemm
}

// product adds one matrix product with a constant right side w, [cols, depth] if transposed, else [depth, cols].
func (b *builder) product(n *graph.Node, rows, depth, cols int, w []float32, transposed bool, bias []float32) bool {
	axis := len(b.values[n.Out[0]].dims) - 1
	epi := b.epilogue(n.Out[0], axis, true)
	packed := b.pack(matrix(n.In[1], "gemm", w, depth, cols, 1, transposed, epi.scale))
	bias = epi.normalised(bias)
	s := step{fast: true, reads: []int{b.wantPlain(n.In[0])}, inCols: []int{depth, cols}, outCols: []int{cols}}
	if epi.res != graph.None {
		s.reads = append(s.reads, b.wantPlain(epi.res))
	}
	s.writes = []int{b.make(epi.out, false)}
	s.start = func(_ *State, st *step) process {
		return &productTask{st, epi.res != graph.None, kernel.Gemm{
			M: rows, N: cols, K: depth, B: packed, Bias: bias, ResAfter: epi.after, Act: epi.act,
		}}
	}
	b.add(s)
	return true
}

func (t *productTask) run(s *State) error {
	t.A, t.LDA = s.rows(t.st.reads[0], t.K)
	t.C, t.LDC = s.rows(t.st.writes[0], t.N)
	if t.residual {
		t.Res, t.LDR = s.rows(t.st.reads[1], t.N)
	}
	s.do(t.Plan(s.threads), t)
	return nil
}

// Chunk computes part of the product.
func (t *productTask) Chunk(i, _ int) { t.Gemm.Chunk(i) }
