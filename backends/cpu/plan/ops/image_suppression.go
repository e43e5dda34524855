package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// suppressionOp selects boxes that overlap no better one.
type suppressionOp struct {
	op                  *op.NonMaxSuppression
	batches, classes, n int
	limit               tensor.DType // of the most boxes of a class
	reads               [5]int       // places of the inputs in the step's, None: absent
	to                  tensor.DType
}

func matchSuppression(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.NonMaxSuppression)
	if !is || !g.IsFloat32(n.In[0], n.In[1]) || g.Values[n.Out[0]].Dims != nil {
		return nil
	}
	boxes, scores := g.Values[n.In[0]].Dims, g.Values[n.In[1]].Dims
	q := &suppressionOp{op: o, batches: int(boxes[0]), classes: int(scores[1]), n: int(boxes[1]), to: o.To,
		reads: [5]int{0, 1, run.None, run.None, run.None}}
	if q.to == tensor.Invalid {
		q.to = tensor.Int64
	}
	in := slices.Clone(n.In[:2])
	for k := 2; k < 5; k++ {
		if !ir.Given(n.In, k) {
			continue
		}
		v := n.In[k]
		switch x := &g.Values[v]; {
		case x.Dims == nil || x.Count() != 1:
			return nil
		case k == 2:
			if q.limit = x.Type.DType; !plainElements(g, v) || q.limit != tensor.Int64 && q.limit != tensor.Int32 {
				return nil
			}
		case !g.IsFloat32(v):
			return nil
		}
		q.reads[k] = len(in)
		in = append(in, v)
	}
	if !g.Budget.Allows(run.Saturated(4, q.room())) || int64(q.n) > math.MaxInt32 {
		return nil
	}
	return ir.One(i, q, in, n.Out)
}

func (q *suppressionOp) Layout(l *ir.Layouter, n *ir.Node) {
	for _, v := range n.In {
		l.Read(n, v, run.NCHW)
	}
	if n.Out[0] != graph.None {
		n.Writes = append(n.Writes, l.Result(n.Out[0]))
	}
}

func (q *suppressionOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &suppressionTask{suppressionOp: q, st: st}
	}}
}

// row is how far the numbers of the boxes lie apart: their edges and their areas.
func (q *suppressionOp) row() int {
	return (q.n + kernel.OverlapStep) &^ (kernel.OverlapStep - 1)
}

// room counts the float32 of scratch memory that a thread needs: two lists of 64 bits, the boxes taken, and one.
func (q *suppressionOp) room() int { return 4*q.row() + 5*q.row() + 6 }

type suppressionTask struct {
	*suppressionOp
	st            *run.Step
	boxes, scores []float32
	limit         int // the most boxes of a class
	most, least   float32
	all           bool // of the scores count
	sides         []float32
	taken         []int32 // by class, their number and their indices
	work          []float32
	made          []byte
	dims          [2]int64
}

func (t *suppressionTask) Run(s *run.State) error {
	t.boxes, t.scores = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1])
	if err := t.limits(s); err != nil {
		return err
	}
	sides, taken := t.batches*5*t.row(), t.batches*t.classes*(1+t.limit)
	work, err := s.Borrow(sides + (taken+1)&^1 + max(1, s.Threads)*t.room())
	if err != nil {
		return err
	}
	t.sides, t.taken = work[:sides], mem.Elements[int32](mem.Bytes(work[sides:][:taken]))
	t.work = work[sides+(taken+1)&^1:]
	for b := range t.batches {
		t.corners(b)
	}
	s.Do(t.batches*t.classes, t)
	return t.deliver(s)
}

// limits reads the inputs behind the scores.
func (t *suppressionTask) limits(s *run.State) error {
	t.limit, t.most, t.all = 0, 0, t.reads[4] == run.None
	if k := t.reads[2]; k != run.None {
		t.limit = int(min(max(tensor.IntAt(t.suppressionOp.limit, s.Mem[t.st.Reads[k]], 0), 0), int64(t.n)))
	}
	if k := t.reads[3]; k != run.None {
		if t.most = s.F32(t.st.Reads[k])[0]; !(t.most >= 0 && t.most <= 1) {
			return fault.New(fault.Data, "input 3: %v is outside [0, 1]", t.most)
		}
	}
	if k := t.reads[4]; k != run.None {
		t.least = s.F32(t.st.Reads[k])[0]
	}
	return nil
}

