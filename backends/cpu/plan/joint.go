package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// Products of one value with several constant matrices, such as queries, keys and values of attention or the branches
// of a block, are one step: one product with the columns of all, which reads the value once. Its columns go to one
// buffer per matrix, each with its own epilogue, so that nothing restricts what reads them.

// part is the columns of one matrix in a joint product.
type part struct {
	cols   int
	packed []float32
	bias   []float32
	epi    epilogue
}

// siblings returns the nodes besides n that read n's first input in the same place and are not emitted.
func (b *builder) siblings(n *graph.Node) []int {
	var list []int
	for _, i := range b.uses[n.In[0]] {
		if o := &b.graph.Nodes[i]; o != n && !b.done[i] && o.In[0] == n.In[0] && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	return list
}

// joins reports whether node i, one of n's siblings, loses nothing when it is computed together with n: what is added
// to its result must be there already, or come from another product, which then adds this one.
func (b *builder) joins(i int, n *graph.Node) bool {
	v := b.graph.Nodes[i].Out[0]
	for {
		next := b.onlyUse(v)
		if next == none {
			return true
		}
		m := &b.graph.Nodes[next]
		switch m.Op.(type) {
		case *op.BatchNorm, *op.Relu, *op.Clip:
			v = m.Out[0]
			continue
		case *op.Add:
		default:
			return true
		}
		other := m.In[0]
		if other == v {
			other = m.In[1]
		}
		if x := &b.values[other]; x.plain != none || x.last != none {
			return true
		}
		from := b.productOf(other)
		return from != nil && from.In[0] != n.In[0]
	}
}

// productOf returns the product that v is the result of, perhaps normalized or with an activation, nil when it is none.
func (b *builder) productOf(v graph.Value) *graph.Node {
	for i := b.maker[v]; i != none; i = b.maker[v] {
		n := &b.graph.Nodes[i]
		switch n.Op.(type) {
		case *op.Conv, *op.FullyConnected, *op.MatMul:
			return n
		case *op.BatchNorm, *op.Relu, *op.Clip:
			v = n.In[0]
		default:
			return nil
		}
	}
	return nil
}

// sibling makes a part of the step being emitted from node i.
func (b *builder) sibling(i int, part func() part) part {
	saved := b.node
	b.node = i
	defer func() { b.node = saved }()
	b.fuse(i)
	return part()
}

// productTask is one product, or several with the same left side.
type productTask struct {
	st        *step
	residuals []int // per part: index in reads, none: it has none
	kernel.Joint
}

// products adds a step that multiplies rows, s.reads[0], by the matrices of parts; g has the sizes that they share.
func (b *builder) products(s step, parts []part, g kernel.Gemm, last bool) {
	want := b.wantPlain
	if last {
		want = b.wantLast
	}
	s.fast = true
	var residuals []int
	for _, p := range parts {
		residuals = append(residuals, none)
		if p.epi.res != graph.None {
			residuals[len(residuals)-1] = len(s.reads)
			s.reads, s.inCols = append(s.reads, want(p.epi.res)), append(s.inCols, p.cols)
		}
		s.outCols = append(s.outCols, p.cols)
	}
	for _, p := range parts {
		s.writes = append(s.writes, b.make(p.epi.out, last))
	}
	s.start = func(_ *State, st *step) process {
		t := &productTask{st: st, residuals: residuals}
		for _, p := range parts {
			q := g
			q.N, q.B, q.Bias, q.ResAfter, q.Act = p.cols, p.packed, p.bias, p.epi.after, p.epi.act
			t.Parts = append(t.Parts, q)
		}
		return t
	}
	b.add(s)
}

func (t *productTask) run(s *State) error {
	for i := range t.Parts {
		q := &t.Parts[i]
		q.A, q.LDA = s.rows(t.st.reads[0], q.K)
		q.C, q.LDC = s.rows(t.st.writes[i], q.N)
		if r := t.residuals[i]; r != none {
			q.Res, q.LDR = s.rows(t.st.reads[r], q.N)
		}
	}
	s.do(t.Plan(s.threads), t)
	return nil
}

// Chunk computes part of the products.
func (t *productTask) Chunk(i, _ int) { t.Joint.Chunk(i) }
