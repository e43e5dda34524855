package plan

import (
	"context"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/ops"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// folder computes nodes of constants.
type folder struct {
	*ir.Network
	ctx   context.Context
	build builder // of nodes with much to do
	limit int64
}

// fold computes now what follows from constants, so that rules find constants wherever they are made. Filters of codes
// that an integer product may take are held back; with held set those are computed, and nothing else.
func (f *folder) fold(held bool) error {
	for _, i := range f.Order {
		if err := f.ctx.Err(); err != nil {
			return fault.As(fault.Canceled, err, "plan")
		}
		switch {
		case f.Done[i] || held && !f.Held[i]:
		case !held && ops.HoldsFilter(f.Network, i):
			f.Held[i] = true
		default:
			f.Held[i], f.Done[i] = false, f.folded(i)
		}
	}
	return nil
}

// folded computes a node of constants now, if that is worth its price.
func (f *folder) folded(i int) bool {
	n := &f.Graph.Nodes[i]
	tr := graph.TraitsOf(n.Op)
	if _, control := n.Op.(graph.Control); control || tr.Impure || tr.Effect || len(n.In) == 0 {
		return false
	}
	in, sized := make([]tensor.Tensor, len(n.In)), false
	for k, v := range n.In {
		if v == graph.None {
			continue
		}
		x := &f.Values[v]
		if x.Data == nil || x.Dims == nil {
			return false
		}
		sized = sized || x.Sized
		in[k] = tensor.Tensor{DType: x.Type.DType, Dims: x.Dims, Quant: x.Type.Quant, Data: x.Data}
	}
	declared := make([]tensor.Type, len(n.Out))
	for k, v := range n.Out {
		declared[k] = f.Graph.Fact(v).Type
	}
	res, ok := f.compute(n, in, declared)
	if !ok {
		return false
	}
	for k, v := range n.Out {
		if v == graph.None {
			continue
		}
		for _, c := range in { // a view of all of it remains one
			if mem.Overlap(c.Data, res[k].Data) && (len(c.Data) != len(res[k].Data) || &c.Data[0] != &res[k].Data[0]) {
				res[k].Data = slices.Clone(res[k].Data)
			}
		}
		x := &f.Values[v]
		x.Type, x.Dims = res[k].Type(), append([]int64{}, res[k].Dims...)
		x.SetData(res[k].Data)
		x.Sized = sized
	}
	return true
}

// compute returns the results of a node of constants, false when they cost more than is left or do not exist.
func (f *folder) compute(n *graph.Node, in []tensor.Tensor,
	declared []tensor.Type) ([]tensor.Tensor, bool) {
	made := int64(0)
	for _, t := range declared {
		dims, known := t.Shape.Ints()
		if !known {
			dims = []int64{0} // as many as the inputs have, at most: counted with the work
		}
		size, fits := tensor.Count(dims)
		if made += min(size, math.MaxInt64>>8); !fits || made > f.Budget.Elements {
			return nil, false
		}
	}
	work := ref.Work(n.Op, in, declared)
	res, err := []tensor.Tensor(nil), error(fault.New(fault.Unsupported, "little to do"))
	price := work / fastWork
	if work >= leastFastFold && price <= f.Budget.Work {
		res, err = f.foldFast(n, in, declared)
	}
	if err != nil {
		if price = work; price > f.Budget.Work || f.ctx.Err() != nil {
			return nil, false
		}
		res, err = ref.ComputeContext(f.ctx, n.Op, in, declared)
	}
	f.Budget.Elements -= made
	f.Budget.Work -= price
	if err != nil || len(res) != len(n.Out) {
		return nil, false
	}
	for k, v := range n.Out {
		if _, ok := declared[k].Shape.Merge(tensor.Of(res[k].Dims...)); v != graph.None && !ok {
			return nil, false
		}
	}
	return res, true
}

// foldFast computes a node by a plan of its own. The first operand is an input of that plan: kernels expect their
// images and matrices to be results. Kind fault.Unsupported when no kernel computes the node.
func (f *folder) foldFast(n *graph.Node, in []tensor.Tensor,
	declared []tensor.Type) ([]tensor.Tensor, error) {
	if in[0].Absent() || in[0].Count() < foldInputCutoff {
		return nil, fault.New(fault.Unsupported, "a small operand")
	}
	g := graph.NewBuilder("fold")
	args := make([]graph.Value, len(in))
	for k, t := range in {
		switch {
		case t.Absent():
			args[k] = graph.None
		case k == 0:
			args[k] = g.Input("", t.Type())
		default:
			args[k] = g.Const("", t.Type(), t.Data)
		}
	}
	g.Output(g.AddTyped(n.Op, n.Name, declared, args...)...)
	sub, err := g.Graph()
	if err != nil {
		return nil, fault.As(fault.Unsupported, err, "")
	}
	var store run.Store
	defer store.Release()
	p, err := f.build(f.ctx, sub, &store, Options{unfolded: true, limit: f.limit})
	if err != nil {
		return nil, err
	}
	if _, slow := p.Fast(); slow > 0 {
		return nil, fault.New(fault.Unsupported, "by reference")
	}
	s, err := p.NewState(nil, 1)
	if err != nil {
		return nil, err
	}
	defer s.Release()
	res, err := s.Run(f.ctx, in[:1], nil, false, func(ctx context.Context) error {
		return fault.As(fault.Canceled, ctx.Err(), "fold")
	})
	if err != nil {
		return nil, err
	}
	out := slices.Clone(res)
	for k := range out {
		if out[k].Data, err = mem.Make[byte](len(res[k].Data)); err != nil {
			return nil, err
		}
		copy(out[k].Data, res[k].Data)
	}
	return out, nil
}
