package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// expand returns g with sums over named dimensions and attention as products, transpositions and sums of rows, and with
// reductions of axes that are no neighbours in parts. How many nodes that takes follows from sizes, so it is for graphs
// that have one plan: packed constants are found by the numbers of nodes. A graph without such operators is returned as
// it is.
func expand(g *graph.Graph) *graph.Graph {
	e := &expander{graph: g}
	var nodes []graph.Node
	for i := range g.Nodes {
		var made []graph.Node
		switch o := g.Nodes[i].Op.(type) {
		case *op.Einsum:
			made = e.replace(&g.Nodes[i], func() graph.Value { return e.einsum(o) })
		case *op.Attention:
			made = e.replace(&g.Nodes[i], func() graph.Value { return e.attention(o) })
		default:
			if first, _ := parted(o); first != nil {
				made = e.replace(&g.Nodes[i], e.reduction)
			}
		}
		if made != nil && nodes == nil {
			nodes = slices.Clone(g.Nodes[:i])
		}
		switch {
		case made != nil:
			nodes = append(nodes, made...)
		case nodes != nil:
			nodes = append(nodes, g.Nodes[i])
		}
	}
	if nodes == nil {
		return g
	}
	e.graph.Nodes = nodes
	return e.graph
}

// labelled is an operand whose dimensions have names.
type labelled struct {
	v      graph.Value
	labels []int
}

// einsum is a sum of products of one or two operands whose dimensions are all different.
func (e *expander) einsum(o *op.Einsum) graph.Value {
	in := e.from.In
	var ranks []int
	var dims [][]int64
	for _, v := range in {
		dims = append(dims, e.dims(v))
		ranks = append(ranks, len(dims[len(dims)-1]))
	}
	if !e.ok || len(in) > 2 {
		e.ok = false
		return graph.None
	}
	terms, out, err := o.Terms(ranks)
	size := map[int]int64{}
	e.ok = err == nil
	for k := range terms {
		for d, l := range terms[k] {
			n := dims[k][d]
			if known, is := size[l]; is && known != n || slices.Contains(terms[k][:d], l) {
				e.ok = false // dimensions that repeat, and diagonals
			}
			size[l] = n
		}
	}
	if !e.ok {
		return graph.None
	}
	a := labelled{in[0], terms[0]}
	if len(in) == 1 {
		a = e.summed(a, out, nil)
		return e.inOrder(a, out)
	}
	b := labelled{in[1], terms[1]}
	a, b = e.summed(a, out, b.labels), e.summed(b, out, a.labels)
	return e.product(a, b, out, size)
}

// summed sums over the dimensions that nothing else names.
func (e *expander) summed(x labelled, others ...[]int) labelled {
	var axes []int64
	var left []int
	for d, l := range x.labels {
		if slices.ContainsFunc(others, func(list []int) bool { return slices.Contains(list, l) }) {
			left = append(left, l)
		} else {
			axes = append(axes, int64(d))
		}
	}
	if axes == nil {
		return x
	}
	return labelled{e.add(&op.ReduceSum{}, x.v, e.numbers(axes...)), left}
}

// inOrder is x with its dimensions in the order of the labels.
func (e *expander) inOrder(x labelled, labels []int) graph.Value {
	axes := make([]int, len(labels))
	for k, l := range labels {
		axes[k] = slices.Index(x.labels, l)
	}
	if len(axes) != len(x.labels) || slices.Contains(axes, -1) {
		e.ok = false
		return graph.None
	}
	y := e.ordered(x.v, axes)
	if y == e.from.In[0] { // a result of its own
		return e.add(&op.Identity{}, y)
	}
	return y
}

