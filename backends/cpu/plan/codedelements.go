package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// codedAdd adds the sum of two coded tensors of the same shape.
func (b *builder) codedAdd(n *graph.Node) bool {
	x, y := n.In[0], n.In[1]
	if y == graph.None || b.coded[y] == nil || !slices.Equal(b.values[x].dims, b.values[y].dims) ||
		!slices.Equal(b.values[x].dims, b.values[n.Out[0]].dims) {
		return false
	}
	return b.combined(x, y, b.ending(n.Out[0], none))
}

// codedClamp adds a clamp of codes that are quantized with another meaning.
func (b *builder) codedClamp(n *graph.Node) bool {
	if !b.values[n.Out[0]].fast() || !slices.Equal(b.values[n.In[0]].dims, b.values[n.Out[0]].dims) {
		return false
	}
	return b.combined(n.In[0], graph.None, b.endingOf(n.In[0], b.node))
}

// combined adds the step from the codes of x, and of y unless it is None, to those that e names.
func (b *builder) combined(x, y graph.Value, e *ending) bool {
	if e == nil || e.add != nil {
		return false
	}
	cx := b.coded[x]
	c := kernel.Combine{Zero: int(e.code.zero), Lo: e.lo, Hi: e.hi}
	a := float64(cx.scale) / float64(e.code.scale)
	add := -a * float64(cx.zero)
	c.A = float32(a)
	last := b.inCodedLast(x)
	s := step{fast: true, reads: []int{b.codesIn(x, last)}}
	limit := a
	if y != graph.None {
		cy := b.coded[y]
		w := float64(cy.scale) / float64(e.code.scale)
		c.B, limit = float32(w), max(a, w)
		add -= w * float64(cy.zero)
		s.reads = append(s.reads, b.codesIn(y, last))
	}
	if c.Add = float32(add); !(limit < 1e3) {
		return false
	}
	t := combineTask{n: b.values[x].count(), two: y != graph.None, with: c}
	s.writes = []int{b.finish(e, last)}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
	return true
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

// codedMaxPool adds the maxima of windows of codes.
func (b *builder) codedMaxPool(n *graph.Node, o *op.MaxPool) bool {
	x := &b.values[n.In[0]]
	if o.ChannelsLast || len(x.dims) != 4 || !b.values[n.Out[0]].fast() {
		return false
	}
	ws, err := o.Windows(x.dims[2:])
	if err != nil {
		return false
	}
	for _, w := range ws {
		if slices.Min(reachesOf(w, false).count) == 0 { // a window of padding alone
			return false
		}
	}
	win, err := window(ws)
	if err != nil {
		return false
	}
	c := *b.coded[n.In[0]]
	c.plain, c.last = none, none
	t := codedMaxTask{win: win, batch: int(x.dims[0]), c: int(x.dims[1])}
	s := step{fast: true, reads: []int{b.codesIn(n.In[0], true)}}
	b.setCoded(n.Out[0], &c)
	s.writes = []int{*b.bytes(n.Out[0], true)}
	for d, w := range ws {
		t.reach[d] = reachesOf(w, false)
	}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
	return true
}

// codedMaxTask takes maxima along columns, then along rows.
type codedMaxTask struct {
	st       *step
	win      kernel.Window
	batch, c int
	reach    [2]reaches
	x, y     []byte
	work     []float32 // a row of the input per worker
	row      int       // of it
}

func (t *codedMaxTask) run(s *State) error {
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
func (t *codedMaxTask) Chunk(i, worker int) {
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
