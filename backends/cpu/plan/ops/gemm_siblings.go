package ops

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// Products of one value with several constant matrices, such as queries, keys and values of attention or the branches
// of a block, are one step: one product with the columns of all, which reads the value once. Its columns go to one
// buffer per matrix, each with its own epilogue, so that nothing restricts what reads them.

// part is the columns of one matrix in a product of siblings.
type part struct {
	node   int // of the graph
	cols   int
	matrix ir.Packed
	bias   []float32
	epi    epilogue
}

// siblings returns the nodes besides n that read n's first input in the same place and are not taken.
func siblings(p *ir.Program, n *graph.Node) []int {
	var list []int
	for _, i := range p.Net.Uses[n.In[0]] {
		if o := &p.Net.Graph.Nodes[i]; o != n && !p.Taken(i) && o.In[0] == n.In[0] && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	return list
}

// joins reports whether node i, one of n's siblings, loses nothing when it is computed together with n: what is added
// to its result must be there already, or come from another product, which then adds this one.
func joins(p *ir.Program, i int, n *graph.Node) bool {
	v := p.Net.Graph.Nodes[i].Out[0]
	for {
		next := p.Net.OnlyUse(v)
		if next == run.None {
			return true
		}
		m := &p.Net.Graph.Nodes[next]
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
		if p.IsMade(other) {
			return true
		}
		from := productOf(p.Net, other)
		return from != nil && from.In[0] != n.In[0]
	}
}

// productOf returns the product that v is the result of, perhaps normalized or with an activation, nil when it is not
// one.
func productOf(g *ir.Network, v graph.Value) *graph.Node {
	for i := g.Maker[v]; i != run.None; i = g.Maker[v] {
		n := &g.Graph.Nodes[i]
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

// siblingTask is one product, or several with the same left side.
type siblingTask struct {
	st        *run.Step
	residuals []int // per part: index in reads, None: it has none
	kernel.Joint
}

// siblingGemm multiplies rows by the matrices of its parts; gemm has the sizes that they share.
type siblingGemm struct {
	order run.Order
	parts []part
	gemm  kernel.Gemm
}

// patch replaces node i by a product of x.
func (q *siblingGemm) patch(i int, x graph.Value) *ir.Patch {
	in := []graph.Value{x}
	var out []graph.Value
	var fused []int
	for _, p := range q.parts {
		if p.epi.res != graph.None {
			in = append(in, p.epi.res)
		}
		if out = append(out, p.epi.out); p.node != i {
			fused = append(fused, p.node)
		}
		fused = append(fused, p.epi.nodes...)
	}
	return ir.One(i, q, in, out, fused...)
}

func (q *siblingGemm) Layout(l *ir.Layouter, n *ir.Node) { ir.InOrder{Order: q.order}.Layout(l, n) }

func (q *siblingGemm) Lower(w *ir.Lowering, _ *ir.Node) run.Step {
	s := run.Step{Fast: true, InCols: []int{q.gemm.K}}
	var residuals []int
	var gemms []kernel.Gemm
	for _, p := range q.parts {
		residuals = append(residuals, run.None)
		if p.epi.res != graph.None {
			residuals[len(residuals)-1] = len(s.InCols)
			s.InCols = append(s.InCols, p.cols)
		}
		s.OutCols = append(s.OutCols, p.cols)
		g := q.gemm
		g.N, g.B, g.Bias, g.ResAfter, g.Act = p.cols, w.Packer.Order(p.node, p.matrix), p.bias, p.epi.after, p.epi.act
		gemms = append(gemms, g)
	}
	s.Start = func(_ *run.State, st *run.Step) run.Process {
		return &siblingTask{st: st, residuals: residuals, Joint: kernel.Joint{Parts: slices.Clone(gemms)}}
	}
	return s
}

func (t *siblingTask) Run(s *run.State) error {
	for i := range t.Parts {
		q := &t.Parts[i]
		q.A, q.LDA = s.Rows(t.st.Reads[0], q.K)
		q.C, q.LDC = s.Rows(t.st.Writes[i], q.N)
		if r := t.residuals[i]; r != run.None {
			q.Res, q.LDR = s.Rows(t.st.Reads[r], q.N)
		}
	}
	s.DoProduct(&t.Joint, t)
	return nil
}

// Chunk computes part of the products.
func (t *siblingTask) Chunk(i, _ int) { t.Joint.Chunk(i) }

func (q *siblingGemm) String() string {
	t := fmt.Sprintf("%d x %d", q.gemm.M, q.gemm.K)
	for i := range q.parts {
		t += fmt.Sprintf(" | %d columns%s", q.parts[i].cols, epilogueText(q.parts[i].bias, &q.parts[i].epi))
	}
	return t
}
