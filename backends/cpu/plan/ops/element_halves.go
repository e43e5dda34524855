package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// roundHalfOp rounds float32 numbers to those of a 16-bit type.
type roundHalfOp struct {
	ir.AsFirst
	to tensor.DType
}

// matchRoundHalf finds a conversion to halves of which nothing but the conversion back is read.
func matchRoundHalf(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Cast)
	if !is || !o.To.IsFloat() || o.To.Bits() != 16 || !g.IsFloat32(n.In[0]) {
		return nil
	}
	k := g.OnlyUse(n.Out[0])
	if p.Taken(k) {
		return nil
	}
	back := &g.Graph.Nodes[k]
	if b, is := back.Op.(*op.Cast); !is || b.To != tensor.Float32 || !g.IsFloat32(back.Out[0]) {
		return nil
	}
	return ir.One(i, &roundHalfOp{to: o.To}, n.In, back.Out, k)
}

func (q *roundHalfOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	to := q.to
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &roundHalfTask{st: st, to: to}
	}}
}

type roundHalfTask struct {
	st   *run.Step
	to   tensor.DType
	x, y []float32
}

func (t *roundHalfTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(run.Blocks(len(t.x)), t)
	return nil
}

// Chunk rounds one block.
func (t *roundHalfTask) Chunk(i, _ int) {
	var halves [convert.Line]uint16
	from, to := run.Block(i, len(t.x))
	for ; from < to; from += len(halves) {
		k := min(len(halves), to-from)
		h := mem.Bytes(halves[:k])
		convert.Put(h, t.to, t.x[from:from+k], false)
		convert.Floats(t.y[from:from+k], t.to, h)
	}
}

// OfHalves is an operation that can take numbers of 16 bits, and gives such then: each is computed as float32 and
// rounded once.
type OfHalves interface {
	ir.Operation
	// Halved is the same operation of a type of them, nil when there is none for its operands.
	Halved(h kernel.HalfType) ir.Operation
}

// HalfTypeOf is the type of 16 bits that the kernels have for d, if any.
func HalfTypeOf(d tensor.DType) (h kernel.HalfType, is bool) {
	if d == tensor.BFloat16 {
		return kernel.Brain16, true
	}
	return kernel.Binary16, d == tensor.Float16
}

// ReadsHalves is an operation that can take operands of binary16 beside others of float32.
type ReadsHalves interface {
	// TakeHalves makes v, of binary16, operand k in place of its float32 form; false: that stays.
	TakeHalves(k int, v graph.Value) bool
}

// halvesTask is the common part of tasks of halves.
type halvesTask struct {
	st   *run.Step
	x, y []uint16
}

func (t *halvesTask) take(s *run.State) {
	t.x, t.y = mem.Elements[uint16](s.Mem[t.st.Reads[0]]), mem.Elements[uint16](s.Mem[t.st.Writes[0]])
}

// eachHalves is a function of halves one by one.
type eachHalves struct {
	ir.AsFirst
	f func(y, x []uint16, work []float32)
}

// Halved is the function of halves.
func (q *unaryOp) Halved(h kernel.HalfType) ir.Operation {
	a := q.act
	return &eachHalves{f: func(y, x []uint16, work []float32) {
		kernel.UnaryHalves(h, a.Op, y, x, a.Alpha, a.Beta, work)
	}}
}

// Halved is the function of halves but for a cube, which is rounded once.
func (q *powerOp) Halved(h kernel.HalfType) ir.Operation {
	base, exponent := q.base, q.exponent
	if exponent == 3 {
		return nil
	}
	return &eachHalves{f: func(y, x []uint16, work []float32) {
		switch {
		case base > 0:
			kernel.BinaryHalvesVS(h, kernel.Pow, y, x, base, true, work)
		case exponent < 0:
			kernel.BinaryHalvesVS(h, kernel.Div, y, x, 1, true, work)
		default:
			kernel.BinaryHalvesVV(h, kernel.Mul, y, x, x, work)
		}
	}}
}

func (q *eachHalves) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &eachHalvesTask{halvesTask: halvesTask{st: st}, f: q.f}
	}}
}

type eachHalvesTask struct {
	halvesTask
	f func(y, x []uint16, work []float32)
}

func (t *eachHalvesTask) Run(s *run.State) error {
	t.take(s)
	s.Do(run.Blocks(len(t.x)), t)
	return nil
}

// Chunk computes one block.
func (t *eachHalvesTask) Chunk(i, _ int) {
	scratch := borrowLines()
	from, to := run.Block(i, len(t.x))
	t.f(t.y[from:to], t.x[from:to], scratch.floats())
	returnLines(scratch)
}

