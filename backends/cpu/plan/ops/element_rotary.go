package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// rotaryOp turns pairs of features by angles of their positions.
type rotaryOp struct {
	ir.InOrder
	batch, heads, length, features int
	half                           int // pairs of a head
	packed, interleaved            bool
	positions                      int          // rows of the caches, which ids choose
	ids                            tensor.DType // 0: none
}

func matchRotary(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.RotaryEmbedding)
	if !is || !g.IsFloat32(n.In[0], n.In[1], n.In[2], n.Out[0]) {
		return nil
	}
	d, cache := g.Values[n.In[0]].Dims, g.Values[n.In[1]].Dims
	q := &rotaryOp{half: int(cache[len(cache)-1]), interleaved: o.Interleaved, positions: int(cache[0])}
	switch {
	case len(d) == 4:
		q.batch, q.heads, q.length, q.features = int(d[0]), int(d[1]), int(d[2]), int(d[3])
	case o.Heads > 0:
		q.batch, q.heads, q.length, q.features = int(d[0]), int(o.Heads), int(d[1]), int(d[2]/o.Heads)
		q.packed = true
	default:
		return nil
	}
	operands := 3
	if ir.Given(n.In, 3) {
		ids := &g.Values[n.In[3]]
		if q.ids = ids.Type.DType; !plainElements(g, n.In[3]) || q.ids != tensor.Int64 && q.ids != tensor.Int32 {
			return nil
		}
		operands = 4
	}
	return p.Plainly(i, q, operands)
}

func (q *rotaryOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &rotaryTask{rotaryOp: q, st: st}
	}}
}

type rotaryTask struct {
	*rotaryOp
	st             *run.Step
	x, cos, sin, y []float32
	at             []byte
}

func (t *rotaryTask) Run(s *run.State) error {
	t.x, t.cos, t.sin = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Reads[2])
	t.y = s.F32(t.st.Writes[0])
	if t.ids != 0 {
		t.at = s.Mem[t.st.Reads[3]]
		for k := range t.batch * t.length {
			if id := tensor.IntAt(t.ids, t.at, k); id < 0 || id >= int64(t.positions) {
				return fault.New(fault.Data, "input 3: position %d is outside %d", id, t.positions)
			}
		}
	}
	s.Do(t.batch*t.heads, t)
	return nil
}

// Chunk turns one head of one batch.
func (t *rotaryTask) Chunk(i, _ int) {
	b, h := i/t.heads, i%t.heads
	if !t.interleaved && t.ids == 0 && 2*t.half == t.features {
		at, apart, angle := i*t.length*t.features, t.features, b*t.length*t.half
		if t.packed {
			at, apart = (b*t.length*t.heads+h)*t.features, t.heads*t.features
		}
		kernel.Rotate(t.y[at:], t.x[at:], apart, t.cos[angle:], t.sin[angle:], t.half, t.length)
		return
	}
	for k := range t.length {
		row := b*t.length + k
		at := ((b*t.heads+h)*t.length + k) * t.features
		if t.packed {
			at = (row*t.heads + h) * t.features
		}
		if t.ids != 0 {
			row = int(tensor.IntAt(t.ids, t.at, row))
		}
		x, y := t.x[at:][:t.features], t.y[at:][:t.features]
		c, s := t.cos[row*t.half:][:t.half], t.sin[row*t.half:][:t.half]
		copy(y[2*t.half:], x[2*t.half:])
		if t.interleaved {
			for j, cos := range c {
				u, v := x[2*j], x[2*j+1]
				y[2*j], y[2*j+1] = cos*u-s[j]*v, s[j]*u+cos*v
			}
			continue
		}
		kernel.Rotate(y, x, t.features, c, s, t.half, 1)
	}
}
