package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// matchQDQAdd finds the sum of two coded tensors of the same shape.
func matchQDQAdd(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Add); !is || !p.hasCodes(n.In[0]) || !p.hasCodes(n.In[1]) ||
		!slices.Equal(g.values[n.In[0]].dims, g.values[n.In[1]].dims) ||
		!slices.Equal(g.values[n.In[0]].dims, g.values[n.Out[0]].dims) {
		return nil
	}
	return combination(p, i, qdqEpilogueOf(p, n.Out[0], none), n.In[0], n.In[1])
}

// matchQDQClamp finds a clamp of codes that are quantized with another meaning.
func matchQDQClamp(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	switch n.Op.(type) {
	case *op.Relu, *op.Clip:
	default:
		return nil
	}
	if !p.hasCodes(n.In[0]) || !g.isFloat32(n.Out[0]) || !slices.Equal(g.values[n.In[0]].dims, g.values[n.Out[0]].dims) {
		return nil
	}
	return combination(p, i, qdqEpilogueBy(p, n.In[0], i, none), n.In[0])
}

// combination is the patch from the codes of one value, or the sum of two, to those that e names, which may be nil.
func combination(p *program, i int, e *qdqEpilogue, in ...graph.Value) *patch {
	if e == nil || e.add != nil {
		return nil
	}
	c := kernel.Combine{Zero: int(e.params.zero), Lo: e.lo, Hi: e.hi}
	var factors [2]float64
	add := 0.0
	for k, v := range in {
		x := p.params[v]
		factors[k] = float64(x.scale) / float64(e.params.scale)
		add -= factors[k] * float64(x.zero)
	}
	if c.A, c.B, c.Add = float32(factors[0]), float32(factors[1]), float32(add); !(max(factors[0], factors[1]) < 1e3) {
		return nil
	}
	return e.patch(p, i, &combineOp{combineTask{n: p.net.values[in[0]].count(), two: len(in) == 2, with: c}}, in...)
}

// combineOp gives codes another meaning, or adds two tensors of codes.
type combineOp struct{ task combineTask }

func (q *combineOp) layout(l *layouter, n *node) { inCodes(l, n, l.codeOrder(n.in[0])) }

func (q *combineOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// combineTask gives codes another meaning, or adds two tensors of codes.
type combineTask struct {
	st      *step
	n       int
	two     bool
	with    kernel.Combine
	x, z, y []byte
}

func (t *combineTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	if t.two {
		t.z = s.mem[t.st.reads[1]]
	}
	s.do((t.n+combineBlock-1)/combineBlock, t)
	return nil
}

const combineBlock = 4 * blockLen

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
func matchQDQMaxPool(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.MaxPool)
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	c, coded := p.paramsAt(n.In[0])
	if !is || !coded || len(n.Out) != 1 || len(x.dims) != 4 {
		return nil
	}
	q, dims, channels := &qdqMaxOp{order: nhwc}, x.dims[2:], x.dims[1]
	switch {
	case x.isQuant8() && x.typ.DType == y.typ.DType && sameCodes(x.typ.Quant, y.typ.Quant) && o.ChannelsLast:
		q.order, dims, channels = nchw, x.dims[1:3], x.dims[3]
	case x.typ.Quant != nil || o.ChannelsLast || !g.isFloat32(n.Out[0]):
		return nil
	}
	ws, err := o.Windows(dims)
	if err != nil {
		return nil
	}
	t := qdqMaxTask{batch: int(x.dims[0]), c: int(channels)}
	tables := int64(0)
	for d, w := range ws {
		if tables += saturated(24, int(w.Out)); !g.budget.allows(tables) {
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
	found := p.codesPatch(i, q, n.In[:1], n.Out[0], c)
	found.tables = tables
	return found
}

// qdqMaxOp takes the maxima of windows of codes.
type qdqMaxOp struct {
	order order
	task  qdqMaxTask
}

func (q *qdqMaxOp) layout(l *layouter, n *node) { inCodes(l, n, q.order) }

func (q *qdqMaxOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// qdqMaxTask takes maxima along columns, then along rows.
type qdqMaxTask struct {
	st       *step
	win      kernel.Window
	batch, c int
	reach    [2]reaches
	x, y     []byte
	work     []float32 // a row of the input per worker
	row      int       // of it
}

func (t *qdqMaxTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	t.row = (t.win.In[2]*t.c + 3) / 4
	var err error
	if t.work, err = s.borrow(max(1, s.threads) * t.row); err != nil {
		return err
	}
	s.do(t.batch*t.win.Out[1], t)
	return nil
}

// Chunk computes one row of the output.
func (t *qdqMaxTask) Chunk(i, worker int) {
	w, c := &t.win, t.c
	size := w.In[2] * c
	top := bytesOf(t.work[worker*t.row:][:t.row])[:size]
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
