package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// fold is a way to reduce numbers one after another.
type fold uint8

const (
	foldSum fold = iota
	foldAbs
	foldSquares
	foldProduct
	foldMost
	foldLeast
	foldPowers // of e, whose logarithm is the result
)

// wholeNumber are the integers that int64 holds.
type wholeNumber interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64
}

// foldOp reduces neighbouring axes: float32 in float64, integers in 64 bits.
type foldOp struct {
	ir.InOrder
	fold fold
	ended
	of                  tensor.DType
	outer, count, inner int
}

// foldOf is the fold of an operator, ok false when it has none.
func foldOf(o graph.Op) (f foldOp, emptyKeeps, ok bool) {
	switch o := o.(type) {
	case *op.ReduceSum:
		return foldOp{fold: foldSum}, o.EmptyAxesKeep, true
	case *op.ReduceMax:
		return foldOp{fold: foldMost}, o.EmptyAxesKeep, true
	case *op.ReduceMin:
		return foldOp{fold: foldLeast}, o.EmptyAxesKeep, true
	case *op.ReduceProd:
		return foldOp{fold: foldProduct}, o.EmptyAxesKeep, true
	case *op.ReduceL1:
		return foldOp{fold: foldAbs}, o.EmptyAxesKeep, true
	case *op.ReduceSumSquare:
		return foldOp{fold: foldSquares}, o.EmptyAxesKeep, true
	case *op.ReduceL2:
		return foldOp{fold: foldSquares, ended: ended{by: math.Sqrt}}, o.EmptyAxesKeep, true
	case *op.ReduceLogSum:
		return foldOp{fold: foldSum, ended: ended{by: math.Log, logarithm: true}}, o.EmptyAxesKeep, true
	case *op.ReduceLogSumExp:
		return foldOp{fold: foldPowers}, o.EmptyAxesKeep, true
	}
	return f, false, false
}

func matchFold(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	q, emptyKeeps, ok := foldOf(n.Op)
	if !ok || !plainElements(g, n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.Values[n.In[0]]
	q.of = x.Type.DType
	switch real := q.of == tensor.Float32; {
	case g.Values[n.Out[0]].Type.DType != q.of, !real && (!q.of.IsInt() || q.of == tensor.Uint64):
		return nil
	case real && (q.fold == foldMost || q.fold == foldLeast),
		!real && (q.by != nil || q.fold == foldPowers): // NaN wins; fractions are dropped
		return nil
	}
	mask, ok := maskOf(g, n, emptyKeeps)
	if !ok {
		return nil
	}
	t, ok := (&reduceOp{mask: mask, dims: x.Dims}).in(run.NCHW)
	if !ok {
		return nil
	}
	q.outer, q.count, q.inner = t.outer, t.count, t.inner
	return p.Plainly(i, &q, 1)
}

func (q *foldOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &foldTask{foldOp: q, st: st}
	}}
}

type foldTask struct {
	*foldOp
	per  int // lines of a chunk
	st   *run.Step
	x, y []byte
}

// foldBlock is how many results, or parts of one, are folded side by side.
const foldBlock = powersBlock

// block is the same for the elements of t.
func (q *foldOp) block() int {
	if q.of == tensor.Float32 && q.fold != foldPowers {
		return doublesBlock
	}
	return foldBlock
}

// blocks is how many parts the results of an outer position have.
func (q *foldOp) blocks() int { return (q.inner + q.block() - 1) / q.block() }

func (t *foldTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	if t.per = 1; t.blocks() == 1 {
		t.per = max(1, run.BlockLen/max(1, t.count*t.inner))
	}
	s.Do((t.outer+t.per-1)/t.per*t.blocks(), t)
	return nil
}

// Chunk makes some neighbouring results of one outer position, or all of some.
func (t *foldTask) Chunk(i, _ int) {
	first, from := i%t.blocks()*t.block(), i/t.blocks()*t.per
	to := min(t.outer, from+t.per)
	if t.of == tensor.Float32 && t.fold != foldPowers {
		d := doubles{axisLines{t.outer, t.count, t.inner}, t.doubles(), t.ended}
		d.results(run.Floats(t.y), run.Floats(t.x), from, to, first)
		return
	}
	for o := from; o < to; o++ {
		t.part(o, first)
	}
}

