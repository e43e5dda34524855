package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// attentionOp is a product of two batches of matrices, the softmax of its rows, and the product of that with a third
// batch. The scores of some rows stay in the second-level cache; all of them are never there.
type attentionOp struct {
	first, second *batchOp
	beta          float32 // of the softmax
}

const (
	attentionBytes = 4 << 20   // of all scores, from which on memory bounds the steps one by one
	attentionRows  = 48        // of scores that are there at once
	attentionFlops = 128 << 20 // of a chunk
)

// matchAttention finds such a chain of operators, with the scale and the mask that a product takes along.
func matchAttention(p *ir.Program, i int) *ir.Patch {
	g := p.Net
	if _, is := g.Graph.Nodes[i].Op.(*op.MatMul); !is {
		return nil
	}
	a := matchBatched(p, i)
	if a == nil {
		return nil
	}
	first, scores := a.Nodes[0].Op.(*batchOp), a.Nodes[0].Out[0]
	t := &first.task
	if len(first.task.c.at)*t.rows*t.col < attentionBytes/4 || t.rows < attentionRows {
		return nil
	}
	k := g.OnlyUse(scores)
	if p.Taken(k) {
		return nil
	}
	o, is := g.Graph.Nodes[k].Op.(*op.Softmax)
	rank := len(g.Values[scores].Dims)
	if !is {
		return nil
	}
	weights := g.Graph.Nodes[k].Out[0]
	if axis, err := op.Axis(o.Axis, rank); err != nil || axis != rank-1 || !g.IsFloat32(scores, weights) {
		return nil
	}
	j := g.OnlyUse(weights)
	if p.Taken(j) || g.Graph.Nodes[j].In[0] != weights {
		return nil
	}
	b := matchBatched(p, j)
	if b == nil {
		return nil
	}
	second := b.Nodes[0].Op.(*batchOp)
	if second.a.by != nil || second.task.rows != t.rows || second.task.depth != t.col ||
		len(second.task.c.at) != len(t.c.at) {
		return nil
	}
	in := a.Nodes[0].In
	for _, v := range b.Nodes[0].In[1:] {
		if v == weights || !p.IsThere(v) {
			return nil
		}
		in = append(in, v)
	}
	fused := append(append(a.Nodes[0].Fused(), k, j), b.Nodes[0].Fused()...)
	found := ir.One(i, &attentionOp{first, second, o.Scale()}, in, b.Nodes[0].Out, fused...)
	found.Tables = a.Tables + b.Tables
	return found
}

func (q *attentionOp) Layout(l *ir.Layouter, n *ir.Node) {
	q.first.task.a = q.first.a.read(l, n)
	q.first.readRight(l, n)
	q.second.readRight(l, n)
	l.Write(n, n.Out[0], run.NCHW)
}

func (q *attentionOp) Lower(_ *ir.Lowering, n *ir.Node) run.Step {
	at := 2 // where the second product's operands begin
	if q.first.task.row != run.None || q.first.task.all != run.None {
		at++
	}
	return run.Step{Fast: true, Start: func(s *run.State, st *run.Step) run.Process {
		return &attentionTask{st: st, first: q.first.task, second: q.second.task, beta: q.beta, right: at,
			gemms: make([][2]kernel.Gemm, max(1, s.Threads))}
	}}
}

type attentionTask struct {
	st            *run.Step
	first, second batchTask
	beta          float32
	right         int // the operand that is the second product's right sides
	parts, per    int // of a matrix, and the rows of one
	gemms         [][2]kernel.Gemm
	work          []float32
}

// room is the scratch memory of a thread: two packed right sides, and scores.
func (t *attentionTask) room() int {
	return t.first.packed + t.second.packed + attentionRows*t.first.col
}

func (t *attentionTask) Run(s *run.State) (err error) {
	a, b := &t.first, &t.second
	a.x, a.w, b.w, b.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Reads[t.right]), s.F32(t.st.Writes[0])
	a.operands(s, t.st)
	b.operands(s, t.st)
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	t.per = max(attentionRows, attentionFlops/(2*a.col*(a.depth+b.col))/attentionRows*attentionRows)
	if s.Threads > 1 {
		t.per = min(t.per, max(attentionRows, a.rows*len(a.a.at)/(4*s.Threads)/attentionRows*attentionRows))
	}
	t.parts = (a.rows + t.per - 1) / t.per
	s.Do(len(a.a.at)*t.parts, t)
	return nil
}

// Chunk computes some rows of one matrix.
func (t *attentionTask) Chunk(chunk, worker int) {
	i, from := chunk/t.parts, chunk%t.parts*t.per
	a, b, work := &t.first, &t.second, t.work[worker*t.room():][:t.room()]
	keys, values := work[:a.packed], work[a.packed:][:b.packed]
	scores := work[a.packed+b.packed:]
	a.pack(keys, i)
	b.pack(values, i)
	for r, end := from, min(a.rows, from+t.per); r < end; r += attentionRows {
		n := min(attentionRows, end-r)
		g, h := &t.gemms[worker][0], &t.gemms[worker][1]
		*g = a.someRows(i, r, n, keys, a.x[a.a.at[i]+r*a.a.ld:], a.a.ld, scores, a.col)
		g.Run()
		kernel.SoftmaxRows(scores, scores, n, a.col, t.beta)
		*h = b.someRows(i, r, n, values, scores, a.col, b.y[b.c.at[i]+r*b.c.ld:], b.c.ld)
		h.Run()
	}
}

// someRows is the product of n rows, from r on, of matrix i, which lie in x, with a packed right side.
func (t *batchTask) someRows(i, r, n int, packed, x []float32, ldx int, y []float32, ldy int) kernel.Gemm {
	g := kernel.Gemm{M: n, N: t.col, K: t.depth, A: x, LDA: ldx, B: packed, C: y, LDC: ldy, Bias: t.bias, Act: t.act}
	switch {
	case t.row != run.None:
		g.Bias = t.added[t.more.at[i]:][:t.col]
	case t.all != run.None:
		g.Res, g.LDR = t.added[t.more.at[i]+r*t.more.ld:], t.more.ld
	}
	return g
}