// corners finds the edges and areas of the boxes of a batch.
func (t *suppressionTask) corners(b int) {
	ld := t.row()
	row := func(k int) []float32 { return t.sides[(b*5+k)*ld:][:t.n] }
	y1, x1, y2, x2, area := row(0), row(1), row(2), row(3), row(4)
	for i := range area {
		v := t.boxes[4*(b*t.n+i):][:4]
		if t.op.CenterBox {
			y1[i], x1[i], y2[i], x2[i] = v[1]-v[3]/2, v[0]-v[2]/2, v[1]+v[3]/2, v[0]+v[2]/2
		} else {
			y1[i], x1[i], y2[i], x2[i] = min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])
		}
		area[i] = float32((y2[i] - y1[i]) * (x2[i] - x1[i]))
	}
}

// Chunk selects the boxes of one class.
func (t *suppressionTask) Chunk(i, worker int) {
	work, ld := t.work[worker*t.room():][:t.room()], t.row()
	lists := mem.Elements[uint64](mem.Bytes(work[:4*ld]))
	order := t.candidates(t.scores[i*t.n:][:t.n], lists[:t.n], lists[ld:][:t.n])
	sides, kept, box := t.sides[i/t.classes*5*ld:][:5*ld], work[4*ld:][:5*ld], work[9*ld:][:5]
	list := t.taken[i*(1+t.limit):][:1+t.limit]
	count, solid := 0, 0
	for _, c := range order {
		if count == t.limit {
			break
		}
		at := int(uint32(c))
		for k := range box {
			box[k] = sides[k*ld+at]
		}
		if box[4] > 0 { // others overlap nothing
			if kernel.Overlaps(kept, ld, solid, box, t.most) {
				continue
			}
			for k, v := range box {
				if solid%kernel.OverlapStep == 0 {
					clear(kept[k*ld+solid:][:kernel.OverlapStep])
				}
				kept[k*ld+solid] = v
			}
			solid++
		}
		count++
		list[count] = int32(at)
	}
	list[0] = int32(count)
}

// candidates lists the boxes whose scores count by falling score, those of one score by their number, in the lower bits
// of a or b.
func (t *suppressionTask) candidates(scores []float32, a, b []uint64) []uint64 {
	n := 0
	for i, s := range scores {
		if s > t.least || t.all {
			a[n] = uint64(fallingKey(s))<<32 | uint64(i)
			n++
		}
	}
	return sortKeys(a[:n], b[:n])
}

// fallingKey orders numbers by falling value, NaN last; zeros are equal.
func fallingKey(x float32) uint32 {
	u := math.Float32bits(x + 0) // not -0
	switch {
	case x != x:
		return math.MaxUint32
	case u>>31 != 0:
		return u
	}
	return ^u &^ (1 << 31)
}

// fewKeys are sorted by insertion.
const fewKeys = 24

// sortKeys sorts by the upper 32 bits, and keeps the order of equal ones. The result is in a or in b.
func sortKeys(a, b []uint64) []uint64 {
	if len(a) <= fewKeys {
		for i := 1; i < len(a); i++ {
			v, k := a[i], i
			for ; k > 0 && a[k-1]>>32 > v>>32; k-- {
				a[k] = a[k-1]
			}
			a[k] = v
		}
		return a
	}
	var counts [4][256]int32
	for _, v := range a {
		counts[0][byte(v>>32)]++
		counts[1][byte(v>>40)]++
		counts[2][byte(v>>48)]++
		counts[3][byte(v>>56)]++
	}
	for d := range counts {
		shift, c := 32+8*d, &counts[d]
		if int(c[byte(a[0]>>shift)]) == len(a) { // all have one byte there
			continue
		}
		sum := int32(0)
		for k, n := range c {
			c[k] = sum
			sum += n
		}
		for _, v := range a {
			k := byte(v >> shift)
			b[c[k]] = v
			c[k]++
		}
		a, b = b, a
	}
	return a
}

// deliver makes the result: batch, class and number of each box that is taken.
func (t *suppressionTask) deliver(s *run.State) error {
	total, each := 0, 1+t.limit
	for i := 0; i < len(t.taken); i += each {
		total += int(t.taken[i])
	}
	size := t.to.Bits() / 8
	if need := 3 * total * size; len(t.made) < need {
		if err := mem.Admit(int64(need)); err != nil {
			return err
		}
		t.made = make([]byte, need)
	}
	y := t.made[:3*total*size]
	at := 0
	put := func(v int) {
		if size == 8 {
			mem.Elements[int64](y)[at] = int64(v)
		} else {
			mem.Elements[int32](y)[at] = int32(v)
		}
		at++
	}
	for i := range t.batches * t.classes {
		for _, box := range t.taken[i*each+1:][:t.taken[i*each]] {
			put(i / t.classes)
			put(i % t.classes)
			put(int(box))
		}
	}
	t.dims = [2]int64{int64(total), 3}
	return s.Keep(t.st.Writes[0], tensor.Tensor{DType: t.to, Dims: t.dims[:], Data: y})
}
