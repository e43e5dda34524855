package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// batchTask multiplies batches of matrices, packing each right side on the way.
type batchTask struct {
	st               *step
	a, b, c          matrices
	rows, depth, col int
	bias             []float32
	scale            []float32 // of the products, one value per column; nil: ones
	row, all         int       // reads that are added: one row per product, or as many as it has; none: there are none
	more             matrices  // of either
	act              kernel.Act
	gemms            []kernel.Gemm // per worker
	packed           int
	x, w, y, work    []float32
	added            []float32
}

// matrices are where the matrices of a batch lie in an operand: each starts at one of the offsets, and its rows are ld
// values apart, or its columns if transposed.
type matrices struct {
	at         []int
	ld         int
	transposed bool
}

// turned is a Transpose whose result is not made yet: products of matrices read x instead.
type turned struct {
	node int
	x    graph.Value
	axes []int
}

// turn notes a transposition that products read; it reports whether it did.
func (b *builder) turn(n *graph.Node, axes []int) bool {
	for _, i := range b.uses[n.Out[0]] {
		if _, ok := b.graph.Nodes[i].Op.(*op.MatMul); ok && len(axes) > 2 {
			if b.turns == nil {
				b.turns = map[graph.Value]*turned{}
			}
			b.turns[n.Out[0]] = &turned{b.node, n.In[0], axes}
			return true
		}
	}
	return false
}

// turnNow makes the result of a transposition that v stands for.
func (b *builder) turnNow(v graph.Value) {
	if t := b.turns[v]; t != nil {
		delete(b.turns, v)
		from := b.wantPlain(t.x)
		b.permuteFor(t.node, b.make(v, false), from, b.values[t.x].dims, t.axes)
	}
}

// matricesOf returns the buffer that holds the matrices of v and where they lie for the broadcast batch lead.
func (b *builder) matricesOf(v graph.Value, lead []int64, transposable bool) (int, matrices) {
	dims := b.values[v].dims
	r := len(dims)
	if t := b.turns[v]; t != nil {
		own := strides(b.values[t.x].dims)
		turned := make([]int, r)
		for i, a := range t.axes {
			turned[i] = own[a]
		}
		batch := offsetsOf(dims[:r-2], turned[:r-2], lead)
		switch {
		case turned[r-1] == 1:
			return b.wantPlain(t.x), matrices{batch, turned[r-2], false}
		case turned[r-2] == 1 && transposable:
			return b.wantPlain(t.x), matrices{batch, turned[r-1], true}
		}
	}
	buf := b.wantPlain(v)
	return buf, matrices{offsetsOf(dims[:r-2], strides(dims)[:r-2], lead), int(dims[r-1]), false}
}

// offsetsOf returns where each matrix of the broadcast batch lead starts in an operand with batch dims and their
// strides.
func offsetsOf(dims []int64, own []int, lead []int64) []int {
	steps := make([]int, len(lead))
	for i := range dims {
		if dims[i] != 1 {
			steps[len(lead)-len(dims)+i] = own[i]
		}
	}
	out := make([]int, product(lead))
	for i := range out {
		rest := i
		for d := len(lead) - 1; d >= 0; d-- {
			out[i] += rest % int(lead[d]) * steps[d]
			rest /= int(lead[d])
		}
	}
	return out
}

func (b *builder) batched(n *graph.Node, transposed bool, depth, cols int, bias []float32) bool {
	yd := b.values[n.Out[0]].dims
	r := len(yd)
	lead := yd[:r-2]
	if !b.table(saturated(24, product(lead))) {
		return false
	}
	t := batchTask{rows: int(yd[r-2]), depth: depth, col: cols, bias: bias, row: none, all: none,
		packed: kernel.PackedLen(depth, cols)}
	out, added := n.Out[0], graph.None
	if bias == nil {
		out, t.scale = b.scaled(out, cols)
		out, added = b.masked(out)
	}
	epi := b.epilogue(out, none, false)
	t.act = epi.act
	s := step{fast: true, reads: make([]int, 2)}
	s.reads[0], t.a = b.matricesOf(n.In[0], lead, false)
	s.reads[1], t.b = b.matricesOf(n.In[1], lead, true)
	t.b.transposed = t.b.transposed != transposed
	if added != graph.None {
		if d := b.values[added].dims; len(d) < 2 || d[len(d)-2] == 1 && t.rows != 1 {
			t.row = len(s.reads)
			d = append(slices.Repeat([]int64{1}, max(0, 2-len(d))), d...)
			t.more = matrices{at: offsetsOf(d[:len(d)-2], strides(d)[:len(d)-2], lead), ld: cols}
			s.reads = append(s.reads, b.wantPlain(added))
		} else {
			t.all = len(s.reads)
			var buf int
			buf, t.more = b.matricesOf(added, lead, false)
			s.reads = append(s.reads, buf)
		}
	}
	s.writes = make([]int, 1)
	s.writes[0], t.c = b.batchOutput(epi.out, lead)
	s.start = func(state *State, st *step) process {
		own := t
		own.st, own.gemms = st, make([]kernel.Gemm, max(1, state.threads))
		return &own
	}
	b.add(s)
	return true
}

