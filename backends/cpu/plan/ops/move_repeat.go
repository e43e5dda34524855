package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// repeatOp repeats dimensions of a value as wholes.
type repeatOp struct {
	ir.InOrder
	levels []repeatLevel // the outermost first, at least one
	deep   int           // of them, the last ones, that a block is made of
	blocks int
	per    int // blocks of a chunk
	parts  int // of a block that is too long for a chunk
	part   int // bytes of one: of whole pieces, where some fit
}

// repeatLevel is n pieces that follow each other, all of them several times. The sizes are of a piece in bytes.
type repeatLevel struct{ n, times, from, to int }

// whole is the bytes of a level's result.
func (v *repeatLevel) whole() int { return v.n * v.times * v.to }

// matchRepeat finds an operator that repeats its first input to the shape of the result.
func matchRepeat(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	switch n.Op.(type) {
	case *op.Expand, *op.Tile:
	default:
		return nil
	}
	if !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	if _, ok := g.Ints(n.In, 1); !ok {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if x.Count() == y.Count() {
		return viewPatch(p, i)
	}
	return ir.One(i, newRepeat(x.Dims, y.Dims, x.Type.DType.Bits()/8), n.In[:1], slices.Clone(n.Out))
}

// newRepeat repeats a value of sizes from, each of whose dimensions divides that of to.
func newRepeat(from, to []int64, size int) *repeatOp {
	var levels []repeatLevel
	lead := len(to) - len(from)
	for d := range to {
		v := repeatLevel{n: 1, times: int(to[d])}
		if d >= lead {
			v = repeatLevel{n: int(from[d-lead]), times: int(to[d] / max(1, from[d-lead]))}
		}
		switch k := len(levels) - 1; {
		case v.n == 1 && v.times == 1:
		case k >= 0 && levels[k].n == 1: // it is repeated once more
			levels[k].n, levels[k].times = v.n, levels[k].times*v.times
		case k >= 0 && levels[k].times == 1 && v.times == 1:
			levels[k].n *= v.n
		default:
			levels = append(levels, v)
		}
	}
	if len(levels) == 0 {
		levels = []repeatLevel{{n: 1, times: 1}}
	}
	read, written := size, size
	for k := len(levels) - 1; k >= 0; k-- {
		levels[k].from, levels[k].to = read, written
		read, written = read*levels[k].n, levels[k].whole()
	}
	if k := len(levels) - 1; k > 0 && levels[k].times == 1 { // its pieces are one
		levels = levels[:k]
	}
	q := &repeatOp{levels: levels, blocks: 1}
	last := len(levels) - 1
	for q.deep = 1; q.deep <= last && levels[last-q.deep].whole() <= repeatBytes; q.deep++ {
	}
	for k := range len(levels) - q.deep {
		q.blocks *= levels[k].n * levels[k].times
	}
	first := &levels[len(levels)-q.deep]
	q.per, q.parts, q.part = max(1, repeatBytes/max(1, first.whole())), 1, first.whole()
	if piece := first.n * first.to; q.deep == 1 && q.part > 2*repeatBytes {
		if q.part = repeatBytes; piece < repeatBytes {
			q.part = repeatBytes / piece * piece
		}
		q.parts = (first.whole() + q.part - 1) / q.part
	}
	return q
}

// repeatBytes is how many bytes a chunk makes, about.
const repeatBytes = 4 * run.BlockLen

func (q *repeatOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process { return &repeatTask{repeatOp: q, st: st} }}
}

type repeatTask struct {
	*repeatOp
	st   *run.Step
	x, y []byte
}

func (t *repeatTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do((t.blocks+t.per-1)/t.per*t.parts, t)
	return nil
}

// Chunk makes some blocks, or a part of one.
func (t *repeatTask) Chunk(i, _ int) {
	outer := len(t.levels) - t.deep
	v := &t.levels[outer]
	if t.parts > 1 {
		b, at := i/t.parts, i%t.parts*t.part
		y := t.y[b*v.whole():][:v.whole()][at:min(v.whole(), at+t.part)]
		x := t.x[t.place(b):][:v.n*v.to]
		if n := kernel.Copy(y, x[at%len(x):]); len(x) <= repeatBytes {
			kernel.Repeat(y, n)
		} else {
			kernel.Copy(y[n:], x)
		}
		return
	}
	for b, end := i*t.per, min(t.blocks, (i+1)*t.per); b < end; {
		n := 1
		if outer > 0 {
			near := &t.levels[outer-1]
			n = min(end-b, near.n-b%near.n)
		}
		t.make(outer, t.y[b*v.whole():][:n*v.whole()], t.x[t.place(b):], n)
		b += n
	}
}

// place is where block b comes from.
func (t *repeatTask) place(b int) int {
	at := 0
	for k := len(t.levels) - t.deep - 1; k >= 0; k-- {
		v := &t.levels[k]
		at += b % v.n * v.from
		b /= v.n * v.times
	}
	return at
}

// make makes n neighbouring results of a level.
func (t *repeatTask) make(level int, y, x []byte, n int) {
	v := &t.levels[level]
	if level == len(t.levels)-1 {
		kernel.RepeatRows(y, x, v.n*v.from, v.times, n)
		return
	}
	for i := range n {
		own := y[i*v.whole():][:v.whole()]
		t.make(level+1, own[:v.n*v.to], x[i*v.n*v.from:], v.n)
		if v.times > 1 {
			kernel.Repeat(own, v.n*v.to)
		}
	}
}
