package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

const (
	shortLine   = 24      // elements: such lines are computed side by side
	fewColumns  = 48      // of several outer positions such columns are computed together
	gatheredLen = 64      // elements of such columns, longer ones are computed as lines
	mostColumns = 256     // side by side
	turnedLen   = 1 << 14 // elements that are transposed at once
	longColumn  = 1 << 18 // elements: some columns of more are too much for a chunk
)

// alongOp computes lines along one axis, each by itself. A call of a kernel costs as much as some vectors of work:
// short lines are transposed and computed as columns, few columns of several outer positions are gathered side by side,
// and long ones transposed and computed as lines.
type alongOp struct {
	axisLines
	inModel  axisLines // in the order of the model
	channels bool      // the axis counts channels, which are neighbours in NHWC
	inplace  bool
	lines    func(y, x []float32, rows, cols int)
	columns  func(c *columns)
	parts    alongParts
}

// alongParts is how the lines of an alongOp are divided.
type alongParts struct {
	turned bool // lines are computed as columns, columns as lines
	outer  int  // outer positions of a unit whose columns are gathered, else 0
	width  int  // columns side by side
	blocks int  // of columns at an outer position
	units  int  // blocks, or lines, in all
	per    int  // units of a chunk
	room   int  // float32 values of scratch memory of a thread
}

// columns are neighbouring lines along an axis: element k of line j is x[k*ldx+j]. y may be x.
type columns struct {
	y, x     []float32
	ldy, ldx int
	count, n int
	work     [3][]float32 // of n values each
}

// row returns element k of each line.
func (c *columns) row(k int) (y, x []float32) { return c.y[k*c.ldy:][:c.n], c.x[k*c.ldx:][:c.n] }

// matchAlong plans q, which has functions, for lines of the operand of node i along axis.
func matchAlong(p *ir.Program, i int, axis int64, q *alongOp) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	dims := g.Values[n.In[0]].Dims
	at, err := op.Axis(axis, len(dims))
	if err != nil || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	q.inModel, _ = alongAxis(dims, axis)
	if g.Values[n.In[0]].Count() == 0 || q.inModel.inner > 1 && q.inModel.count > longColumn {
		return nil
	}
	q.channels = at == 1 && q.inModel.inner > 1
	return p.Plainly(i, q, 1)
}

func (q *alongOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := run.NCHW
	if q.channels {
		o = l.Order(n, n.In[0])
	}
	q.axisLines = q.inModel
	if o == run.NHWC {
		q.axisLines = axisLines{q.outer * q.inner, q.count, 1}
	}
	ir.InOrder{Order: o}.Layout(l, n)
}

// Halved computes lines of halves, nil where they are no rows.
func (q *alongOp) Halved(h kernel.HalfType) ir.Operation {
	if q.inModel.inner != 1 || q.inModel.count <= shortLine || !q.inplace {
		return nil
	}
	return &rowsOfHalves{of: h, rows: q.inModel.outer, cols: q.inModel.count, lines: q.lines}
}

func (q *alongOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	q.parts = q.divided()
	return run.Step{Fast: true, Inplace: q.inplace, Start: func(s *run.State, st *run.Step) run.Process {
		return &alongTask{alongOp: q, st: st, tiles: make([]columns, max(1, s.Threads))}
	}}
}

// divided chooses how to divide the lines.
func (q *alongOp) divided() alongParts {
	p := alongParts{blocks: 1, units: q.outer}
	elements := q.count * q.inner // of a unit
	switch {
	case q.inner == 1 && q.count > shortLine:
	case q.inner == 1:
		p.turned, p.width = true, mostColumns
		p.units, elements = (q.outer+p.width-1)/p.width, q.count*p.width
		p.room = (q.count + 3) * p.width
	case q.inner < fewColumns && q.count <= gatheredLen:
		p.outer = mostColumns / q.inner
		p.width = p.outer * q.inner
		p.units, elements = (q.outer+p.outer-1)/p.outer, q.count*p.width
		p.room = (q.count + 3) * p.width
	case q.inner < fewColumns && elements <= turnedLen:
		p.turned, p.room = true, elements
	default:
		// Long lines have few columns, so that a chunk is no longer than others; one plane is divided among threads.
		p.width = max(16, min(mostColumns, q.inner, run.BlockLen*16/q.count, (q.inner*q.outer/8+15)&^15))
		p.blocks = (q.inner + p.width - 1) / p.width
		p.units, elements, p.room = q.outer*p.blocks, q.count*p.width, 3*p.width
	}
	p.per = max(1, run.BlockLen/2/elements)
	return p
}

