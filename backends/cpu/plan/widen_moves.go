package plan

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// copies are operators that move elements of any type, whose steps take halves as they are.
var copies = set("center_crop_pad", "compress", "concat", "depth_to_space", "expand", "flatten", "gather",
	"gather_elements", "gather_nd", "identity", "pad", "reshape", "reverse_sequence", "scatter_elements", "scatter_nd",
	"slice", "space_to_depth", "split", "squeeze", "strided_slice", "tensor_scatter", "tile", "transpose", "trilu",
	"unsqueeze", "where")

// staying returns the values of halves that come from the graph's inputs, from constants and from operators that copy,
// and go to its outputs and to operators that copy. As float32 they would be widened and rounded for nothing. An
// operator that computes with such a value reads it widened. A constant with such a reader is widened for all readers.
func staying(g *graph.Graph, half []bool) map[graph.Value]bool {
	stay := map[graph.Value]bool{}
	for v, is := range half {
		if is {
			stay[graph.Value(v)] = true
		}
	}
	for changed := true; changed; {
		changed = false
		drop := func(v graph.Value) {
			changed = changed || stay[v]
			delete(stay, v)
		}
		needed := map[graph.Value]bool{}
		for _, v := range g.Out {
			needed[v] = true
		}
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if copiesOnly(n, half, stay) {
				each(n, half, func(v graph.Value) { needed[v] = true })
				continue
			}
			for _, v := range n.Out {
				if v != graph.None {
					drop(v)
				}
			}
			for _, v := range n.In {
				if v != graph.None && g.Values[v].Fact.Const != nil {
					drop(v)
				}
			}
		}
		for v := range stay {
			if !needed[v] {
				drop(v)
			}
		}
	}
	return stay
}

// copiesOnly reports whether a node copies elements, and all of halves are of those that stay.
func copiesOnly(n *graph.Node, half []bool, stay map[graph.Value]bool) bool {
	keeps := copies[graph.NameOf(n.Op)] && !joins(n.Op)
	each(n, half, func(v graph.Value) { keeps = keeps && stay[v] })
	return keeps
}

// each calls f with the halves that a node reads and makes.
func each(n *graph.Node, half []bool, f func(v graph.Value)) {
	for _, list := range [][]graph.Value{n.In, n.Out} {
		for _, v := range list {
			if v != graph.None && half[v] {
				f(v)
			}
		}
	}
}

// joins reports whether a scattering operator computes with the elements that are there.
func joins(o graph.Op) bool {
	switch o := o.(type) {
	case *op.ScatterElements:
		return o.Reduction != op.ScatterSet
	case *op.ScatterND:
		return o.Reduction != op.ScatterSet
	}
	return false
}

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}
