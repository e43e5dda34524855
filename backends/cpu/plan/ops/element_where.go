package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
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
	return p.Plainly(i, q, 3)
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
	scratch := borrowLines()
	lines := mem.Bytes(scratch[:])
	var every []byte // an element that repeats, again and again, and where it is
	of := -1
	everywhere := func(x []byte, at, n int) {
		if of != at || len(every) < min(len(lines), n*q.size) {
			every, of = lines[:min(len(lines), n*q.size)], at
			kernel.Repeat(every, copy(every, x[at*q.size:][:q.size]))
		}
	}
	q.each(i, func(at places, r, first, n int) {
		y := t.y[(r*length+first)*q.size:][:n*q.size]
		c, a, b := at[0]+first*cs, at[1]+first*as, at[2]+first*bs
		switch {
		case cs == 1 && as == 1 && bs == 1:
			kernel.Choose(y, t.c[c:c+n], t.a[a*q.size:][:n*q.size], t.b[b*q.size:][:n*q.size], q.size)
		case cs == 0 && (as|bs)&^1 == 0:
			x, from, stride := t.b, b, bs
			if t.c[c] != 0 {
				x, from, stride = t.a, a, as
			}
			if stride == 1 {
				copy(y, x[from*q.size:])
			} else {
				kernel.Repeat(y, copy(y, x[from*q.size:][:q.size]))
			}
		case cs == 1 && as == 1 && bs == 0:
			everywhere(t.b, b, n)
			for from := 0; from < len(y); from += len(every) {
				k := min(len(every), len(y)-from)
				kernel.Choose(y[from:from+k], t.c[c+from/q.size:][:k/q.size], t.a[a*q.size+from:][:k], every[:k], q.size)
			}
		case cs == 1 && as == 0 && bs == 1:
			everywhere(t.a, a, n)
			for from := 0; from < len(y); from += len(every) {
				k := min(len(every), len(y)-from)
				kernel.Choose(y[from:from+k], t.c[c+from/q.size:][:k/q.size], every[:k], t.b[b*q.size+from:][:k], q.size)
			}
		default:
			for from := 0; from < n; from += lineLen {
				k := min(lineLen, n-from)
				kernel.Choose(y[from*q.size:][:k*q.size], lineOf(lines[2*8*lineLen:], t.c[c:], from, k, cs, 1),
					lineOf(lines, t.a[a*q.size:], from, k, as, q.size),
					lineOf(lines[8*lineLen:], t.b[b*q.size:], from, k, bs, q.size), q.size)
			}
		}
	})
	returnLines(scratch)
}

// lineOf is line for elements of size bytes.
func lineOf(own, x []byte, at, k, stride, size int) []byte {
	switch size {
	case 1:
		return line(own, x, at, k, stride)
	case 2:
		return mem.Bytes(line(mem.Elements[uint16](own), mem.Elements[uint16](x), at, k, stride))
	case 4:
		return mem.Bytes(line(mem.Elements[uint32](own), mem.Elements[uint32](x), at, k, stride))
	}
	return mem.Bytes(line(mem.Elements[uint64](own), mem.Elements[uint64](x), at, k, stride))
}