// part makes the results of outer position o from first on.
func (t *foldTask) part(o, first int) {
	switch {
	case t.of == tensor.Float32:
		y := run.Floats(t.y)[o*t.inner+first:][:min(foldBlock, t.inner-first)]
		logSumExp(y, run.Floats(t.x)[o*t.count*t.inner:][:t.count*t.inner], first, t.count, t.inner)
	case t.of == tensor.Int8:
		folded[int8](t.foldOp, t.y, t.x, o, first)
	case t.of == tensor.Uint8:
		folded[uint8](t.foldOp, t.y, t.x, o, first)
	case t.of == tensor.Int16:
		folded[int16](t.foldOp, t.y, t.x, o, first)
	case t.of == tensor.Uint16:
		folded[uint16](t.foldOp, t.y, t.x, o, first)
	case t.of == tensor.Int32:
		folded[int32](t.foldOp, t.y, t.x, o, first)
	case t.of == tensor.Uint32:
		folded[uint32](t.foldOp, t.y, t.x, o, first)
	default:
		folded[int64](t.foldOp, t.y, t.x, o, first)
	}
}

func folded[T wholeNumber](q *foldOp, y, x []byte, o, first int) {
	v := mem.Elements[T](x)[o*q.count*q.inner:][:q.count*q.inner]
	into := mem.Elements[T](y)[o*q.inner+first:][:min(foldBlock, q.inner-first)]
	if q.inner > 1 {
		var sums [foldBlock]int64
		s := sums[:len(into)]
		start(q.fold, s, v[first:])
		for k := range q.count {
			accumulate(q.fold, s, v[k*q.inner+first:][:len(s)])
		}
		for j, r := range s {
			into[j] = T(r)
		}
		return
	}
	into[0] = T(foldedLine(q.fold, v))
}

// foldedLine folds a line in four parts, which do not wait for one another.
func foldedLine[T wholeNumber](f fold, v []T) int64 {
	var s [4]int64
	start(f, s[:], v[:1])
	whole := len(v) &^ 3
	switch f {
	case foldSum:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			s[0], s[1], s[2], s[3] = s[0]+int64(w[0]), s[1]+int64(w[1]), s[2]+int64(w[2]), s[3]+int64(w[3])
		}
	case foldAbs:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			a, b, c, d := int64(w[0]), int64(w[1]), int64(w[2]), int64(w[3])
			s[0], s[1], s[2], s[3] = s[0]+max(a, -a), s[1]+max(b, -b), s[2]+max(c, -c), s[3]+max(d, -d)
		}
	case foldSquares:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			a, b, c, d := int64(w[0]), int64(w[1]), int64(w[2]), int64(w[3])
			s[0], s[1], s[2], s[3] = s[0]+a*a, s[1]+b*b, s[2]+c*c, s[3]+d*d
		}
	case foldProduct:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			s[0], s[1], s[2], s[3] = s[0]*int64(w[0]), s[1]*int64(w[1]), s[2]*int64(w[2]), s[3]*int64(w[3])
		}
	default:
		whole = 0
	}
	for i := whole; i < len(v); i++ {
		accumulate(f, s[:1], v[i:i+1])
	}
	switch f {
	case foldProduct:
		return s[0] * s[1] * (s[2] * s[3])
	case foldMost, foldLeast:
		return s[0]
	}
	return s[0] + s[1] + (s[2] + s[3])
}

// start returns the number that a fold begins with.
func start[T wholeNumber](f fold, s []int64, x []T) {
	for j := range s {
		switch f {
		case foldProduct:
			s[j] = 1
		case foldMost, foldLeast:
			s[j] = int64(x[min(j, len(x)-1)])
		default:
			s[j] = 0
		}
	}
}

// accumulate folds x into s.
func accumulate[T wholeNumber](f fold, s []int64, x []T) {
	x = x[:len(s)]
	switch f {
	case foldSum:
		for j, v := range x {
			s[j] += int64(v)
		}
	case foldAbs:
		for j, v := range x {
			s[j] += max(int64(v), -int64(v))
		}
	case foldSquares:
		for j, v := range x {
			s[j] += int64(v) * int64(v)
		}
	case foldProduct:
		for j, v := range x {
			s[j] *= int64(v)
		}
	case foldMost:
		for j, v := range x {
			s[j] = max(s[j], int64(v))
		}
	case foldLeast:
		for j, v := range x {
			s[j] = min(s[j], int64(v))
		}
	}
}

// doubles is the fold of float32 in float64.
func (q *foldOp) doubles() kernel.FoldOp {
	switch q.fold {
	case foldAbs:
		return kernel.FoldAbs
	case foldSquares:
		return kernel.FoldSquares
	case foldProduct:
		return kernel.FoldProduct
	}
	return kernel.FoldSum
}
