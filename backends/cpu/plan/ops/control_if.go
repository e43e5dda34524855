package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// ifOp runs one of two bodies.
type ifOp struct{ control }

func matchIf(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.If)
	if !is || !plain(g, i) {
		return nil
	}
	q := &ifOp{control{operands: operandsOf(g, i)}}
	captures := givens(g, i, 1)
	known, _ := g.Ints(n.In, 0)
	for k, way := range o.Bodies() {
		if len(known) == 1 && (known[0] != 0) != (k == 0) {
			q.bodies = append(q.bodies, nil)
			continue
		}
		b := bodyOf(p, i, k, way, captures)
		if b == nil {
			if b = unfitOf(way, captures); b == nil {
				return nil
			}
			q.bodies = append(q.bodies, b)
			continue
		}
		if len(b.plan.Outputs) != len(n.Out) {
			return nil
		}
		for r, v := range n.Out {
			if !q.gives(g, v, b, r) {
				return nil
			}
		}
		q.bodies = append(q.bodies, b)
	}
	if !slices.ContainsFunc(q.bodies, func(b *body) bool { return b != nil && b.unfit == nil }) {
		return nil
	}
	return ir.One(i, q, slices.Clone(n.In), n.Out)
}

func (q *ifOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return q.step(0, func(s *run.State, st *run.Step) run.Process {
		t := &ifTask{q: q, st: st}
		for k, b := range q.bodies {
			if b != nil && b.unfit == nil {
				t.ways[k] = s.Body(b.plan)
			}
		}
		return t
	})
}

type ifTask struct {
	q    *ifOp
	st   *run.Step
	ways [2]*run.Body
}

func (t *ifTask) Run(s *run.State) error {
	q, way := t.q, 0
	if q.one(s, t.st, 0, tensor.Bool, 0) == 0 {
		way = 1
	}
	if err := q.bodies[way].unfit; err != nil {
		return err
	}
	b := t.ways[way]
	for k, from := range q.bodies[way].from {
		b.In[k].Data = q.input(s, t.st, 1+from)
	}
	for k := range b.Out {
		b.Out[k].Data = q.output(s, t.st, k)
	}
	res, err := b.Run(s)
	if err != nil {
		return fault.Wrap(err, "body %q", q.bodies[way].name)
	}
	for k := range res {
		if err := q.deliver(s, t.st, k, res[k]); err != nil {
			return err
		}
	}
	return nil
}
