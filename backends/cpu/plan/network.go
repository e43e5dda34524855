package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// network is a graph with what is known of its values. prune makes it; fold computes constants in it; matchers read it.
type network struct {
	*loaded
	uses   [][]int        // per value: the nodes that read it, in the order of computing
	maker  []int          // per value: the node that makes it, none
	done   []bool         // per node: it needs no node of the program any more
	held   []bool         // per node: it makes a filter that an integer product may take as it is
	kept   []graph.Value  // constants that the rule under way may keep
	pinned map[*byte]bool // bytes that steps keep
	budget budget
}

// onlyUse returns the one node that reads v, none when there are others or v is a graph output.
func (g *network) onlyUse(v graph.Value) int {
	if len(g.uses[v]) != 1 || slices.Contains(g.graph.Out, v) {
		return none
	}
	return g.uses[v][0]
}

// constant returns the values of a float32 constant, nil when v is not one. They stay if the rule under way finds
// something, whose steps may keep them.
func (g *network) constant(v graph.Value) []float32 {
	c := g.operand(v)
	if c != nil {
		g.keep(v)
	}
	return c
}

// keep says that steps of what the rule under way finds read the bytes of a constant.
func (g *network) keep(v graph.Value) { g.kept = append(g.kept, v) }

// operand returns the values of a float32 constant for packing only, nil when v is not one: constant is for values that
// steps keep.
func (g *network) operand(v graph.Value) []float32 {
	if v == graph.None || g.values[v].data == nil || g.values[v].typ.DType != tensor.Float32 ||
		g.values[v].typ.Quant != nil {
		return nil
	}
	return floats(g.values[v].data)
}

// ints returns the values of an integer input that is known now; ok is false when it is not. An absent one is nil.
func (g *network) ints(in []graph.Value, i int) (v []int64, ok bool) {
	if i >= len(in) || in[i] == graph.None {
		return nil, true
	}
	x := &g.values[in[i]]
	if x.data == nil || x.dims == nil {
		return nil, false
	}
	v, err := tensor.ReadInts(x.typ.DType, x.data, x.count())
	return v, err == nil
}

// isFloat32 reports whether kernels can compute with all of vs; absent ones are not.
func (g *network) isFloat32(vs ...graph.Value) bool {
	return !slices.ContainsFunc(vs, func(v graph.Value) bool { return v == graph.None || !g.values[v].isFloat32() })
}

func given(in []graph.Value, i int) bool { return i < len(in) && in[i] != graph.None }
