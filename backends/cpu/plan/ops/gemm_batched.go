package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// batchOp is a product of two batches of matrices.
type batchOp struct {
	task        batchTask
	a, b, added *matricesIn // added: nil if there is nothing, or one row per product
	row         graph.Value // that is added, None: none
	transposed  bool        // the right sides
}

// matchBatched finds a product of two batches of matrices.
func matchBatched(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.MatMul)
	if !is || o.TransposeA || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) {
		return nil
	}
	wd := g.Values[n.In[1]].Dims
	if len(g.Values[n.In[0]].Dims) < 2 || len(wd) < 2 {
		return nil
	}
	depth, cols := int(wd[len(wd)-2]), int(wd[len(wd)-1])
	if o.TransposeB {
		depth, cols = cols, depth
	}
	bias, ok := columnBias(g, n.In, cols)
	if !ok {
		return nil
	}
	yd := g.Values[n.Out[0]].Dims
	r := len(yd)
	lead := yd[:r-2]
	tables := run.Saturated(24, run.Product(lead))
	if !g.Budget.Allows(tables) {
		return nil
	}
	q := &batchOp{row: graph.None}
	q.task = batchTask{rows: int(yd[r-2]), depth: depth, col: cols, bias: bias, row: run.None, all: run.None,
		packed: kernel.PackedLen(depth, cols)}
	out, added := n.Out[0], graph.None
	var fused, more []int
	if bias == nil {
		out, q.task.scale, fused = scaled(p, out, cols)
		if out, added, more = masked(p, out); added != graph.None {
			fused = append(fused, more...)
		}
	}
	epi := epilogueOf(p, out, run.None, false)
	fused = append(fused, epi.nodes...)
	q.task.act = epi.act
	q.a = matricesOf(p, n.In[0], lead, false)
	q.b = matricesOf(p, n.In[1], lead, true)
	q.transposed = o.TransposeB
	in := []graph.Value{q.a.operand(), q.b.operand()}
	if added != graph.None {
		if d := g.Values[added].Dims; len(d) < 2 || d[len(d)-2] == 1 && q.task.rows != 1 {
			d = append(slices.Repeat([]int64{1}, max(0, 2-len(d))), d...)
			q.task.more, q.row = matrices{at: offsetsOf(d[:len(d)-2], strides(d)[:len(d)-2], lead), ld: cols}, added
		} else {
			q.added = matricesOf(p, added, lead, false)
		}
		in = append(in, added)
	}
	out, q.task.c, more = batchOutput(p, epi.out, lead)
	found := ir.One(i, q, in, []graph.Value{out}, append(fused, more...)...)
	found.Tables = tables
	return found
}

func (q *batchOp) Layout(l *ir.Layouter, n *ir.Node) {
	q.task.a = q.a.read(l, n)
	q.readRight(l, n)
	l.Write(n, n.Out[0], run.NCHW)
}

// readRight makes the right sides, and the addends of the products, the next operands of n.
func (q *batchOp) readRight(l *ir.Layouter, n *ir.Node) {
	q.task.b = q.b.read(l, n)
	q.task.b.transposed = q.task.b.transposed != q.transposed
	switch {
	case q.row != graph.None:
		q.task.row = len(n.Reads)
		l.Read(n, q.row, run.NCHW)
	case q.added != nil:
		q.task.all = len(n.Reads)
		q.task.more = q.added.read(l, n)
	}
}

func (q *batchOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(state *run.State, st *run.Step) run.Process {
		own := t
		own.st, own.gemms = st, make([]kernel.Gemm, max(1, state.Threads))
		return &own
	}}
}

// batchOutput says where the matrices v are written, transposed already when that is all that happens to them.
func batchOutput(p *ir.Program, v graph.Value, lead []int64) (graph.Value, matrices, []int) {
	g, dims := p.Net, p.Net.Values[v].Dims
	r := len(dims)
	if i := g.OnlyUse(v); !p.Taken(i) {
		n := &g.Graph.Nodes[i]
		perm, ok := g.Ints(n.In, 1)
		if _, is := n.Op.(*op.Transpose); is && ok && len(perm) == r && r > 2 && g.IsFloat32(n.Out[0]) {
			axes, err := op.Permutation(perm, r)
			if err == nil && axes[r-1] == r-1 {
				own, transposed := strides(g.Values[n.Out[0]].Dims), make([]int, r)
				for k, a := range axes {
					transposed[a] = own[k]
				}
				return n.Out[0], matrices{offsetsOf(dims[:r-2], transposed[:r-2], lead), transposed[r-2], false}, []int{i}
			}
		}
	}
	return v, matrices{offsetsOf(dims[:r-2], strides(dims)[:r-2], lead), int(dims[r-1]), false}, nil
}

// scaled follows v through a product with one finite number, or a division by one.
func scaled(p *ir.Program, v graph.Value, cols int) (out graph.Value, scale []float32, nodes []int) {
	g := p.Net
	i := g.OnlyUse(v)
	if p.Taken(i) {
		return v, nil, nil
	}
	n := &g.Graph.Nodes[i]
	other := graph.None
	div := false
	switch n.Op.(type) {
	case *op.Mul:
		if other = n.In[1]; other == v {
			other = n.In[0]
		}
	case *op.Div:
		if other, div = n.In[1], true; other == v {
			return v, nil, nil
		}
	default:
		return v, nil, nil
	}
	c := g.Constant(other)
	if len(c) != 1 || !slices.Equal(g.Values[n.Out[0]].Dims, g.Values[v].Dims) || !g.IsFloat32(n.Out[0]) {
		return v, nil, nil
	}
	by := c[0]
	if div {
		by = float32(1 / float64(by))
	}
	if !finite(by) || by < 1e-9 && by > -1e-9 || by > 1e9 || by < -1e9 {
		return v, nil, nil
	}
	return n.Out[0], slices.Repeat([]float32{by}, cols), []int{i}
}

