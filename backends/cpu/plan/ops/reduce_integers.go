package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// integersOp adds up integers along neighbouring axes, or finds the largest or the least of them. Sums keep the low
// bits, so the order of elements is free, and vectors of them are folded first.
type integersOp struct {
	ir.InOrder
	fold                kernel.IntegerOp
	size                int // bytes of an element
	truth, sums         bool
	outer, count, inner int
	per                 int // of outer, in a chunk
}

// integersBlock counts the bytes of neighbouring results that are made side by side.
const integersBlock = 4 << 10

func matchReduceIntegers(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if len(n.In) == 0 || !plainElements(g, n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.Values[n.In[0]]
	d := x.Type.DType
	q := &integersOp{size: d.Bits() / 8, truth: d == tensor.Bool}
	fold, emptyKeeps, ok := integersFold(n.Op, d)
	if q.fold = fold; !ok || g.Values[n.Out[0]].Type.DType != d || x.Count() == 0 {
		return nil
	}
	axes, known := g.Ints(n.In, 1)
	if !known || len(axes) == 0 && emptyKeeps {
		return nil
	}
	mask, err := op.AxisMask(axes, len(x.Dims))
	if err != nil {
		return nil
	}
	for d := range mask {
		mask[d] = mask[d] || len(axes) == 0
	}
	t, ok := (&reduceOp{mask: mask, dims: x.Dims}).in(run.NCHW)
	if !ok {
		return nil
	}
	q.outer, q.count, q.inner = t.outer, t.count, t.inner
	if _, q.sums = n.Op.(*op.ReduceSum); q.inner == 1 && q.count*q.size < 2*foldedBytes && !q.truth {
		return nil // too short for vectors
	}
	q.per = max(1, run.BlockLen/(q.count*q.inner))
	return p.Plainly(i, q, 1)
}

// integersFold is the kernel of an operator for elements of a type, ok false when there is none.
func integersFold(o graph.Op, d tensor.DType) (f kernel.IntegerOp, emptyKeeps, ok bool) {
	switch o := o.(type) {
	case *op.ReduceSum:
		return kernel.AddI8.Sized(max(1, d.Bits()/8)), o.EmptyAxesKeep, d.IsInt()
	case *op.ReduceMax:
		return mostOf(d), o.EmptyAxesKeep, d.IsInt() && d != tensor.Uint64
	case *op.ReduceMin:
		return leastOf(d), o.EmptyAxesKeep, d.IsInt() && d != tensor.Uint64
	case *op.ReduceAll:
		return kernel.LeastU8, o.EmptyAxesKeep, d == tensor.Bool
	case *op.ReduceAny:
		return kernel.MostU8, o.EmptyAxesKeep, d == tensor.Bool
	}
	return f, false, false
}

func (q *integersOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &integersTask{integersOp: q, st: st}
	}}
}

type integersTask struct {
	*integersOp
	st   *run.Step
	x, y []byte
}

// blocks counts the parts of neighbouring results.
func (q *integersOp) blocks() int { return (q.inner*q.size + integersBlock - 1) / integersBlock }

func (t *integersTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do((t.outer+t.per-1)/t.per*t.blocks(), t)
	return nil
}

// Chunk makes neighbouring results, or some that each are of a line.
func (t *integersTask) Chunk(i, _ int) {
	first := i / t.blocks() * t.per
	from := i % t.blocks() * integersBlock
	row := t.inner * t.size
	to := min(row, from+integersBlock)
	scratch := borrowLines()
	acc := mem.Bytes(scratch[:])[:2*foldedBytes]
	for o := first; o < min(t.outer, first+t.per); o++ {
		x, y := t.x[o*t.count*row:][:t.count*row], t.y[o*row:][from:to]
		if t.inner == 1 {
			t.line(y, x, acc)
		} else {
			copy(y, x[from:to])
			for k := 1; k < t.count; k++ {
				kernel.IntegersVV(t.fold, y, y, x[k*row:][from:to])
			}
		}
		if t.truth {
			kernel.IntegersVS(kernel.AndBool, y, y, trueByte)
		}
	}
	returnLines(scratch)
}

// foldedBytes is the size of a vector of FoldIntegers.
const foldedBytes = 32

// line makes one result of neighbouring elements.
func (t *integersTask) line(y, x, acc []byte) {
	if len(x) >= 2*foldedBytes {
		n := len(x) &^ (foldedBytes - 1)
		copy(acc, x)
		kernel.FoldIntegers(t.fold, acc, x[foldedBytes:n])
		switch rest := acc[foldedBytes : 2*foldedBytes]; {
		case n == len(x):
		case t.sums:
			clear(rest)
			copy(rest, x[n:])
			kernel.FoldIntegers(t.fold, acc, rest)
		default: // elements may be looked at twice
			kernel.FoldIntegers(t.fold, acc, x[len(x)-foldedBytes:])
		}
		x = acc
		for n := foldedBytes / 2; n >= t.size; n /= 2 {
			kernel.IntegersVV(t.fold, x[:n], x[:n], x[n:2*n])
		}
		copy(y, x[:t.size])
		return
	}
	copy(y, x[:t.size])
	for at := t.size; at < len(x); at += t.size {
		kernel.IntegersVV(t.fold, y, y, x[at:at+t.size])
	}
}
