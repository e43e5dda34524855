package ir

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Network is a graph with the known facts of its values. prune makes it; fold computes constants in it; matchers read
// it.
type Network struct {
	*Loaded
	Uses   [][]int        // per value: the nodes that read it, in the order of computing
	Maker  []int          // per value: the node that makes it, None
	Done   []bool         // per node: it needs no node of the program any more
	Held   []bool         // per node: it makes a filter that an integer product may take as it is
	kept   []graph.Value  // constants that the rule under way may keep
	Pinned map[*byte]bool // bytes that steps keep
	Budget run.Budget
	Bodies Bodies
	Open   *graph.Graph // the graph without the sizes of its inputs, nil: they are always the same
	Halves []bool       // per value that the graph had at first: its numbers had 16 bits
}

// Bodies plans graph number body within node i, which is inferred; open is the same without the sizes of the model's
// inputs, nil when these are known. Errors come from the plan's Build; one without a fast kernel is a plan, too.
type Bodies func(i, body int, g, open *graph.Graph) (*run.Plan, error)

// OnlyUse returns the one node that reads v, None when there are others or v is a graph output.
func (g *Network) OnlyUse(v graph.Value) int {
	if len(g.Uses[v]) != 1 || slices.Contains(g.Graph.Out, v) {
		return run.None
	}
	return g.Uses[v][0]
}

// WasHalf reports whether the numbers of v had 16 bits in the graph.
func (g *Network) WasHalf(v graph.Value) bool { return v >= 0 && int(v) < len(g.Halves) && g.Halves[v] }

// Constant returns the values of a float32 constant, nil when v is not one. They stay if the rule under way finds
// something, whose steps may keep them.
func (g *Network) Constant(v graph.Value) []float32 {
	c := g.Operand(v)
	if c != nil {
		g.Keep(v)
	}
	return c
}

// Keep says that steps of the operation that is being matched read the bytes of a constant.
func (g *Network) Keep(v graph.Value) { g.kept = append(g.kept, v) }

// Operand returns the values of a float32 constant for packing only, nil when v is not one: constant is for values that
// steps keep.
func (g *Network) Operand(v graph.Value) []float32 {
	if v == graph.None || g.Values[v].Data == nil || g.Values[v].Type.DType != tensor.Float32 ||
		g.Values[v].Type.Quant != nil {
		return nil
	}
	return run.Floats(g.Values[v].Data)
}

// Ints returns the values of an integer input that is known now; ok is false when it is not. An absent one is nil.
func (g *Network) Ints(in []graph.Value, i int) (v []int64, ok bool) {
	if i >= len(in) || in[i] == graph.None {
		return nil, true
	}
	x := &g.Values[in[i]]
	if x.Data == nil || x.Dims == nil {
		return nil, false
	}
	v, err := tensor.ReadInts(x.Type.DType, x.Data, x.Count())
	return v, err == nil
}

// IsFloat32 reports whether kernels can compute with all of vs; absent ones are not.
func (g *Network) IsFloat32(vs ...graph.Value) bool {
	return !slices.ContainsFunc(vs, func(v graph.Value) bool { return v == graph.None || !g.Values[v].IsFloat32() })
}

// Given reports whether input i is there.
func Given(in []graph.Value, i int) bool { return i < len(in) && in[i] != graph.None }