type alongTask struct {
	*alongOp
	st         *run.Step
	x, y, work []float32
	tiles      []columns // one per thread: an argument of a function value leaves the stack
}

func (t *alongTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.parts.room); err != nil {
		return err
	}
	s.Do((t.parts.units+t.parts.per-1)/t.parts.per, t)
	return nil
}

// Chunk computes some units.
func (t *alongTask) Chunk(i, worker int) {
	p := &t.parts
	from, to := i*p.per, min(p.units, (i+1)*p.per)
	work := t.work[worker*p.room:][:p.room]
	c := &t.tiles[worker]
	switch {
	case t.inner == 1 && !p.turned:
		t.lines(t.y[from*t.count:to*t.count], t.x[from*t.count:to*t.count], to-from, t.count)
	case t.inner == 1:
		for u := from; u < to; u++ {
			t.turnedLines(c, u*p.width, min(t.outer, (u+1)*p.width), work)
		}
	case p.outer > 0:
		for u := from; u < to; u++ {
			t.gathered(c, u*p.outer, min(t.outer, (u+1)*p.outer), work)
		}
	case p.turned:
		for u := from; u < to; u++ {
			t.turnedColumns(u, work)
		}
	default:
		for u := from; u < to; u++ {
			first := u % p.blocks * p.width
			at := u/p.blocks*t.count*t.inner + first
			*c = columns{y: t.y[at:], x: t.x[at:], ldy: t.inner, ldx: t.inner, count: t.count, n: min(p.width, t.inner-first)}
			c.lend(work)
			t.columns(c)
		}
	}
}

// lend divides scratch memory among the lines of work.
func (c *columns) lend(work []float32) {
	for k := range c.work {
		c.work[k] = work[k*c.n:][:c.n]
	}
}

// inScratch are n columns in scratch memory, which lends them the lines of work too.
func (t *alongTask) inScratch(c *columns, n int, work []float32) (turned []float32) {
	turned = work[:t.count*n]
	*c = columns{y: turned, x: turned, ldy: n, ldx: n, count: t.count, n: n}
	c.lend(work[len(turned):])
	return turned
}

// turnedLines computes lines side by side.
func (t *alongTask) turnedLines(c *columns, from, to int, work []float32) {
	n, at := to-from, from*t.count
	turned := t.inScratch(c, n, work)
	kernel.Transpose(turned, n, t.x[at:], t.count, n, t.count)
	t.columns(c)
	kernel.Transpose(t.y[at:], t.count, turned, n, t.count, n)
}

// gathered computes the columns of some outer positions side by side.
func (t *alongTask) gathered(c *columns, from, to int, work []float32) {
	n, ld := (to-from)*t.inner, t.count*t.inner
	gathered := t.inScratch(c, n, work)
	for k := range t.count {
		kernel.CopyRows(gathered[k*n:], t.inner, t.x[from*ld+k*t.inner:], ld, to-from, t.inner)
	}
	t.columns(c)
	for k := range t.count {
		kernel.CopyRows(t.y[from*ld+k*t.inner:], ld, gathered[k*n:], t.inner, to-from, t.inner)
	}
}

// turnedColumns computes the columns of an outer position as lines.
func (t *alongTask) turnedColumns(outer int, turned []float32) {
	at := outer * t.count * t.inner
	kernel.Transpose(turned, t.count, t.x[at:], t.inner, t.count, t.inner)
	t.lines(turned, turned, t.inner, t.count)
	kernel.Transpose(t.y[at:], t.inner, turned, t.count, t.inner, t.count)
}
