package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/op"
)

// affineOp makes the grid of affine maps of images of two dimensions.
type affineOp struct {
	ir.InOrder
	rows, cols []float64 // coordinates
}

func matchAffine(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.AffineGrid)
	y := g.Values[n.Out[0]].Dims
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) || len(y) != 4 {
		return nil
	}
	q := &affineOp{rows: make([]float64, y[1]), cols: make([]float64, y[2])}
	for _, list := range [][]float64{q.rows, q.cols} {
		for k := range list {
			list[k] = ref.GridCoordinate(k, len(list), o.AlignCorners)
		}
	}
	return p.Plainly(i, q, 1)
}

func (q *affineOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &affineTask{affineOp: q, st: st}
	}}
}

type affineTask struct {
	*affineOp
	st   *run.Step
	x, y []float32
}

func (t *affineTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(len(t.x)/6*len(t.rows), t)
	return nil
}

// Chunk makes one row.
func (t *affineTask) Chunk(i, _ int) {
	m, v := t.x[i/len(t.rows)*6:][:6], t.rows[i%len(t.rows)]
	y := t.y[2*i*len(t.cols):][:2*len(t.cols)]
	a, b := float64(m[0]), float64(m[3])
	c, d := float64(m[1])*v+float64(m[2]), float64(m[4])*v+float64(m[5])
	for k, u := range t.cols {
		y[2*k], y[2*k+1] = float32(a*u+c), float32(b*u+d)
	}
}