// product is the sum of products as a product of matrices.
func (e *expander) product(a, b labelled, out []int, size map[int]int64) graph.Value {
	var both, rows, cols, depth []int
	for _, l := range out {
		switch inA, inB := slices.Contains(a.labels, l), slices.Contains(b.labels, l); {
		case inA && inB:
			both = append(both, l)
		case inA:
			rows = append(rows, l)
		case inB:
			cols = append(cols, l)
		default:
			e.ok = false
			return graph.None
		}
	}
	for _, l := range a.labels {
		if !slices.Contains(out, l) {
			depth = append(depth, l)
		}
	}
	count := func(list []int) int64 {
		n := int64(1)
		for _, l := range list {
			n *= size[l]
		}
		return n
	}
	sizes := func(list []int) (dims []int64) {
		for _, l := range list {
			dims = append(dims, size[l])
		}
		return dims
	}
	batch := sizes(both)
	x := e.inOrder(a, slices.Concat(both, rows, depth))
	x = e.shaped(x, append(slices.Clone(batch), count(rows), count(depth))...)
	turned := slices.Equal(b.labels, slices.Concat(both, cols, depth)) && len(cols) > 0
	var y graph.Value
	if turned {
		y = e.shaped(b.v, append(slices.Clone(batch), count(cols), count(depth))...)
	} else {
		y = e.inOrder(b, slices.Concat(both, depth, cols))
		y = e.shaped(y, append(slices.Clone(batch), count(depth), count(cols))...)
	}
	z := e.add(&op.MatMul{TransposeB: turned}, x, y)
	z = e.shaped(z, slices.Concat(batch, sizes(rows), sizes(cols))...)
	return e.inOrder(labelled{z, slices.Concat(both, rows, cols)}, out)
}

// allFinite reports whether bytes are float32 numbers without infinities and NaN.
func allFinite(data []byte) bool {
	return !slices.ContainsFunc(mem.Elements[float32](data), func(x float32) bool { return x-x != 0 })
}

// attention is the one of all keys of as many heads as there are queries, with a constant mask of numbers.
func (e *expander) attention(o *op.Attention) graph.Value {
	in := e.from.In
	if o.Causal || o.Before != nil || o.After != nil || o.Softcap != 0 || len(e.from.Out) != 1 || len(in) < 3 ||
		slices.ContainsFunc(in[min(4, len(in)):], func(v graph.Value) bool { return v != graph.None }) {
		e.ok = false
		return graph.None
	}
	rank := len(e.dims(in[0]))
	heads := func(v graph.Value, n int64) graph.Value {
		d := e.dims(v)
		if rank == 4 || !e.ok || len(d) != 3 || n < 1 || d[2]%n != 0 {
			e.ok = e.ok && rank == 4 && len(d) == 4
			return v
		}
		return e.ordered(e.shaped(v, d[0], d[1], n, d[2]/n), []int{0, 2, 1, 3})
	}
	q, k, v := heads(in[0], o.Heads), heads(in[1], o.KVHeads), heads(in[2], o.KVHeads)
	dq, dk := e.dims(q), e.dims(k)
	if !e.ok || dq[1] != dk[1] || dq[0] != dk[0] {
		e.ok = false
		return graph.None
	}
	scale := o.Scale
	if scale == 0 {
		scale = float32(1 / math.Sqrt(float64(dq[3])))
	}
	s := e.add(&op.Mul{}, e.add(&op.MatMul{TransposeB: true}, q, k), e.number(scale))
	if len(in) > 3 && in[3] != graph.None {
		m, c := e.dims(in[3]), e.graph.Fact(in[3]).Const
		if !e.ok || len(m) == 0 || m[len(m)-1] != dk[2] || c == nil ||
			!allFinite(c.Data) { // a row without keys would not give 0
			e.ok = false
			return graph.None
		}
		s = e.add(&op.Add{}, s, in[3])
	}
	y := e.add(&op.MatMul{}, e.add(&op.Softmax{Axis: -1}, s), v)
	if rank == 4 {
		return y
	}
	d := e.dims(y)
	if !e.ok {
		return graph.None
	}
	return e.shaped(e.ordered(y, []int{0, 2, 1, 3}), d[0], d[2], d[1]*d[3])
}
