package ops

import (
	"unsafe"

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
		switch from {
		case tensor.Int32:
			return atLeast(kernel.MaxI32, make([]byte, 4))
		case tensor.Int64:
			return atLeast(kernel.MaxI64, make([]byte, 8))
		}
	case *op.Clip:
		if o.Empty != op.ClipFail && from == to {
			return clampFor(g, n, from)
		}
		return nil
	}
	if from != to {
		return nil
	}
	switch from {
	case tensor.Int8:
		return integerFor[int8](n.Op)
	case tensor.Int16:
		return integerFor[int16](n.Op)
	case tensor.Int32:
		return integerFor[int32](n.Op)
	case tensor.Int64:
		return integerFor[int64](n.Op)
	case tensor.Uint8:
		return unsignedFor[uint8](n.Op)
	case tensor.Uint16:
		return unsignedFor[uint16](n.Op)
	case tensor.Uint32:
		return unsignedFor[uint32](n.Op)
	case tensor.Uint64:
		return unsignedFor[uint64](n.Op)
	}
	return nil
}

func integerFor[T int8 | int16 | int32 | int64](o graph.Op) singleLoop {
	switch o.(type) {
	case *op.Abs:
		return singlesOf(absEach[T])
	case *op.Neg:
		return singlesOf(negEach[T])
	case *op.Relu:
		top := ^(T(1) << (8*unsafe.Sizeof(T(0)) - 1)) // the largest number
		return singlesOf(clampEach(0, top))
	case *op.Sign:
		return singlesOf(signEach[T])
	case *op.BitwiseNot:
		return singlesOf(notEach[T])
	}
	return nil
}

func unsignedFor[T uint8 | uint16 | uint32 | uint64](o graph.Op) singleLoop {
	if _, is := o.(*op.BitwiseNot); is {
		return singlesOf(notEach[T])
	}
	return nil
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
	switch d {
	case tensor.Int32:
		return clampOf[int32](bounds, d)
	case tensor.Int64:
		return clampOf[int64](bounds, d)
	case tensor.Int8:
		return clampOf[int8](bounds, d)
	case tensor.Uint8:
		return clampOf[uint8](bounds, d)
	}
	return nil
}

func clampOf[T int8 | int32 | int64 | uint8](bounds [2]*int64, d tensor.DType) singleLoop {
	lo, hi := tensor.IntLimits(d)
	if bounds[0] != nil {
		lo = *bounds[0]
	}
	if bounds[1] != nil {
		hi = *bounds[1]
	}
	return singlesOf(clampEach(T(lo), T(hi)))
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