// batchOutput makes the buffer for the matrices v, transposed already when that is all that happens to them.
func (b *builder) batchOutput(v graph.Value, lead []int64) (int, matrices) {
	dims := b.values[v].dims
	r := len(dims)
	if i := b.onlyUse(v); i != none && !b.done[i] {
		n := &b.graph.Nodes[i]
		perm, ok := b.ints(n.In, 1)
		if _, is := n.Op.(*op.Transpose); is && ok && len(perm) == r && r > 2 && b.values[n.Out[0]].fast() {
			axes, err := op.Permutation(perm, r)
			if err == nil && axes[r-1] == r-1 {
				b.fuse(i)
				own, turned := strides(b.values[n.Out[0]].dims), make([]int, r)
				for k, a := range axes {
					turned[a] = own[k]
				}
				return b.make(n.Out[0], false), matrices{offsetsOf(dims[:r-2], turned[:r-2], lead), turned[r-2], false}
			}
		}
	}
	return b.make(v, false), matrices{offsetsOf(dims[:r-2], strides(dims)[:r-2], lead), int(dims[r-1]), false}
}

// scaled follows v through a product with one finite number, or a division by one.
func (b *builder) scaled(v graph.Value, cols int) (graph.Value, []float32) {
	i := b.onlyUse(v)
	if i == none || b.done[i] {
		return v, nil
	}
	n := &b.graph.Nodes[i]
	other := graph.None
	div := false
	switch n.Op.(type) {
	case *op.Mul:
		if other = n.In[1]; other == v {
			other = n.In[0]
		}
	case *op.Div:
		if other, div = n.In[1], true; other == v {
			return v, nil
		}
	default:
		return v, nil
	}
	c := b.constant(other)
	if len(c) != 1 || !slices.Equal(b.values[n.Out[0]].dims, b.values[v].dims) || !b.values[n.Out[0]].fast() {
		return v, nil
	}
	by := c[0]
	if div {
		by = float32(1 / float64(by))
	}
	if !finite(by) || by < 1e-9 && by > -1e-9 || by > 1e9 || by < -1e9 {
		return v, nil
	}
	b.fuse(i)
	return n.Out[0], slices.Repeat([]float32{by}, cols)
}

// masked follows v through a sum with a value that exists already and has as many columns.
func (b *builder) masked(v graph.Value) (out, added graph.Value) {
	i := b.onlyUse(v)
	if i == none || b.done[i] {
		return v, graph.None
	}
	n := &b.graph.Nodes[i]
	if _, ok := n.Op.(*op.Add); !ok || n.In[0] == n.In[1] {
		return v, graph.None
	}
	if added = n.In[0]; added == v {
		added = n.In[1]
	}
	x, dims := &b.values[added], b.values[v].dims
	d, r := x.dims, len(dims)
	if !x.fast() || x.plain == none && x.last == none || !slices.Equal(b.values[n.Out[0]].dims, dims) ||
		!b.values[n.Out[0]].fast() {
		return v, graph.None
	}
	if len(d) == 0 || d[len(d)-1] != dims[r-1] || len(d) > 1 && d[len(d)-2] != 1 && d[len(d)-2] != dims[r-2] {
		return v, graph.None
	}
	b.fuse(i)
	return n.Out[0], added
}

func (t *batchTask) run(s *State) error {
	t.x, t.w, t.y = s.f32(t.st.reads[0]), s.f32(t.st.reads[1]), s.f32(t.st.writes[0])
	if t.row != none {
		t.added = s.f32(t.st.reads[t.row])
	}
	if t.all != none {
		t.added = s.f32(t.st.reads[t.all])
	}
	var err error
	if t.work, err = s.borrow(len(t.gemms) * t.packed); err != nil {
		return err
	}
	s.do(len(t.a.at), t)
	return nil
}

// Chunk computes product i.
func (t *batchTask) Chunk(i, worker int) {
	packed := t.work[worker*t.packed:][:t.packed]
	w := t.w[t.b.at[i]:]
	if t.b.transposed {
		kernel.PackBT(packed, w, t.depth, t.col, t.b.ld)
	} else {
		kernel.PackB(packed, w, t.depth, t.col, t.b.ld)
	}
	if t.scale != nil {
		kernel.ScalePacked(packed, t.scale, t.depth, t.col, 0, kernel.Panels(t.col), 0, t.depth)
	}
	g := &t.gemms[worker]
	*g = kernel.Gemm{
		M: t.rows, N: t.col, K: t.depth, A: t.x[t.a.at[i]:], LDA: t.a.ld, B: packed, C: t.y[t.c.at[i]:], LDC: t.c.ld,
		Bias: t.bias, Act: t.act,
	}
	switch {
	case t.row != none:
		g.Bias = t.added[t.more.at[i]:][:t.col]
	case t.all != none:
		g.Res, g.LDR = t.added[t.more.at[i]:], t.more.ld
	}
	g.Run()
}