// binaryHalves is a binaryOp of halves.
type binaryHalves struct {
	*binaryOp
	of kernel.HalfType
}

// Halved is the function of halves.
func (q *binaryOp) Halved(h kernel.HalfType) ir.Operation { return binaryHalves{q, h} }

// Lower overrides that of float32.
func (q binaryHalves) Lower(*ir.Lowering, *ir.Node) run.Step {
	t, of := q.task, q.of
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &binaryHalvesTask{halvesTask: halvesTask{st: st}, binaryTask: t, of: of}
	}}
}

type binaryHalvesTask struct {
	halvesTask
	binaryTask
	of kernel.HalfType
	s  []uint16
}

// begin finds the operands and returns the number of chunks.
func (t *binaryHalvesTask) begin(s *run.State) int {
	t.take(s)
	t.s = mem.Elements[uint16](s.Mem[t.halvesTask.st.Reads[1]])
	return t.chunks(len(t.x))
}

func (t *binaryHalvesTask) Run(s *run.State) error {
	s.Do(t.begin(s), t)
	return nil
}

// Chunk computes some runs of the pattern.
func (t *binaryHalvesTask) Chunk(i, _ int) {
	scratch := borrowLines()
	runs := halfPairs{binaryHalvesTask: t, work: scratch.floats()}
	t.chunk(i, len(t.x), &runs)
	returnLines(scratch)
}

// halfPairs are runs of halves.
type halfPairs struct {
	*binaryHalvesTask
	work     []float32
	from, to int // numbers of the smaller operand that are in the second half of work
}

func (t *halfPairs) vv(at, s, n int) {
	a, b := t.x[at:at+n], t.s[s:s+n]
	if t.swap {
		a, b = b, a
	}
	kernel.BinaryHalvesVV(t.of, t.op, t.y[at:at+n], a, b, t.work)
}

func (t *halfPairs) vs(at, s, n int) {
	kernel.BinaryHalvesVS(t.of, t.op, t.y[at:at+n], t.x[at:at+n], t.number(s), t.swap, t.work)
}

// number is one of the smaller operand. Its neighbours are widened with it.
func (t *halfPairs) number(i int) float32 {
	wide := t.work[kernel.HalvesWork:]
	if i < t.from || i >= t.to {
		t.from, t.to = i, min(len(t.s), i+min(len(wide), 64))
		t.of.Widen(wide[:t.to-i], t.s[i:t.to])
	}
	return wide[i-t.from]
}

// slopesOfHalves is a preluOp of halves whose slopes are for many neighbours each.
type slopesOfHalves struct {
	*preluOp
	of kernel.HalfType
}

// Halved is the function of halves, nil where neighbours have slopes of their own.
func (q *preluOp) Halved(h kernel.HalfType) ir.Operation {
	if p, _ := broadcast(q.slopes, q.dims); p.inner == 1 && p.middle > 1 {
		return nil
	}
	return slopesOfHalves{q, h}
}

// Layout takes the model's order, in which the slopes repeat by the pattern.
func (q slopesOfHalves) Layout(l *ir.Layouter, n *ir.Node) {
	q.task.pat, _ = broadcast(q.slopes, q.dims)
	ir.InOrder{}.Layout(l, n)
}

func (q slopesOfHalves) Lower(*ir.Lowering, *ir.Node) run.Step {
	pat, of := q.task.pat, q.of
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &slopesOfHalvesTask{binaryHalvesTask{halvesTask: halvesTask{st: st}, binaryTask: binaryTask{pat: pat}, of: of}}
	}}
}

type slopesOfHalvesTask struct{ binaryHalvesTask }

// Chunk computes some runs of the pattern.
func (t *slopesOfHalvesTask) Chunk(i, _ int) {
	scratch := borrowLines()
	runs := slopeRuns{halfPairs{binaryHalvesTask: &t.binaryHalvesTask, work: scratch.floats()}}
	t.chunk(i, len(t.x), &runs)
	returnLines(scratch)
}

func (t *slopesOfHalvesTask) Run(s *run.State) error {
	s.Do(t.begin(s), t)
	return nil
}

// slopeRuns are runs of halves with a slope.
type slopeRuns struct{ halfPairs }

func (t *slopeRuns) vs(at, s, n int) {
	kernel.UnaryHalves(t.of, kernel.LeakyRelu, t.y[at:at+n], t.x[at:at+n], t.number(s), 0, t.work)
}
