package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// one lowers to a single operator that takes the node's inputs in order.
func one(f func() graph.Op) lowering {
	return func(n *node) error { return n.emit(f(), n.in...) }
}

// withAttrs is one for an operator with attributes.
func withAttrs(f func(n *node) graph.Op) lowering {
	return func(n *node) error { return n.emit(f(n), n.in...) }
}

// variadic folds two or more inputs by a binary operator; a single one is passed on.
func variadic(f func() graph.Op) lowering {
	return func(n *node) error {
		if len(n.in) == 0 {
			return fault.New(fault.File, "no inputs")
		}
		v := n.in[0]
		if len(n.in) == 1 {
			return n.emit(&op.Identity{}, v)
		}
		for _, w := range n.in[1:] {
			v = n.b.Add(f(), v, w)
		}
		return n.result(v)
	}
}
