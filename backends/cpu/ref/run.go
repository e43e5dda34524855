package ref

import (
	"context"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Run computes a whole graph node by node: the simplest possible execution, for tests and for bodies of control flow.
// ctx is looked at between nodes. Inputs are checked against the graph's declared types; a quantized one is requantized
// to the declared parameters, an unquantized one takes them over.
func Run(ctx context.Context, g *graph.Graph, in []tensor.Tensor) ([]tensor.Tensor, error) {
	if len(in) != len(g.In) {
		return nil, fault.New(fault.Argument, "graph %q: want %d inputs, got %d", g.Name, len(g.In), len(in))
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	left := usesLeft(g)
	vals := make([]tensor.Tensor, len(g.Values))
	for i, v := range g.In {
		f := g.Fact(v)
		if f.DType != tensor.Invalid && f.DType != in[i].DType {
			return nil, fault.New(fault.Type, "graph %q: input %d: want %v, got %v", g.Name, i, f.DType, in[i].DType)
		}
		if _, ok := f.Shape.Merge(tensor.Of(in[i].Dims...)); !ok {
			return nil, fault.New(fault.Shape, "graph %q: input %d: want %v, got %v", g.Name, i, f.Shape,
				tensor.Of(in[i].Dims...))
		}
		vals[v] = in[i]
		switch {
		case f.Quant == nil:
		case in[i].Quant == nil:
			vals[v].Quant = f.Quant
		default:
			if vals[v], err = requantized(in[i], tensor.Type{DType: in[i].DType, Quant: f.Quant}); err != nil {
				return nil, fault.Wrap(err, "graph %q: input %d", g.Name, i)
			}
		}
	}
	for v := range g.Values {
		if f := g.Values[v].Fact; f.Const != nil {
			dims, _ := f.Shape.Ints()
			vals[v] = tensor.Tensor{DType: f.DType, Dims: dims, Quant: f.Quant, Data: f.Const.Data}
		}
	}
	for _, i := range order {
		tick()
		if err := ctx.Err(); err != nil {
			return nil, fault.As(fault.Canceled, err, "graph %q", g.Name)
		}
		n := &g.Nodes[i]
		args := make([]tensor.Tensor, len(n.In))
		for k, v := range n.In {
			if v != graph.None {
				args[k] = vals[v]
			}
		}
		declared := make([]tensor.Type, len(n.Out))
		for k, v := range n.Out {
			if v != graph.None {
				declared[k] = g.Values[v].Fact.Type
			}
		}
		res, err := ComputeContext(ctx, n.Op, args, declared)
		if err != nil {
			return nil, n.Err(err)
		}
		if len(res) != len(n.Out) {
			return nil, fault.New(fault.Internal, "%s: kernel gave %d outputs, want %d", n.Label(), len(res), len(n.Out))
		}
		for k, v := range n.Out {
			if v != graph.None && left[v] > 0 {
				vals[v] = res[k]
			}
		}
		for _, v := range n.In {
			if v == graph.None {
				continue
			}
			if left[v]--; left[v] == 0 {
				vals[v] = tensor.Tensor{}
			}
		}
	}
	out := make([]tensor.Tensor, len(g.Out))
	for i, v := range g.Out {
		out[i] = vals[v]
	}
	return out, nil
}

// usesLeft counts, per value, the nodes and graph outputs that will read it, so that Run can drop what is no longer
// needed.
func usesLeft(g *graph.Graph) []int {
	left := make([]int, len(g.Values))
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].In {
			if v != graph.None {
				left[v]++
			}
		}
	}
	for _, v := range g.Out {
		left[v]++
	}
	return left
}
