package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// singleOp is a function of one element of any type.
type singleOp struct {
	ir.InOrder
	loop     singleLoop
	n        int
	from, to int // bytes of an element
}

// matchSingle finds functions of integers and Bools, and tests of numbers.
func matchSingle(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if !plainElements(g, n.In[0], n.Out[0]) {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	q := &singleOp{loop: singleFor(g, n, x.Type.DType, y.Type.DType), n: x.Count(), from: x.Type.DType.Bits() / 8,
		to: y.Type.DType.Bits() / 8}
	if q.loop == nil {
		return nil
	}
	return p.Plainly(i, q, 1)
}

// singleFor is the loop of an operator of elements of a type, nil when there is none.
func singleFor(g *ir.Network, n *graph.Node, from, to tensor.DType) singleLoop {
	switch o := n.Op.(type) {
	case *op.Not:
		if from == tensor.Bool || from == tensor.Uint8 || from == tensor.Int8 {
			return notTrue
		}
		return nil
	case *op.IsNaN:
		if from == tensor.Float32 {
			return singlesOf(isNaNEach)
		}
		return nil
	case *op.IsInf:
		if from == tensor.Float32 {
			return singlesOf(isInfEach(o.Positive, o.Negative))
		}
		return nil
	case *op.BitwiseNot:
		if from == to && from != tensor.Bool {
			size := from.Bits() / 8
			return func(y, x []byte, n int) { kernel.IntegersVS(kernel.XorBits, y[:n*size], x[:n*size], ones) }
		}
	case *op.Relu:
		if from == to && from.IsSigned() && from.Bits() >= 8 {
			return atLeast(mostOf(from), make([]byte, from.Bits()/8))
		}
	case *op.Clip:
		if o.Empty != op.ClipFail && from == to {
			return clampFor(g, n, from)
		}
		return nil
	}
	if from != to || !from.IsSigned() || from.Bits() < 8 {
		return nil
	}
	size := from.Bits() / 8
	var f kernel.IntegerFunction
	switch n.Op.(type) {
	case *op.Abs:
		f = kernel.AbsI8.Sized(size)
	case *op.Neg:
		f = kernel.NegI8.Sized(size)
	case *op.Sign:
		f = kernel.SignI8.Sized(size)
	default:
		return nil
	}
	return func(y, x []byte, n int) { kernel.IntegersEach(f, y[:n*size], x[:n*size]) }
}

// clampFor bounds integers by constants.
func clampFor(g *ir.Network, n *graph.Node, d tensor.DType) singleLoop {
	var bounds [2]*int64
	for k := range bounds {
		if !ir.Given(n.In, 1+k) {
			continue
		}
		v, ok := g.Ints(n.In, 1+k)
		if !ok || len(v) != 1 || g.Values[n.In[1+k]].Type.DType != d {
			return nil
		}
		bounds[k] = &v[0]
	}
	if !d.IsInt() || d.Bits() < 8 || d == tensor.Uint64 { // whose limit is no int64
		return nil
	}
	lo, hi := tensor.IntLimits(d)
	if bounds[0] != nil {
		lo = *bounds[0]
	}
	if bounds[1] != nil {
		hi = *bounds[1]
	}
	ends := make([]byte, 16)
	tensor.PutInt(d, ends, 0, lo)
	tensor.PutInt(d, ends[8:], 0, hi)
	size := d.Bits() / 8
	return clamped(mostOf(d), leastOf(d), size, ends[:size], ends[8:][:size])
}

func (q *singleOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Inplace: q.from == q.to, Start: func(_ *run.State, st *run.Step) run.Process {
		return &singleTask{q: q, st: st}
	}}
}

type singleTask struct {
	q    *singleOp
	st   *run.Step
	x, y []byte
}

func (t *singleTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do(run.Blocks(t.q.n), t)
	return nil
}

// Chunk computes one block.
func (t *singleTask) Chunk(i, _ int) {
	from, to := run.Block(i, t.q.n)
	t.q.loop(t.y[from*t.q.to:], t.x[from*t.q.from:], to-from)
}
