package devicecheck

import (
	"math"
	"reflect"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// rootOfTwo is the name of a constant that stands for that number, whatever a half makes of it: so plans take it in
// front of an error function.
const rootOfTwo = "root of two"

// wider is g with type to in the place of type from: in values, constants, attributes and bodies. The numbers of its
// constants are the same. after, if there is one, may replace what a node makes.
func wider(g *graph.Graph, from, to tensor.DType, after func(*graph.Builder, graph.Op, []graph.Value,
	graph.Value) graph.Value) (*graph.Graph, error) {
	b := graph.NewBuilder(g.Name)
	values := make([]graph.Value, len(g.Values))
	typed := func(t tensor.Type) tensor.Type {
		if t.DType == from {
			t.DType = to
		}
		return t
	}
	for _, v := range g.In {
		values[v] = b.Input(g.Values[v].Name, typed(g.Values[v].Fact.Type))
	}
	made := g.Producers()
	inputs := map[graph.Value]bool{}
	for _, v := range g.In {
		inputs[v] = true
	}
	for v, info := range g.Values {
		if c := info.Fact.Const; c != nil && made[v] < 0 && !inputs[graph.Value(v)] {
			t := info.Fact.Type
			n, _ := t.Shape.Count()
			data := widened(t.DType, from, to, int(n), c.Data)
			if info.Name == rootOfTwo {
				tensor.PutFloat(to, data, 0, math.Sqrt2, false)
			}
			values[v] = b.Const(info.Name, typed(t), data)
		}
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		n := &g.Nodes[i]
		o, err := widerOp(n.Op, from, to)
		if err != nil {
			return nil, err
		}
		in := make([]graph.Value, len(n.In))
		for k, v := range n.In {
			in[k] = graph.None
			if v != graph.None {
				in[k] = values[v]
			}
		}
		declared := make([]tensor.Type, len(n.Out))
		for k, v := range n.Out {
			if v != graph.None {
				declared[k] = typed(g.Values[v].Fact.Type)
			}
		}
		for k, v := range b.AddTyped(o, n.Name, declared, in...) {
			if n.Out[k] == graph.None {
				continue
			}
			if after != nil && b.Err() == nil && b.Fact(v).DType == to {
				v = after(b, o, in, v)
			}
			values[n.Out[k]] = v
		}
	}
	for _, v := range g.Out {
		b.Output(values[v])
	}
	return b.Graph()
}

// widerOp is an operator whose attributes have type to in the place of type from.
func widerOp(o graph.Op, from, to tensor.DType) (graph.Op, error) {
	copied := reflect.New(reflect.TypeOf(o).Elem())
	copied.Elem().Set(reflect.ValueOf(o).Elem())
	for i := range copied.Elem().NumField() {
		f := copied.Elem().Field(i)
		if !f.CanSet() {
			continue
		}
		switch v := f.Interface().(type) {
		case tensor.DType:
			if v == from {
				f.Set(reflect.ValueOf(to))
			}
		case *graph.Graph:
			if v == nil {
				continue
			}
			body, err := wider(v, from, to, nil)
			if err != nil {
				return nil, err
			}
			f.Set(reflect.ValueOf(body))
		}
	}
	return copied.Interface().(graph.Op), nil
}

// widened are n elements of type d, those of type from as such of type to.
func widened(d, from, to tensor.DType, n int, data []byte) []byte {
	if d != from {
		return data
	}
	out := tensor.New(to, int64(n)).Data
	for i := range n {
		tensor.PutFloat(to, out, i, tensor.FloatAt(from, data, i), false)
	}
	return out
}

// ownExpectation reports whether the expectation of a graph is what the reference gives for the halves themselves:
// results depend on how a type stores numbers or how many bits it has, are drawn, or are rounded to halves on the way,
// as what bodies hand on from trip to trip.
func ownExpectation(g *graph.Graph) bool {
	for i := range g.Nodes {
		o := g.Nodes[i].Op
		switch o.(type) {
		case *op.BitCast, *op.LSHProjection, *op.HashtableLookup, graph.Control:
			return true
		}
		if graph.TraitsOf(o).Impure {
			return true
		}
	}
	return false
}
