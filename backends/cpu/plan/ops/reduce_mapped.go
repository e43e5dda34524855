package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// mappedOp adds up the squares or the absolute values of float32 along neighbouring axes.
type mappedOp struct {
	ir.InOrder
	axisLines
	absolute bool
	root     bool // of the sum of squares
}

// mappedOf returns the sum that an operator makes, ok false when it makes none.
func mappedOf(o graph.Op) (q mappedOp, emptyKeeps, ok bool) {
	switch o := o.(type) {
	case *op.ReduceSumSquare:
		return q, o.EmptyAxesKeep, true
	case *op.ReduceL2:
		return mappedOp{root: true}, o.EmptyAxesKeep, true
	case *op.ReduceL1:
		return mappedOp{absolute: true}, o.EmptyAxesKeep, true
	}
	return q, false, false
}

func matchMapped(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	q, emptyKeeps, ok := mappedOf(n.Op)
	if !ok || !g.IsFloat32(n.In[0], n.Out[0]) || g.Values[n.In[0]].Count() == 0 {
		return nil
	}
	mask, ok := maskOf(g, n, emptyKeeps)
	if !ok {
		return nil
	}
	t, ok := (&reduceOp{mask: mask, dims: g.Values[n.In[0]].Dims}).in(run.NCHW)
	if !ok || t.count*min(t.inner, mappedCols) > mappedMost {
		return nil
	}
	q.axisLines = axisLines{t.outer, t.count, t.inner}
	return p.Plainly(i, &q, 1)
}

func (q *mappedOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		t := &mappedTask{mappedOp: q, st: st, per: 1}
		if t.blocks() == 1 {
			t.per = max(1, mappedLen/(q.count*q.inner))
		}
		return t
	}}
}

type mappedTask struct {
	*mappedOp
	st         *run.Step
	per        int // outer positions of a chunk
	x, y, work []float32
}

// mappedLen is how many squares or absolute values are made at once, and mappedCols of how many columns.
const (
	mappedLen  = 1 << 13
	mappedCols = 1 << 10
	mappedMost = 1 << 24 // elements of a chunk
)

func (t *mappedTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	s.Do((t.outer+t.per-1)/t.per*t.blocks(), t)
	return nil
}

// blocks is how many parts of the columns of an outer position are chunks of their own.
func (t *mappedTask) blocks() int { return (t.inner + mappedCols - 1) / mappedCols }

// room is how many values of scratch memory a thread needs: those that are made, sums of some rows of them, sums of
// those, and the kernels' own.
func (t *mappedTask) room() int {
	cols := min(t.inner, mappedCols)
	return mappedLen + 2*cols + max(kernel.ReduceRowsWork(mappedLen, shortLine),
		kernel.ReduceColsWork(kernel.ReduceSum, mappedLen/cols, cols))
}

// Chunk computes the results of some outer positions, or of some columns of one.
func (t *mappedTask) Chunk(i, worker int) {
	work := t.work[worker*t.room():][:t.room()]
	line, work := work[:mappedLen], work[mappedLen:]
	first := i % t.blocks() * mappedCols
	from := i / t.blocks() * t.per
	y := t.y[from*t.inner : min(t.outer, from+t.per)*t.inner]
	if t.blocks() > 1 {
		y = y[first:min(first+mappedCols, t.inner)]
	}
	x := t.x[from*t.count*t.inner+first:]
	switch {
	case t.inner == 1 && t.count > shortLine:
		for r := range y {
			y[r] = t.sum(x[r*t.count:][:t.count], line)
		}
	case t.inner == 1:
		for r := 0; r < len(y); {
			n := min(len(y)-r, mappedLen/t.count)
			t.mapped(line[:n*t.count], x[r*t.count:][:n*t.count])
			kernel.ReduceRows(kernel.ReduceSum, y[r:r+n], line, n, t.count, work)
			r += n
		}
	default:
		cols := min(t.inner, len(y))
		for o := range len(y) / cols {
			t.columns(y[o*cols:][:cols], x[o*t.count*t.inner:], line, work)
		}
	}
	if t.root {
		t.roots(y, x)
	}
}

func (t *mappedTask) mapped(dst, src []float32) {
	if t.absolute {
		kernel.Unary(kernel.Abs, dst, src, 0, 0)
	} else {
		kernel.BinaryVV(kernel.Mul, dst, src, src)
	}
}

func (t *mappedTask) sum(x, line []float32) float32 {
	if t.absolute {
		return kernel.SumAbs(x, line)
	}
	return kernel.SumSquares(x, 0)
}

// columns adds up columns, some rows at once, of whose sums up to partRows are added up one after another.
func (t *mappedTask) columns(y, x, line, work []float32) {
	cols := len(y)
	part, sums, work := work[:cols], work[cols:2*cols], work[2*cols:]
	rows := 1
	if cols == t.inner {
		rows = min(t.count, mappedLen/cols)
	}
	clear(y)
	clear(part)
	for k, n := 0, 0; k < t.count; k += rows {
		rows := min(rows, t.count-k)
		made := line[:rows*cols]
		t.mapped(made, x[k*t.inner:][:rows*cols])
		if rows > 1 {
			kernel.ReduceCols(kernel.ReduceSum, sums, made, rows, cols, work)
			made = sums
		}
		kernel.BinaryVV(kernel.Add, part, part, made)
		if n++; n%partRows == 0 {
			kernel.BinaryVV(kernel.Add, y, y, part)
			clear(part)
		}
	}
	kernel.BinaryVV(kernel.Add, y, y, part)
}

// roots leaves the roots of sums of squares. Where float32 may not have held a square, it is computed in float64.
func (t *mappedTask) roots(y, x []float32) {
	kernel.Unary(kernel.Sqrt, y, y, 0, 0)
	for j, r := range y {
		if plain := r > 1e-15 && r < 1e18; plain || r != r {
			continue
		}
		sum, column := 0.0, x[j/t.inner*t.count*t.inner+j%t.inner:]
		for k := range t.count {
			v := float64(column[k*t.inner])
			sum += v * v
		}
		y[j] = float32(math.Sqrt(sum))
	}
}
