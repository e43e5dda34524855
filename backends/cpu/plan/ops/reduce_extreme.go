package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// extremeOp finds where the best element of each line is.
type extremeOp struct {
	ir.InOrder
	axisLines
	keys
	last   bool // of equal ones
	halves bool // the elements are, of which float32 is made
	half   kernel.HalfType
	to     tensor.DType
}

func matchArgExtreme(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	q := &extremeOp{}
	var axis int64
	switch o := n.Op.(type) {
	case *op.ArgMax:
		axis, q.last = o.Axis, o.SelectLast
	case *op.ArgMin:
		axis, q.last, q.smallest = o.Axis, o.SelectLast, true
	default:
		return nil
	}
	if !plainElements(g, n.In[0], n.Out[0]) || !ranks(g.Values[n.In[0]].Type.DType) {
		return nil
	}
	q.from, q.to, q.nanFirst = g.Values[n.In[0]].Type.DType, g.Values[n.Out[0]].Type.DType, true
	var ok bool
	if q.axisLines, ok = alongAxis(g.Values[n.In[0]].Dims, axis); !ok {
		return nil
	}
	return p.Plainly(i, q, 1)
}

// Halved is the same of halves, nil for elements that none can be.
func (q *extremeOp) Halved(h kernel.HalfType) ir.Operation {
	if q.from != tensor.Float32 {
		return nil
	}
	own := *q
	own.halves, own.half = true, h
	return &own
}

func (q *extremeOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &extremeTask{extremeOp: q, st: st}
	}}
}

type extremeTask struct {
	*extremeOp
	st   *run.Step
	per  int // lines of a chunk, where a line has neighbouring elements
	x, y []byte
	work []float32
}

// bestBlock is how many neighbouring lines of float32 are looked at together.
const bestBlock = 2 << 10

// block is how many neighbouring lines are looked at together.
func (q *extremeOp) block() int {
	if q.from == tensor.Float32 {
		return bestBlock
	}
	return rankBlock
}

// room is how many values of scratch memory a thread needs.
func (q *extremeOp) room() int {
	switch {
	case q.inner > 1 && q.from == tensor.Float32:
		return 3 * min(bestBlock, q.inner)
	case q.inner == 1 && q.halves:
		return q.count
	}
	return 0
}

func (t *extremeTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	if t.inner == 1 {
		t.per = max(1, run.BlockLen/max(1, t.count))
		s.Do((t.outer+t.per-1)/t.per, t)
		return nil
	}
	s.Do(t.outer*((t.inner+t.block()-1)/t.block()), t)
	return nil
}

// Chunk looks at some neighbouring lines, or at some of neighbouring elements.
func (t *extremeTask) Chunk(i, worker int) {
	work := t.work[worker*t.room():][:t.room()]
	if t.inner == 1 {
		for o := i * t.per; o < min(t.outer, (i+1)*t.per); o++ {
			tensor.PutInt(t.to, t.y, o, int64(t.line(o*t.count, work)))
		}
		return
	}
	blocks := (t.inner + t.block() - 1) / t.block()
	o, first := i/blocks, i%blocks*t.block()
	n := min(t.block(), t.inner-first)
	if t.from == tensor.Float32 {
		t.floats(o, first, n, work)
		return
	}
	var best, now, at [rankBlock]int32
	t.of(best[:n], t.x, o*t.count*t.inner+first, 1)
	for k := 1; k < t.count; k++ {
		t.of(now[:n], t.x, (o*t.count+k)*t.inner+first, 1)
		for j, v := range now[:n] {
			if v > best[j] || t.last && v == best[j] {
				best[j], at[j] = v, int32(k)
			}
		}
	}
	t.put(o*t.inner+first, at[:n])
}

// put writes results from one on.
func (t *extremeTask) put(first int, at []int32) {
	switch t.to {
	case tensor.Int64:
		y := mem.Elements[int64](t.y)[first:][:len(at)]
		for j, k := range at {
			y[j] = int64(k)
		}
	case tensor.Int32:
		copy(mem.Elements[int32](t.y)[first:], at)
	default:
		for j, k := range at {
			tensor.PutInt(t.to, t.y, first+j, int64(k))
		}
	}
}

// line is where the best of neighbouring elements is.
func (t *extremeTask) line(first int, work []float32) int {
	switch {
	case t.halves:
		t.half.Widen(work, mem.Elements[uint16](t.x)[first:][:t.count])
		return kernel.BestOf(work, t.smallest, t.last)
	case t.from == tensor.Float32:
		return kernel.BestOf(mem.Elements[float32](t.x)[first:][:t.count], t.smallest, t.last)
	}
	var now [rankBlock]int32
	best, at := int32(math.MinInt32), 0
	for from := 0; from < t.count; from += rankBlock {
		n := min(rankBlock, t.count-from)
		t.of(now[:n], t.x, first+from, 1)
		for j, v := range now[:n] {
			if v > best || t.last && v == best {
				best, at = v, from+j
			}
		}
	}
	return at
}

// floats looks at n neighbouring lines of float32, or of halves.
func (t *extremeTask) floats(o, first, n int, work []float32) {
	best, at, line := work[:n], intsOfFloats(work[n:2*n]), work[2*n:][:n]
	clear(at)
	for k := range t.count {
		from := (o*t.count+k)*t.inner + first
		x := line
		if t.halves {
			t.half.Widen(line, mem.Elements[uint16](t.x)[from:][:n])
		} else {
			x = mem.Elements[float32](t.x)[from:][:n]
		}
		if k == 0 {
			copy(best, x)
		} else {
			kernel.Better(best, at, x, int32(k), t.smallest, t.last)
		}
	}
	t.put(o*t.inner+first, at)
}

// hardmaxOp makes 1 of the best element of each line and 0 of the others.
type hardmaxOp struct {
	ir.InOrder
	axisLines
}

func matchHardmax(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Hardmax)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	lines, ok := alongAxis(g.Values[n.In[0]].Dims, o.Axis)
	if !ok || lines.inner != 1 {
		return nil
	}
	return p.Plainly(i, &hardmaxOp{axisLines: lines}, 1)
}

func (q *hardmaxOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &hardmaxTask{hardmaxOp: q, st: st}
	}}
}

type hardmaxTask struct {
	*hardmaxOp
	st   *run.Step
	x, y []float32
}

func (t *hardmaxTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(t.outer, t)
	return nil
}

// Chunk makes one line.
func (t *hardmaxTask) Chunk(i, _ int) {
	y := t.y[i*t.count:][:t.count]
	clear(y)
	y[kernel.BestOf(t.x[i*t.count:][:t.count], false, false)] = 1
}
