package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// sliced is an operand of a scan: a slice of it for each run of the body.
type sliced struct {
	outer, bytes int // slices lie in outer runs of so many bytes
	back         bool
	at           int // of a slice in the step's room, when it is no run of bytes
}

// scanOp runs a body once per slice of its sequences.
type scanOp struct {
	control
	carried
	count, length    int
	sequences, piled []sliced
}

func matchScan(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Scan)
	if !is || !plain(g, i) || o.Body == nil {
		return nil
	}
	q := &scanOp{control: control{operands: operandsOf(g, i)}, count: int(o.States)}
	m := int(o.Sequences)
	all := givens(g, i, 0)
	in := withoutValues(all[:q.count+m])
	for k := range m {
		x := &in[q.count+k]
		dims, ok := x.Shape.Ints()
		if !ok {
			return nil
		}
		axis, err := op.Axis(listed(o.InAxes, k), len(dims))
		if err != nil {
			return nil
		}
		q.length = int(dims[axis])
		q.sequences = append(q.sequences, slicedAt(x.Type, dims, axis, listed(o.InReverse, k)))
		x.Shape = tensor.Of(slices.Delete(slices.Clone(dims), axis, axis+1)...)
		if x.open.Shape.Ranked {
			x.open.Shape = tensor.OfDims(slices.Delete(x.open.Shape.Clone().Dims, axis, axis+1)...)
		}
	}
	in = append(in, all[q.count+m:]...)
	b := bodyOf(p, i, 0, o.Body, in)
	if b == nil || len(b.plan.Outputs) != len(n.Out) || !q.states(b, in, 0, 0, q.count) {
		return nil
	}
	for k, v := range n.Out {
		if k < q.count {
			if !q.gives(g, v, b, k) {
				return nil
			}
			continue
		}
		each := b.dims(k)
		axis, err := op.Axis(listed(o.OutAxes, k-q.count), len(each)+1)
		if err != nil || each == nil || b.plan.Outputs[k].Type.Quant != nil {
			return nil
		}
		dims := slices.Insert(slices.Clone(each), axis, int64(q.length))
		if v != graph.None && (!slices.Equal(g.Values[v].Dims, dims) ||
			g.Values[v].Type.DType != b.plan.Outputs[k].Type.DType) {
			return nil
		}
		q.piled = append(q.piled, slicedAt(b.plan.Outputs[k].Type, dims, axis, listed(o.OutReverse, k-q.count)))
	}
	q.bodies = []*body{b}
	return ir.One(i, q, slices.Clone(n.In), n.Out)
}

func slicedAt(t tensor.Type, dims []int64, axis int, back bool) sliced {
	inner := slices.Clone(dims[axis+1:])
	return sliced{outer: run.Product(dims[:axis]), bytes: sizeOf(t, inner), back: back}
}

// listed returns entry i of an optional list.
func listed[T any](list []T, i int) (v T) {
	if i < len(list) {
		v = list[i]
	}
	return v
}

func (q *scanOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	at := q.room(64)
	for _, list := range [][]sliced{q.sequences, q.piled} {
		for k := range list {
			if x := &list[k]; x.outer != 1 {
				x.at = at
				at += aligned(x.outer * x.bytes)
			}
		}
	}
	return q.step(int64(at), func(s *run.State, st *run.Step) run.Process {
		return &scanTask{q: q, st: st, body: s.Body(q.bodies[0].plan), now: make([][]byte, q.count)}
	})
}

type scanTask struct {
	q    *scanOp
	st   *run.Step
	body *run.Body
	now  [][]byte
}

// piece returns the memory of slice k of a whole of n slices: in it, or in the room when it is no run of bytes.
func (x *sliced) piece(whole, room []byte, k, n int) (data []byte, at int) {
	if x.back {
		k = n - 1 - k
	}
	if x.outer == 1 {
		return whole[k*x.bytes:][:x.bytes:x.bytes], k
	}
	return room[x.at:][: x.outer*x.bytes : x.outer*x.bytes], k
}

func (t *scanTask) Run(s *run.State) error {
	q, b := t.q, t.body
	room := s.Mem[t.st.Scratch]
	for k := range t.now {
		t.now[k] = q.input(s, t.st, k)
	}
	for step := range q.length {
		if err := s.Ctx.Err(); err != nil {
			return fault.As(fault.Canceled, err, "slice %d", step)
		}
		for k, from := range q.bodies[0].from {
			switch {
			case from < q.count:
				b.In[k].Data = t.now[from]
			case from < q.count+len(q.sequences):
				b.In[k].Data = t.slice(s, room, from-q.count, step)
			default:
				b.In[k].Data = q.input(s, t.st, from)
			}
		}
		for k := range b.Out {
			switch whole := q.output(s, t.st, k); {
			case k < q.count:
				b.Out[k].Data = q.place(room, k, step&1)
			case whole != nil:
				b.Out[k].Data, _ = q.piled[k-q.count].piece(whole, room, step, q.length)
			}
		}
		res, err := b.Run(s)
		if err != nil {
			return fault.Wrap(err, "slice %d: body %q", step, q.bodies[0].name)
		}
		for k := range res {
			switch whole := q.output(s, t.st, k); {
			case k < q.count:
			case whole != nil:
				t.put(whole, room, k-q.count, step, res[k].Data)
			}
		}
		for k := range t.now {
			to := q.place(room, k, step&1)
			move(to, res[k].Data)
			t.now[k] = to
		}
	}
	for k := range t.now {
		y := tensor.Tensor{Data: t.now[k]}
		if o := &q.bodies[0].plan.Outputs[k]; !q.fixed[k] {
			y.DType, y.Dims = o.Type.DType, o.Dims
		}
		if err := q.deliver(s, t.st, k, y); err != nil {
			return err
		}
	}
	return nil
}

// slice returns a slice of sequence k.
func (t *scanTask) slice(s *run.State, room []byte, k, step int) []byte {
	q := t.q
	x, whole := &q.sequences[k], q.input(s, t.st, q.count+k)
	data, at := x.piece(whole, room, step, q.length)
	if x.outer != 1 {
		for i := range x.outer {
			copy(data[i*x.bytes:][:x.bytes], whole[(i*q.length+at)*x.bytes:])
		}
	}
	return data
}

// put stores what a run gives for a stacked output.
func (t *scanTask) put(whole, room []byte, k, step int, from []byte) {
	x := &t.q.piled[k]
	data, at := x.piece(whole, room, step, t.q.length)
	if x.outer == 1 {
		move(data, from)
		return
	}
	for i := range x.outer {
		copy(whole[(i*t.q.length+at)*x.bytes:][:x.bytes], from[i*x.bytes:])
	}
}
