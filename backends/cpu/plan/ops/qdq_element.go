package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// matchQDQAdd finds the sum of two coded tensors of the same shape.
func matchQDQAdd(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Add); !is || !p.HasCodes(n.In[0]) || !p.HasCodes(n.In[1]) ||
		!slices.Equal(g.Values[n.In[0]].Dims, g.Values[n.In[1]].Dims) ||
		!slices.Equal(g.Values[n.In[0]].Dims, g.Values[n.Out[0]].Dims) {
		return nil
	}
	return combination(p, i, qdqEpilogueOf(p, n.Out[0], run.None), n.In[0], n.In[1])
}

// matchQDQClamp finds a clamp of codes that are quantized with another meaning.
func matchQDQClamp(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	switch n.Op.(type) {
	case *op.Relu, *op.Clip:
	default:
		return nil
	}
	if !p.HasCodes(n.In[0]) || !g.IsFloat32(n.Out[0]) || !slices.Equal(g.Values[n.In[0]].Dims, g.Values[n.Out[0]].Dims) {
		return nil
	}
	return combination(p, i, qdqEpilogueBy(p, n.In[0], i, run.None), n.In[0])
}

// combination is the patch from the codes of one value, or the sum of two, to those that e names, which may be nil.
func combination(p *ir.Program, i int, e *qdqEpilogue, in ...graph.Value) *ir.Patch {
	if e == nil || e.add != nil {
		return nil
	}
	c := kernel.Combine{Zero: int(e.params.Zero), Lo: e.lo, Hi: e.hi}
	var factors [2]float64
	add := 0.0
	for k, v := range in {
		x := p.Params[v]
		factors[k] = float64(x.Scale) / float64(e.params.Scale)
		add -= factors[k] * float64(x.Zero)
	}
	if c.A, c.B, c.Add = float32(factors[0]), float32(factors[1]), float32(add); !(max(factors[0], factors[1]) < 1e3) {
		return nil
	}
	return e.patch(p, i, &combineOp{combineTask{n: p.Net.Values[in[0]].Count(), two: len(in) == 2, with: c}}, in...)
}

// combineOp gives codes another meaning, or adds two tensors of codes.
type combineOp struct{ task combineTask }

func (q *combineOp) Layout(l *ir.Layouter, n *ir.Node) { inCodes(l, n, l.CodeOrder(n.In[0])) }

func (q *combineOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// combineTask gives codes another meaning, or adds two tensors of codes.
type combineTask struct {
	st      *run.Step
	n       int
	two     bool
	with    kernel.Combine
	x, z, y []byte
}

func (t *combineTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	if t.two {
		t.z = s.Mem[t.st.Reads[1]]
	}
	s.Do((t.n+combineBlock-1)/combineBlock, t)
	return nil
}

const combineBlock = 4 * run.BlockLen

// Chunk computes one block.
func (t *combineTask) Chunk(i, _ int) {
	from, to := i*combineBlock, min(t.n, (i+1)*combineBlock)
	var z []byte
	if t.two {
		z = t.z[from:to]
	}
	kernel.CombineU8(t.y[from:to], t.x[from:to], z, t.with)
}

// matchQDQMaxPool finds the maxima of windows of codes.
func matchQDQMaxPool(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.MaxPool)
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	c, coded := p.ParamsAt(n.In[0])
	if !is || !coded || len(n.Out) != 1 || len(x.Dims) != 4 {
		return nil
	}
	q, dims, channels := &qdqMaxOp{order: run.NHWC}, x.Dims[2:], x.Dims[1]
	switch {
	case x.IsQuant8() && x.Type.DType == y.Type.DType && sameCodes(x.Type.Quant, y.Type.Quant) && o.ChannelsLast:
		q.order, dims, channels = run.NCHW, x.Dims[1:3], x.Dims[3]
	case x.Type.Quant != nil || o.ChannelsLast || !g.IsFloat32(n.Out[0]):
		return nil
	}
	ws, err := o.Windows(dims)
	if err != nil {
		return nil
	}
	t := qdqMaxTask{batch: int(x.Dims[0]), c: int(channels)}
	tables := int64(0)
	for d, w := range ws {
		if tables += run.Saturated(24, int(w.Out)); !g.Budget.Allows(tables) {
			return nil
		}
		if t.reach[d] = reachesOf(w, false); slices.Min(t.reach[d].count) == 0 { // a window of padding alone
			return nil
		}
	}
	if t.win, err = window(ws); err != nil {
		return nil
	}
	q.task = t
	found := p.CodesPatch(i, q, n.In[:1], n.Out[0], c)
	found.Tables = tables
	return found
}

// qdqMaxOp takes the maxima of windows of codes.
type qdqMaxOp struct {
	order run.Order
	task  qdqMaxTask
}

func (q *qdqMaxOp) Layout(l *ir.Layouter, n *ir.Node) { inCodes(l, n, q.order) }

func (q *qdqMaxOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// qdqMaxTask takes maxima along columns, then along rows.
type qdqMaxTask struct {
	st       *run.Step
	win      kernel.Window
	batch, c int
	reach    [2]reaches
	x, y     []byte
	work     []float32 // a row of the input per worker
	row      int       // of it
}

func (t *qdqMaxTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	t.row = (t.win.In[2]*t.c + 3) / 4
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.row); err != nil {
		return err
	}
	s.Do(t.batch*t.win.Out[1], t)
	return nil
}

// Chunk computes one row of the output.
func (t *qdqMaxTask) Chunk(i, worker int) {
	w, c := &t.win, t.c
	size := w.In[2] * c
	top := run.BytesOf(t.work[worker*t.row:][:t.row])[:size]
	down, across := &t.reach[0], &t.reach[1]
	oy := i % w.Out[1]
	at := (i/w.Out[1]*w.In[1] + down.first[oy]) * size
	copy(top, t.x[at:][:size])
	for k := 1; k < down.count[oy]; k++ {
		kernel.MaxU8(top, t.x[at+k*down.step*size:][:size])
	}
	for ox := range w.Out[2] {
		y := t.y[(i*w.Out[2]+ox)*c:][:c]
		from := across.first[ox] * c
		copy(y, top[from:][:c])
		for k := 1; k < across.count[ox]; k++ {
			kernel.MaxU8(y, top[from+k*across.step*c:][:c])
		}
	}
}
