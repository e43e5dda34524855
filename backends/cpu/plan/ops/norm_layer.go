package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// layerNormOf resolves a node, nil when there is no fast kernel.
func layerNormOf(p *ir.Program, i int) *layerNorm {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, ok := n.Op.(*op.LayerNorm)
	if !ok || len(n.Out) != 1 || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.Values[n.In[0]]
	a, err := op.Axis(o.Axis, len(x.Dims))
	if err != nil {
		return nil
	}
	q := &layerNorm{x: n.In[0], out: n.Out[0], params: [2]graph.Value{graph.None, graph.None},
		cols: run.Product(x.Dims[a:]), eps: o.Epsilon, nodes: []int{i}}
	for k := range q.params {
		if !ir.Given(n.In, k+1) {
			continue
		}
		v := n.In[k+1]
		if !perColumn(g, v, x.Dims[a:]) || !p.IsThere(v) {
			return nil
		}
		q.params[k] = v
	}
	return q
}

// layerNormFrom returns the normalization that reads v, nil when there is none.
func layerNormFrom(p *ir.Program, v graph.Value) *layerNorm {
	for _, i := range p.Net.Uses[v] {
		if p.Taken(i) || p.Net.Graph.Nodes[i].In[0] != v {
			continue
		}
		if q := layerNormOf(p, i); q != nil {
			return q
		}
		if q := normInParts(p, i); q != nil {
			return q
		}
	}
	return nil
}

// matchLayerNorm finds the normalization that begins with node i.
func matchLayerNorm(p *ir.Program, i int) *ir.Patch {
	q := layerNormOf(p, i)
	if q == nil {
		q = normInParts(p, i)
	}
	if q == nil {
		return nil
	}
	return q.patch(p, i, []graph.Value{q.x}, graph.None)
}

// matchAddNorm finds a sum together with the normalization of it.
func matchAddNorm(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Add); !is || !g.IsFloat32(n.In[0], n.In[1]) {
		return nil
	}
	v := n.Out[0]
	for _, x := range n.In {
		if !slices.Equal(g.Values[x].Dims, g.Values[v].Dims) {
			return nil
		}
	}
	q := layerNormFrom(p, v)
	if q == nil {
		return nil
	}
	sum := graph.None
	if slices.Contains(g.Graph.Out, v) ||
		slices.ContainsFunc(g.Uses[v], func(i int) bool { return !slices.Contains(q.nodes, i) }) {
		sum = v
	}
	return q.patch(p, i, slices.Clone(n.In), sum)
}

// patch replaces node i by a normalization of in, or of the sum of two in; the sum is a result too
// unless it is None.
func (q *layerNorm) patch(p *ir.Program, i int, in []graph.Value, sum graph.Value) *ir.Patch {
	t := normRows{cols: q.cols, rows: p.Net.Values[q.x].Count() / q.cols, eps: q.eps, added: len(in) == 2,
		sums: sum != graph.None}
	t.per = max(1, run.BlockLen/2/t.cols)
	for k, v := range q.params {
		if t.params[k] = run.None; v == graph.None {
			t.gammaBeta[k] = slices.Repeat([]float32{float32(1 - k)}, q.cols)
			continue
		}
		t.params[k] = len(in)
		in = append(in, v)
	}
	out := []graph.Value{q.out}
	if t.sums {
		out = append(out, sum)
	}
	return ir.One(i, &layerNormOp{task: t}, in, out, ir.Without(q.nodes, i)...)
}

// layerNormOp normalizes rows.
type layerNormOp struct {
	ir.InOrder
	task normRows
}

func (q *layerNormOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// normRows normalizes rows, or their sums with others.
type normRows struct {
	st              *run.Step
	rows, cols, per int // per: rows of a chunk
	eps             float32
	added, sums     bool
	params          [2]int // gamma and beta: index in reads, None: gammaBeta has them
	gammaBeta       [2][]float32
	x, res, y, sum  []float32
}

func (t *normRows) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	if t.added {
		t.res = s.F32(t.st.Reads[1])
	}
	if t.sums {
		t.sum = s.F32(t.st.Writes[1])
	}
	for k, r := range t.params {
		if r != run.None {
			t.gammaBeta[k] = s.F32(t.st.Reads[r])
		}
	}
	s.Do((t.rows+t.per-1)/t.per, t)
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
