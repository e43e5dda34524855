package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
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

// batchTask multiplies batches of matrices, packing each right side on the way.
type batchTask struct {
	st               *step
	a, b             []int // per product: offset of the operand
	rows, depth, col int
	transposed       bool
	bias             []float32
	act              kernel.Act
	gemms            []kernel.Gemm // per worker
	packed           int
	x, w, y, work    []float32
}

func (b *builder) batched(n *graph.Node, transposed bool, depth, cols int, bias []float32) bool {
	xd, wd, yd := b.values[n.In[0]].dims, b.values[n.In[1]].dims, b.values[n.Out[0]].dims
	rows, lead := int(xd[len(xd)-2]), yd[:len(yd)-2]
	epi := b.epilogue(n.Out[0], none, false)
	t := batchTask{
		rows: rows, depth: depth, col: cols, transposed: transposed, bias: bias, act: epi.act, packed: kernel.PackedLen(depth, cols),
		a: offsets(xd[:len(xd)-2], lead, rows*depth), b: offsets(wd[:len(wd)-2], lead, depth*cols),
	}
	s := step{fast: true, reads: []int{b.wantPlain(n.In[0]), b.wantPlain(n.In[1])}, writes: []int{b.make(epi.out, false)}}
	s.start = func(state *State, st *step) process {
		own := t
		own.st, own.gemms = st, make([]kernel.Gemm, max(1, state.threads))
		return &own
	}
	b.add(s)
	return true
}

// offsets returns where each matrix of the broadcast batch lead starts in an operand with batch dims and matrices of the given size.
func offsets(dims, lead []int64, size int) []int {
	strides := make([]int, len(lead))
	own := tensor.RowMajor(dims)
	for i := range dims {
		if dims[i] != 1 {
			strides[len(lead)-len(dims)+i] = int(own[i]) * size
		}
	}
	out := make([]int, product(lead))
	for i := range out {
		rest := i
		for d := len(lead) - 1; d >= 0; d-- {
			out[i] += rest % int(lead[d]) * strides[d]
			rest /= int(lead[d])
		}
	}
	return out
}

func (t *batchTask) run(s *State) error {
	t.x, t.w, t.y = s.f32(t.st.reads[0]), s.f32(t.st.reads[1]), s.f32(t.st.writes[0])
	var err error
	if t.work, err = s.borrow(len(t.gemms) * t.packed); err != nil {
		return err
	}
	s.do(len(t.a), t)
	return nil
}

// Chunk computes product i.
func (t *batchTask) Chunk(i, worker int) {
	packed := t.work[worker*t.packed:][:t.packed]
	w := t.w[t.b[i]:][:t.depth*t.col]
	if t.transposed {
		kernel.PackBT(packed, w, t.depth, t.col, t.depth)
	} else {
		kernel.PackB(packed, w, t.depth, t.col, t.col)
	}
	g := &t.gemms[worker]
	*g = kernel.Gemm{
		M: t.rows, N: t.col, K: t.depth, A: t.x[t.a[i]:], LDA: t.depth, B: packed, C: t.y[i*t.rows*t.col:], LDC: t.col, Bias: t.bias, Act: t.act,
	}
	g.Run()
}
