package ops

import (
	"cmp"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/op"
)

// resampleOp resizes one dimension after another by sums of weighted elements: those that shrink first, so that the
// others have less to do, and then the innermost.
type resampleOp struct {
	ir.InOrder
	passes []resamplePass
	room   int // elements of the largest result but the last
}

// resamplePass resizes one dimension of [outer, in, inner].
type resamplePass struct {
	outer, in, out, inner int
	taps                  int // of each element
	at                    []int32
	weight                []float32
}

// fewInner is the number of neighbouring elements below which they have places of their own in the table.
const fewInner = 8

// matchResample finds the ways of resizing that matchResize does not: cubic ones, with wider kernels, of any
// dimensions.
func matchResample(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Resize)
	if !is || o.Mode == op.ResizeNearest || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	axes, err := o.ResolveAxes(len(x.Dims))
	in, ok := constantInputs(g, n)
	if err != nil || !ok || x.Count() == 0 || y.Count() == 0 || int64(x.Count()) > math.MaxInt32 {
		return nil
	}
	cells, err := ref.Resamplers(o, in, axes)
	if err != nil {
		return nil
	}
	order := upTo(0, 1, len(axes))
	slices.SortFunc(order, func(a, b int) int {
		larger := cmp.Compare(cells[a].Out*cells[b].In, cells[b].Out*cells[a].In)
		return cmp.Or(larger, cmp.Compare(axes[b], axes[a]))
	})
	q, dims, tables := &resampleOp{}, slices.Clone(x.Dims), int64(0)
	for k, c := range order {
		a := axes[c]
		if cells[c].Out != int(y.Dims[a]) {
			return nil
		}
		s := resamplePass{outer: product(dims[:a]), in: cells[c].In, out: cells[c].Out, inner: product(dims[a+1:])}
		if !s.tabulate(&cells[c], func(n int64) bool { tables += n; return g.Budget.Allows(tables) }) {
			return nil
		}
		dims[a] = y.Dims[a]
		if s.unchanged() && (k < len(order)-1 || len(q.passes) > 0) {
			continue
		}
		q.passes = append(q.passes, s)
	}
	if len(q.passes) == 0 || !slices.Equal(dims, y.Dims) {
		return nil
	}
	for _, s := range q.passes[:len(q.passes)-1] {
		q.room = max(q.room, s.outer*s.out*s.inner)
	}
	found := p.Plainly(i, q, 1)
	found.Tables = tables
	return found
}

// product multiplies sizes.
func product(dims []int64) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// tabulate makes the table, false when an element is made of none, or when allows refuses its bytes.
func (s *resamplePass) tabulate(r *ref.Resampler, allows func(n int64) bool) bool {
	if !allows(run.Saturated(32, s.out)) {
		return false
	}
	var list []ref.Cell
	for k := range s.out {
		list = r.Cells(list[:0], k)
		s.taps = max(s.taps, len(list))
		if len(list) == 0 {
			return false
		}
	}
	s.taps = max(4, (s.taps+1)/3*3+1) // four at once, then three more each time
	own := 1
	if s.inner < fewInner {
		own = s.inner
	}
	n := s.out * own * s.taps
	if !allows(run.Saturated(8, s.out, own, s.taps)) {
		return false
	}
	s.at, s.weight = make([]int32, 0, n), make([]float32, 0, n)
	for k := range s.out {
		list = r.Cells(list[:0], k)
		// The last cell stands for those that are missing, with a half of its weight, a quarter and so on: a weight of
		// 0 would make NaN of an infinity.
		last, rest := len(list)-1, list[len(list)-1].Weight
		for c := range own {
			for t, w := 0, rest; t < s.taps; t++ {
				cell := list[min(t, last)]
				if t >= last {
					if t < s.taps-1 {
						w /= 2
					}
					cell.Weight = w
				}
				s.at, s.weight = append(s.at, int32(cell.Index*own+c)), append(s.weight, float32(cell.Weight))
			}
		}
	}
	s.in, s.out, s.inner = s.in*own, s.out*own, s.inner/own
	return true
}

// unchanged reports whether the elements stay as they are.
func (s *resamplePass) unchanged() bool {
	if s.in != s.out {
		return false
	}
	for i, at := range s.at {
		if int(at) != i/s.taps {
			return false
		}
	}
	for i, w := range s.weight {
		if k := min(i%s.taps+1, s.taps-1); w != float32(math.Ldexp(1, -k)) {
			return false
		}
	}
	return true
}

func (q *resampleOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &resampleTask{resampleOp: q, st: st}
	}}
}

type resampleTask struct {
	*resampleOp
	st   *run.Step
	pass *resamplePass
	per  int // rows of a chunk
	x, y []float32
}

func (t *resampleTask) Run(s *run.State) error {
	last := len(t.passes) - 1
	work, err := s.Borrow(min(last, 2) * t.room)
	if err != nil {
		return err
	}
	t.x = s.F32(t.st.Reads[0])
	for k := range t.passes {
		t.pass = &t.passes[k]
		if t.y = s.F32(t.st.Writes[0]); k < last {
			t.y = work[k%2*t.room:][:t.pass.outer*t.pass.out*t.pass.inner]
		}
		rows, each := t.pass.outer, t.pass.out
		if t.pass.inner > 1 {
			rows, each = t.pass.outer*t.pass.out, t.pass.inner
		}
		t.per = max(1, run.BlockLen/2/each)
		s.Do((rows+t.per-1)/t.per, t)
		t.x = t.y
	}
	return nil
}

// Chunk makes some rows: of neighbouring elements, or of a dimension that is the last.
func (t *resampleTask) Chunk(i, _ int) {
	p := t.pass
	if p.inner == 1 {
		for r := i * t.per; r < min((i+1)*t.per, p.outer); r++ {
			p.line(t.y[r*p.out:][:p.out], t.x[r*p.in:][:p.in])
		}
		return
	}
	n := p.inner
	for r := i * t.per; r < min((i+1)*t.per, p.outer*p.out); r++ {
		y, image, k := t.y[r*n:][:n], t.x[r/p.out*p.in*n:], r%p.out*p.taps
		at, w := p.at[k:][:p.taps], p.weight[k:][:p.taps]
		row := func(tap int) []float32 { return image[int(at[tap])*n:][:n] }
		kernel.Mix4(y, row(0), row(1), row(2), row(3), w[0], w[1], w[2], w[3])
		for tap := 4; tap < p.taps; tap += 3 {
			kernel.Mix4(y, y, row(tap), row(tap+1), row(tap+2), 1, w[tap], w[tap+1], w[tap+2])
		}
	}
}

// line makes elements of a line of others.
func (p *resamplePass) line(y, x []float32) {
	if p.taps == 4 {
		at, w := p.at[:4*len(y)], p.weight[:4*len(y)]
		for k := range y {
			a, v := at[4*k:4*k+4:4*k+4], w[4*k:4*k+4:4*k+4]
			y[k] = v[0]*x[a[0]] + v[1]*x[a[1]] + v[2]*x[a[2]] + v[3]*x[a[3]]
		}
		return
	}
	for k := range y {
		at, w := p.at[k*p.taps:][:p.taps], p.weight[k*p.taps:][:p.taps]
		var sum float32
		for i, a := range at {
			sum += w[i] * x[a]
		}
		y[k] = sum
	}
}
