package ops

import (
	"math"

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
	fold                fold
	end                 func(float64) float64 // what becomes of a result, nil: nothing
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
		return foldOp{fold: foldSquares, end: math.Sqrt}, o.EmptyAxesKeep, true
	case *op.ReduceLogSum:
		return foldOp{fold: foldSum, end: math.Log}, o.EmptyAxesKeep, true
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
		!real && (q.end != nil || q.fold == foldPowers): // NaN wins; fractions are dropped
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

func (t *foldTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	if t.per = 1; t.inner == 1 {
		t.per = max(1, run.BlockLen/max(1, t.count))
	}
	s.Do((t.outer+t.per-1)/t.per*((t.inner+foldBlock-1)/foldBlock), t)
	return nil
}

// Chunk makes some neighbouring results, or some that each are of a line.
func (t *foldTask) Chunk(i, _ int) {
	if t.inner > 1 {
		t.part(i)
		return
	}
	for o := i * t.per; o < min(t.outer, (i+1)*t.per); o++ {
		t.part(o)
	}
}

func (t *foldTask) part(i int) {
	if t.fold == foldPowers {
		blocks := (t.inner + foldBlock - 1) / foldBlock
		o, first := i/blocks, i%blocks*foldBlock
		y := run.Floats(t.y)[o*t.inner+first:][:min(foldBlock, t.inner-first)]
		logSumExp(y, run.Floats(t.x)[o*t.count*t.inner:][:t.count*t.inner], first, t.count, t.inner)
		return
	}
	switch t.of {
	case tensor.Float32:
		folded[float32, float64](t.foldOp, t.y, t.x, i)
	case tensor.Int8:
		folded[int8, int64](t.foldOp, t.y, t.x, i)
	case tensor.Uint8:
		folded[uint8, int64](t.foldOp, t.y, t.x, i)
	case tensor.Int16:
		folded[int16, int64](t.foldOp, t.y, t.x, i)
	case tensor.Uint16:
		folded[uint16, int64](t.foldOp, t.y, t.x, i)
	case tensor.Int32:
		folded[int32, int64](t.foldOp, t.y, t.x, i)
	case tensor.Uint32:
		folded[uint32, int64](t.foldOp, t.y, t.x, i)
	default:
		folded[int64, int64](t.foldOp, t.y, t.x, i)
	}
}

func folded[T float32 | wholeNumber, S float64 | int64](q *foldOp, y, x []byte, i int) {
	blocks := (q.inner + foldBlock - 1) / foldBlock
	o, first := i/blocks, i%blocks*foldBlock
	v := mem.Elements[T](x)[o*q.count*q.inner:][:q.count*q.inner]
	into := mem.Elements[T](y)[o*q.inner+first:][:min(foldBlock, q.inner-first)]
	if q.inner > 1 {
		var sums [foldBlock]S
		s := sums[:len(into)]
		start(q.fold, s, v[first:])
		for k := range q.count {
			accumulate(q.fold, s, v[k*q.inner+first:][:len(s)])
		}
		for j, r := range s {
			into[j] = T(ended(q, r))
		}
		return
	}
	into[0] = T(ended(q, foldedLine[T, S](q.fold, v)))
}

// foldedLine folds a line in four parts, which do not wait for one another.
func foldedLine[T float32 | wholeNumber, S float64 | int64](f fold, v []T) S {
	var s [4]S
	start(f, s[:], v[:1])
	whole := len(v) &^ 3
	switch f {
	case foldSum:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			s[0], s[1], s[2], s[3] = s[0]+S(w[0]), s[1]+S(w[1]), s[2]+S(w[2]), s[3]+S(w[3])
		}
	case foldAbs:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			a, b, c, d := S(w[0]), S(w[1]), S(w[2]), S(w[3])
			s[0], s[1], s[2], s[3] = s[0]+max(a, -a), s[1]+max(b, -b), s[2]+max(c, -c), s[3]+max(d, -d)
		}
	case foldSquares:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			a, b, c, d := S(w[0]), S(w[1]), S(w[2]), S(w[3])
			s[0], s[1], s[2], s[3] = s[0]+a*a, s[1]+b*b, s[2]+c*c, s[3]+d*d
		}
	case foldProduct:
		for i := 0; i < whole; i += 4 {
			w := v[i : i+4]
			s[0], s[1], s[2], s[3] = s[0]*S(w[0]), s[1]*S(w[1]), s[2]*S(w[2]), s[3]*S(w[3])
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
func start[T float32 | wholeNumber, S float64 | int64](f fold, s []S, x []T) {
	for j := range s {
		switch f {
		case foldProduct:
			s[j] = 1
		case foldMost, foldLeast:
			s[j] = S(x[min(j, len(x)-1)])
		default:
			s[j] = 0
		}
	}
}

// accumulate folds x into s.
func accumulate[T float32 | wholeNumber, S float64 | int64](f fold, s []S, x []T) {
	x = x[:len(s)]
	switch f {
	case foldSum:
		for j, v := range x {
			s[j] += S(v)
		}
	case foldAbs:
		for j, v := range x {
			s[j] += max(S(v), -S(v))
		}
	case foldSquares:
		for j, v := range x {
			s[j] += S(v) * S(v)
		}
	case foldProduct:
		for j, v := range x {
			s[j] *= S(v)
		}
	case foldMost:
		for j, v := range x {
			s[j] = max(s[j], S(v))
		}
	case foldLeast:
		for j, v := range x {
			s[j] = min(s[j], S(v))
		}
	}
}

// ended turns the fold of all elements into the result.
func ended[S float64 | int64](q *foldOp, r S) S {
	if q.end != nil {
		return S(q.end(float64(r)))
	}
	return r
}
