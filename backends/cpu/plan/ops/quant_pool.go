package ops

import (
	"context"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// quantPoolTask is a maximum or mean over windows of NHWC codes.
type quantPoolTask struct {
	st      *run.Step
	max     bool
	signed  bool
	zero    int32
	c, rows int // rows of the innermost spatial dimension, in the output
	reach   [3]reaches
	in      [3]int
	table   []byte // of a maximum: what is stored for it
	scale   float64
	outZero float64
	lo, hi  float64
	work    []float32 // sums per worker, integers
	x, y    []byte
}

// reaches are, per output position of one dimension, the input positions of its window and the divisor that it
// contributes.
type reaches struct {
	first, count, divisor []int
	step                  int
}

// quantPoolOp pools NHWC 8-bit images.
type quantPoolOp struct {
	ir.InOrder
	task quantPoolTask
}

// matchQuantPool finds pooling of NHWC 8-bit images.
func matchQuantPool(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	s, ok := poolOf(n)
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	rank := len(x.Dims)
	if !ok || !s.last || !x.IsQuant8() || !y.IsQuant8() || rank < 3 || rank > 5 || s.max && x.Type.DType != y.Type.DType {
		return nil
	}
	ws, err := s.windows(x.Dims[1 : rank-1])
	if err != nil {
		return nil
	}
	positions := 1
	for _, w := range ws {
		if w.Kernel > exactSum/512 {
			return nil
		}
		if positions *= int(w.Kernel); positions > exactSum/512 { // float32 might not hold the sums
			return nil
		}
	}
	from, to := ir.QuantParamsOfType(x.Type), ir.QuantParamsOfType(y.Type)
	_, _, zero := from.Limits()
	lo, hi, outZero := to.Limits()
	t := quantPoolTask{
		max: s.max, signed: from.DType == tensor.Int8, zero: int32(zero), c: int(x.Dims[rank-1]), in: [3]int{1, 1, 1},
		scale: float64(to.Scale) / float64(from.Scale), outZero: float64(outZero), lo: float64(lo), hi: float64(hi),
	}
	tables := int64(0)
	for d := range t.reach {
		w := op.Window{In: 1, Out: 1, Kernel: 1, Stride: 1, Dilation: 1}
		if k := d - 3 + len(ws); k >= 0 {
			w = ws[k]
		}
		if tables += run.Saturated(24, int(w.Out)); !g.Budget.Allows(tables) {
			return nil
		}
		t.in[d] = int(w.In)
		t.reach[d] = reachesOf(w, s.countPads)
		if s.max && slices.Min(t.reach[d].count) == 0 {
			return nil
		}
	}
	if s.max {
		if t.table = maximumTable(x.Type, y.Type, rank); t.table == nil {
			return nil
		}
	}
	t.rows = y.Count() / t.c / len(t.reach[2].first)
	found := p.Plainly(i, &quantPoolOp{task: t}, 1)
	found.Tables = tables
	return found
}

func (q *quantPoolOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// ceilDiv is the least k >= 0 with k*d >= n.
func ceilDiv(n, d int64) int64 {
	if n <= 0 {
		return 0
	}
	return (n-1)/d + 1
}

func reachesOf(w op.Window, countPads bool) reaches {
	r := reaches{step: int(w.Dilation)}
	inside := func(from, to int64) (first, count int) { // taps k with from <= position < to
		k0, k1 := ceilDiv(from, w.Dilation), min(w.Kernel, ceilDiv(to, w.Dilation))
		if k0 >= k1 {
			return -1, 0
		}
		return int(k0), int(k1 - k0)
	}
	for o := range w.Out {
		at := o*w.Stride - w.Before
		k, n := inside(-at, w.In-at)
		divisor := n
		if countPads {
			_, divisor = inside(-w.Before-at, w.In+w.After-at)
		}
		r.first, r.count, r.divisor = append(r.first, int(at)+max(0, k)*int(w.Dilation)), append(r.count, n),
			append(r.divisor, divisor)
	}
	return r
}

// maximumTable returns what the reference stores for a maximum of each code.
func maximumTable(x, y tensor.Type, rank int) []byte {
	dims := slices.Repeat([]int64{1}, rank)
	dims[1] = 256
	in := codes(x, dims...)
	for k := range in.Data {
		in.Data[k] = byte(k)
	}
	y.Shape = tensor.AnyShape()
	res, err := ref.ComputeContext(context.Background(), &op.MaxPool{Kernel: slices.Repeat([]int64{1}, rank-2),
		ChannelsLast: true}, []tensor.Tensor{in}, []tensor.Type{y})
	if err != nil || len(res) != 1 || len(res[0].Data) != 256 {
		return nil
	}
	return res[0].Data
}

func (t *quantPoolTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.c); err != nil {
		return err
	}
	s.Do(t.rows, t)
	return nil
}

// Chunk computes one row of the output.
func (t *quantPoolTask) Chunk(r, worker int) {
	sums := t.work[worker*t.c:][:t.c]
	d0, d1, d2 := &t.reach[0], &t.reach[1], &t.reach[2]
	n := len(d2.first)
	o1 := r % len(d1.first)
	o0 := r / len(d1.first) % len(d0.first)
	image := r / len(d1.first) / len(d0.first) * t.in[0]
	for o2 := range n {
		y := t.y[(r*n+o2)*t.c:][:t.c]
		if t.max {
			fill(sums, float32(math.Inf(-1)))
		} else {
			clear(sums)
		}
		for i := range d0.count[o0] {
			for j := range d1.count[o1] {
				at := ((image+d0.first[o0]+i*d0.step)*t.in[1] + d1.first[o1] + j*d1.step) * t.in[2]
				for k := range d2.count[o2] {
					t.take(sums, t.x[(at+d2.first[o2]+k*d2.step)*t.c:][:t.c])
				}
			}
		}
		t.store(y, sums, max(1, d0.divisor[o0]*d1.divisor[o1]*d2.divisor[o2]))
	}
}

// take adds one position to the sums or maxima, which are integers of few bits and so exact.
func (t *quantPoolTask) take(sums []float32, x []byte) {
	switch {
	case t.max && t.signed:
		for i, v := range x {
			sums[i] = max(sums[i], float32(int8(v)))
		}
	case t.max:
		for i, v := range x {
			sums[i] = max(sums[i], float32(v))
		}
	case t.signed:
		for i, v := range x {
			sums[i] += float32(int32(int8(v)) - t.zero)
		}
	default:
		for i, v := range x {
			sums[i] += float32(int32(v) - t.zero)
		}
	}
}

func (t *quantPoolTask) store(y []byte, sums []float32, divisor int) {
	for i, s := range sums {
		if t.max {
			y[i] = t.table[byte(int(s))]
			continue
		}
		v := float64(s)/float64(divisor)/t.scale + t.outZero
		y[i] = byte(int(min(max(math.Round(v), t.lo), t.hi)))
	}
}
