package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// expander replaces operators by several for which there are kernels.
type expander struct {
	graph *graph.Graph // a copy, of which no value that was there changes
	from  *graph.Node  // that is replaced
	ok    bool         // nothing has failed
}

// replace returns the nodes that make gives in place of n, nil when it has none.
func (e *expander) replace(n *graph.Node, make func() graph.Value) []graph.Node {
	before := e.graph
	own := *before
	own.Values, own.Nodes = slices.Clone(before.Values), nil
	e.graph, e.from, e.ok = &own, n, true
	y := make()
	if !e.ok || len(n.Out) == 0 || n.Out[0] == graph.None || len(own.Nodes) == 0 {
		e.graph = before
		return nil
	}
	last := &own.Nodes[len(own.Nodes)-1]
	dims, known := before.Fact(n.Out[0]).Shape.Ints()
	made, _ := own.Fact(y).Shape.Ints()
	if !known || !slices.Equal(dims, made) || last.Out[0] != y {
		e.graph = before
		return nil
	}
	last.Out = []graph.Value{n.Out[0]}
	nodes := own.Nodes
	e.graph.Nodes = nil
	return nodes
}

// add adds an operator with one result.
func (e *expander) add(o graph.Op, in ...graph.Value) graph.Value {
	if !e.ok {
		return graph.None
	}
	out, err := o.Infer(e.graph.Facts(in), []tensor.Type{{}})
	if err != nil || len(out) != 1 {
		e.ok = false
		return graph.None
	}
	v := e.value(out[0])
	e.graph.Nodes = append(e.graph.Nodes, graph.Node{Op: o, Name: e.from.Name, Origin: e.from.Origin, In: in,
		Out: []graph.Value{v}})
	return v
}

func (e *expander) value(f tensor.Fact) graph.Value {
	e.graph.Values = append(e.graph.Values, graph.ValueInfo{Fact: f})
	return graph.Value(len(e.graph.Values) - 1)
}

// numbers is a constant list.
func (e *expander) numbers(v ...int64) graph.Value {
	return e.value(tensor.Fact{Type: tensor.T(tensor.Int64, int64(len(v))), Const: tensor.NewConst(tensor.Int64s(v...))})
}

// number is a constant number.
func (e *expander) number(x float32) graph.Value {
	return e.value(tensor.Fact{Type: tensor.T(tensor.Float32), Const: tensor.NewConst(tensor.Float32s(x))})
}

// dims are the sizes of v, nil and a failure when they are not known or there are no elements.
func (e *expander) dims(v graph.Value) []int64 {
	if !e.ok {
		return nil
	}
	f := e.graph.Fact(v)
	dims, known := f.Shape.Ints()
	n, _ := f.Shape.Count()
	e.ok = known && n > 0 && f.DType == tensor.Float32 && f.Quant == nil
	return dims
}

// ordered is v with its dimensions in another order.
func (e *expander) ordered(v graph.Value, axes []int) graph.Value {
	if slices.IsSorted(axes) {
		return v
	}
	perm := make([]int64, len(axes))
	for k, a := range axes {
		perm[k] = int64(a)
	}
	return e.add(&op.Transpose{}, v, e.numbers(perm...))
}

// shaped is v with other sizes.
func (e *expander) shaped(v graph.Value, dims ...int64) graph.Value {
	if own := e.dims(v); slices.Equal(own, dims) {
		return v
	}
	return e.add(&op.Reshape{}, v, e.numbers(dims...))
}
