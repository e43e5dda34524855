package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// whereOp chooses between two operands of any type; all three are broadcast.
type whereOp struct {
	ir.InOrder
	walk
	size int
	loop func(y, c, a, b []byte, n, cs, as, bs int)
}

func matchWhere(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Where); !is || !plainElements(g, n.In[0], n.In[1], n.In[2], n.Out[0]) {
		return nil
	}
	c, a, b, y := &g.Values[n.In[0]], &g.Values[n.In[1]], &g.Values[n.In[2]], &g.Values[n.Out[0]]
	if c.Type.DType != tensor.Bool || a.Type.DType != y.Type.DType || b.Type.DType != y.Type.DType {
		return nil
	}
	q := &whereOp{walk: newWalk(y.Dims, c.Dims, a.Dims, b.Dims), size: y.Type.DType.Bits() / 8}
	switch q.size {
	case 1:
		q.loop = whereRun[uint8]
	case 2:
		q.loop = whereRun[uint16]
	case 4:
		q.loop = whereRun[uint32]
	default:
		q.loop = whereRun[uint64]
	}
	return p.Plainly(i, q, 3)
}

// whereRun is whereEach of operands whose elements lie at a distance.
func whereRun[T uint8 | uint16 | uint32 | uint64](y, c, a, b []byte, n, cs, as, bs int) {
	var bits [lineLen]uint8
	var own [2][lineLen]T
	u, v, w := mem.Elements[T](y)[:n], mem.Elements[T](a), mem.Elements[T](b)
	for at := 0; at < n; at += lineLen {
		k := min(lineLen, n-at)
		whereEach(u[at:at+k], line(bits[:], c, at, k, cs), line(own[0][:], v, at, k, as),
			line(own[1][:], w, at, k, bs))
	}
}

func (q *whereOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process { return &whereTask{q: q, st: st} }}
}

type whereTask struct {
	q          *whereOp
	st         *run.Step
	c, a, b, y []byte
}

func (t *whereTask) Run(s *run.State) error {
	t.c, t.a, t.b, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Reads[1]], s.Mem[t.st.Reads[2]], s.Mem[t.st.Writes[0]]
	s.Do(t.q.chunks(), t)
	return nil
}

// Chunk computes some runs.
func (t *whereTask) Chunk(i, _ int) {
	q := t.q
	length, last := q.length(), len(q.dims)-1
	cs, as, bs := q.strides[0][last], q.strides[1][last], q.strides[2][last]
	q.each(i, func(r, first, n int) {
		c, a, b := q.at(0, r)+first*cs, q.at(1, r)+first*as, q.at(2, r)+first*bs
		q.loop(t.y[(r*length+first)*q.size:], t.c[c:], t.a[a*q.size:], t.b[b*q.size:], n, cs, as, bs)
	})
}
