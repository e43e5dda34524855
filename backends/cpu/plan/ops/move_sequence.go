package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// sequenceOp turns the first steps of sequences around, of each as many as the run says.
type sequenceOp struct {
	ir.InOrder
	batch, steps    int
	batchAt, stepAt int // how far sequences and steps lie apart, in blocks
	block           int // bytes of a step
	lengths         tensor.DType
}

// matchSequence finds turning sequences around whose steps and batch are the first two dimensions.
func matchSequence(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.ReverseSequence)
	if !is || !movable(g, n.In[0], n.Out[0]) || !plainElements(g, n.In[1]) {
		return nil
	}
	x := &g.Values[n.In[0]]
	rank := len(x.Dims)
	batch, err := op.Axis(o.BatchAxis, rank)
	if err != nil {
		return nil
	}
	step, err := op.Axis(o.TimeAxis, rank)
	lengths := g.Values[n.In[1]].Type.DType
	if err != nil || batch+step != 1 || lengths != tensor.Int32 && lengths != tensor.Int64 {
		return nil
	}
	q := &sequenceOp{batch: int(x.Dims[batch]), steps: int(x.Dims[step]), batchAt: 1, stepAt: int(x.Dims[batch]),
		block: run.Product(x.Dims[2:]) * x.Type.DType.Bits() / 8, lengths: lengths}
	if batch == 0 {
		q.batchAt, q.stepAt = q.steps, 1
	}
	return p.Plainly(i, q, 2)
}

func (q *sequenceOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &sequenceTask{sequenceOp: q, st: st}
	}}
}

type sequenceTask struct {
	*sequenceOp
	st           *run.Step
	x, length, y []byte
}

func (t *sequenceTask) Run(s *run.State) error {
	t.x, t.length, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Reads[1]], s.Mem[t.st.Writes[0]]
	for b := range t.batch {
		if n := tensor.IntAt(t.lengths, t.length, b); n < 0 || n > int64(t.steps) {
			return fault.New(fault.Data, "input 1: length %d of sequence %d with %d steps", n, b, t.steps)
		}
	}
	s.Do(t.batch, t)
	return nil
}

// Chunk turns one sequence around.
func (t *sequenceTask) Chunk(b, _ int) {
	n := int(tensor.IntAt(t.lengths, t.length, b))
	for k := range t.steps {
		from := k
		if k < n {
			from = n - 1 - k
		}
		at := func(step int) int { return (b*t.batchAt + step*t.stepAt) * t.block }
		kernel.Copy(t.y[at(k):][:t.block], t.x[at(from):])
	}
}