// masked follows v through a sum with a value that exists already and has as many columns; added is None when there is
// none.
func masked(p *ir.Program, v graph.Value) (out, added graph.Value, nodes []int) {
	g := p.Net
	i := g.OnlyUse(v)
	if p.Taken(i) {
		return v, graph.None, nil
	}
	n := &g.Graph.Nodes[i]
	if _, ok := n.Op.(*op.Add); !ok || n.In[0] == n.In[1] {
		return v, graph.None, nil
	}
	if added = n.In[0]; added == v {
		added = n.In[1]
	}
	dims := g.Values[v].Dims
	d, r := g.Values[added].Dims, len(dims)
	if !g.IsFloat32(added, n.Out[0]) || !p.IsMade(added) || !slices.Equal(g.Values[n.Out[0]].Dims, dims) {
		return v, graph.None, nil
	}
	if len(d) == 0 || d[len(d)-1] != dims[r-1] || len(d) > 1 && d[len(d)-2] != 1 && d[len(d)-2] != dims[r-2] {
		return v, graph.None, nil
	}
	return n.Out[0], added, []int{i}
}

// TakeHalves makes operand k, value v of binary16, the right sides, where products read them as they are.
func (q *batchOp) TakeHalves(k int, v graph.Value) bool {
	t := &q.task
	if k != 1 || t.rows > fewDotRows || t.depth < fewRowsDepth || t.depth > halvesWork || t.col < fewRowsCols {
		return false
	}
	if t.halves = true; q.b.by == nil {
		q.b.value = v
	} else {
		q.b.from = v
	}
	return true
}

func (t *batchTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	if t.halves {
		t.right = mem.Elements[uint16](s.Mem[t.st.Reads[1]])
	} else {
		t.w = s.F32(t.st.Reads[1])
	}
	t.operands(s, t.st)
	if t.halves || t.ofFewRows() {
		return (*fewRowsTask)(t).run(s)
	}
	if divided(len(t.a.at), 2*t.rows*t.col*t.depth, s.Threads) {
		return t.runDivided(s)
	}
	var err error
	if t.work, err = s.Borrow(len(t.gemms) * t.packed); err != nil {
		return err
	}
	s.Do(len(t.a.at), t)
	return nil
}

// runDivided computes one product after the other, each with all threads.
func (t *batchTask) runDivided(s *run.State) error {
	var err error
	if t.work, err = s.Borrow(t.packed); err != nil {
		return err
	}
	t.whole.pack = packTask{to: t.work, depth: t.depth, cols: t.col, ld: t.b.ld, transposed: t.b.transposed,
		scale: t.scale}
	for i, at := range t.b.at {
		if i == 0 || at != t.b.at[i-1] {
			t.whole.pack.from = t.w[at:]
			t.whole.pack.run(s)
		}
		t.whole.Gemm = t.product(i, t.work)
		t.whole.run(s)
	}
	return nil
}

// Chunk computes product i.
func (t *batchTask) Chunk(i, worker int) {
	w := t.w[t.b.at[i]:]
	if t.col == 1 && t.scale == nil && t.bias == nil && t.row == run.None && t.all == run.None &&
		t.act.Op == kernel.Identity && (t.b.transposed || t.b.ld == 1) {
		x, y := t.x[t.a.at[i]:], t.y[t.c.at[i]:]
		for r := range t.rows {
			y[r*t.c.ld] = kernel.Dot(x[r*t.a.ld:][:t.depth], w[:t.depth])
		}
		return
	}
	packed := t.work[worker*t.packed:][:t.packed]
	t.pack(packed, i)
	g := &t.gemms[worker]
	*g = t.product(i, packed)
	g.Run()
}

// pack packs the right side of product i.
func (t *batchTask) pack(to []float32, i int) {
	w := t.w[t.b.at[i]:]
	if t.b.transposed {
		kernel.PackBT(to, w, t.depth, t.col, t.b.ld)
	} else {
		kernel.PackB(to, w, t.depth, t.col, t.b.ld)
	}
	if t.scale != nil {
		kernel.ScalePacked(to, t.scale, t.depth, t.col, 0, kernel.Panels(t.col), 0, t.depth)
	}
}

// operands finds the addends of the products.
func (t *batchTask) operands(s *run.State, st *run.Step) {
	if t.row != run.None {
		t.added = s.F32(st.Reads[t.row])
	}
	if t.all != run.None {
		t.added = s.F32(st.Reads[t.all])
	}
}

// product is product i with its right side packed.
func (t *batchTask) product(i int, packed []float32) kernel.Gemm {
	g := kernel.Gemm{
		M: t.rows, N: t.col, K: t.depth, A: t.x[t.a.at[i]:], LDA: t.a.ld, B: packed, C: t.y[t.c.at[i]:], LDC: t.c.ld,
		Bias: t.bias, Act: t.act,
	}
	switch {
	case t.row != run.None:
		g.Bias = t.added[t.more.at[i]:][:t.col]
	case t.all != run.None:
		g.Res, g.LDR = t.added[t.more.at[i]:], t.more.ld
	}
	return g
}
