package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// layerNorm is a normalization of the rows of x over their last dimensions, by one node or by several.
type layerNorm struct {
	x, out graph.Value
	params [2]graph.Value // gamma and beta, None: ones and zeros
	cols   int
	eps    float32
	nodes  []int
}

// layerNormOf resolves a node, nil when there is no fast kernel.
func (b *builder) layerNormOf(i int) *layerNorm {
	n := &b.graph.Nodes[i]
	o, ok := n.Op.(*op.LayerNorm)
	x := &b.values[n.In[0]]
	if !ok || len(n.Out) != 1 || !x.fast() || !b.values[n.Out[0]].fast() {
		return nil
	}
	a, err := op.Axis(o.Axis, len(x.dims))
	if err != nil {
		return nil
	}
	q := &layerNorm{x: n.In[0], out: n.Out[0], params: [2]graph.Value{graph.None, graph.None}, cols: product(x.dims[a:]),
		eps: o.Epsilon, nodes: []int{i}}
	for k := range q.params {
		if !given(n.In, k+1) {
			continue
		}
		p := n.In[k+1]
		b.settle(p)
		if !b.perColumn(p, x.dims[a:]) || b.values[p].plain == none && b.values[p].last == none {
			return nil
		}
		q.params[k] = p
	}
	return q
}

// perColumn reports whether v has one value for each position in the last dimensions of something.
func (b *builder) perColumn(v graph.Value, dims []int64) bool {
	return b.values[v].fast() && slices.Equal(withoutOnes(b.values[v].dims), withoutOnes(dims))
}

// layerNormFrom returns the normalization that reads v, nil when there is none.
func (b *builder) layerNormFrom(v graph.Value) *layerNorm {
	for _, i := range b.uses[v] {
		if b.done[i] || b.graph.Nodes[i].In[0] != v {
			continue
		}
		if q := b.layerNormOf(i); q != nil {
			return q
		}
		if q := b.normInParts(i); q != nil {
			return q
		}
	}
	return nil
}

// layerNorm adds the normalization that begins with the node being emitted.
func (b *builder) layerNorm() bool {
	q := b.layerNormOf(b.node)
	if q == nil {
		q = b.normInParts(b.node)
	}
	if q == nil {
		return false
	}
	b.normStep(q, step{inplace: true, reads: []int{b.wantPlain(q.x)}}, graph.None)
	return true
}

// addNorm adds a sum together with the normalization of it.
func (b *builder) addNorm(n *graph.Node) bool {
	v := n.Out[0]
	dims := b.values[v].dims
	for _, x := range n.In {
		if !b.values[x].fast() || !slices.Equal(b.values[x].dims, dims) || b.inLast(x) {
			return false
		}
	}
	q := b.layerNormFrom(v)
	if q == nil {
		return false
	}
	rest := slices.DeleteFunc(slices.Clone(b.uses[v]), func(i int) bool { return slices.Contains(q.nodes, i) })
	sum := v
	if len(rest) == 0 && !slices.Contains(b.graph.Out, v) {
		sum = graph.None
	}
	b.normStep(q, step{inplace: true, reads: []int{b.wantPlain(n.In[0]), b.wantPlain(n.In[1])}}, sum)
	return true
}

// normStep adds the step of q, which reads one or two values that are added, and writes their sum unless it is None.
func (b *builder) normStep(q *layerNorm, s step, sum graph.Value) {
	for _, i := range q.nodes {
		if i != b.node {
			b.fuse(i)
		}
	}
	t := normRows{cols: q.cols, rows: b.values[q.x].count() / q.cols, eps: q.eps, added: len(s.reads) == 2,
		sums: sum != graph.None}
	t.per = max(1, blockLen/2/t.cols)
	for k, p := range q.params {
		if t.params[k] = none; p == graph.None {
			t.gammaBeta[k] = slices.Repeat([]float32{float32(1 - k)}, q.cols)
			continue
		}
		t.params[k] = len(s.reads)
		s.reads = append(s.reads, b.wantPlain(p))
	}
	s.writes = []int{b.make(q.out, false)}
	if t.sums {
		s.writes = append(s.writes, b.make(sum, false))
	}
	s.fast = true
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
}

// normRows normalizes rows, or their sums with others.
type normRows struct {
	st              *step
	rows, cols, per int // per: rows of a chunk
	eps             float32
	added, sums     bool
	params          [2]int // gamma and beta: index in reads, none: gammaBeta has them
	gammaBeta       [2][]float32
	x, res, y, sum  []float32
}

func (t *normRows) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.f32(t.st.writes[0])
	if t.added {
		t.res = s.f32(t.st.reads[1])
	}
	if t.sums {
		t.sum = s.f32(t.st.writes[1])
	}
	for k, r := range t.params {
		if r != none {
			t.gammaBeta[k] = s.f32(t.st.reads[r])
		}
	}
	s.do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows.
func (t *normRows) Chunk(i, _ int) {
	from, to := i*t.per, min(t.rows, (i+1)*t.per)
	part := func(v []float32) []float32 {
		if v == nil {
			return nil
		}
		return v[from*t.cols : to*t.cols]
	}
	kernel.LayerNormRows(part(t.y), part(t.x), part(t.res), part(t.sum), t.gammaBeta[0], t.gammaBeta[1], to-from, t.cols,
		t.eps)
}
