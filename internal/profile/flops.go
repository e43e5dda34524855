// Package profile counts the arithmetic and the elements of a graph's nodes and joins them with the times of a run: how
// fast each node was, and which share of either ran on fast kernels.
package profile

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// FLOPs returns the arithmetic operations of node i of a graph of known shapes: two per multiply-add of convolutions,
// products, recurrent layers, SVDF and attention; one per element of the window for pooling; one per element of the
// largest operand for everything else that computes; those of all bodies, once, for operators with graphs; 0 for
// operators that only move data or describe it, and where shapes are not known. Functions such as exp count as one.
func FLOPs(g *graph.Graph, i int) int64 {
	n := &g.Nodes[i]
	switch o := n.Op.(type) {
	case *op.Conv, *op.DeformConv:
		return 2 * out(g, n) * inner(g, n.In[1], 1)
	case *op.ConvTranspose:
		return 2 * transposed(g, n, o)
	case *op.FullyConnected:
		return 2 * out(g, n) * inner(g, n.In[1], 1)
	case *op.MatMul:
		return 2 * out(g, n) * depth(dims(g, n.In[0]), o.TransposeA)
	case *op.Einsum:
		return einsum(g, n, o)
	case *op.LSTM:
		return recurrent(g, n)
	case *op.GRU:
		return recurrent(g, n)
	case *op.RNN:
		return recurrent(g, n)
	case *op.SVDF:
		return perRow(g, n, 1, 2)
	case *op.Quantized16BitLSTM:
		return perRow(g, n, 1, 2, 3, 4, 5, 6, 7, 8)
	case *op.QuantizedLSTM:
		return perRow(g, n, 1, 2, 3, 4, 5, 6, 7, 8, 16)
	case *op.Attention:
		return attention(g, n, o)
	case *op.MaxPool:
		return pooled(g, n, o.Kernel, o.Global)
	case *op.AveragePool:
		return pooled(g, n, o.Kernel, o.Global)
	case *op.LpPool:
		return pooled(g, n, o.Kernel, o.Global)
	case graph.Control:
		return inBodies(o, FLOPs)
	}
	if graph.TraitsOf(n.Op).Moves {
		return 0
	}
	return largest(g, n)
}

// Elements returns how many elements node i of a graph of known shapes reads, moves, compares or writes, those of its
// largest operand or result, whether it computes or not, and those of all bodies, once, for operators with graphs. What
// makes a constant or describes a shape moves none.
func Elements(g *graph.Graph, i int) int64 {
	n := &g.Nodes[i]
	switch o := n.Op.(type) {
	case graph.Control:
		return largest(g, n) + inBodies(o, Elements)
	case *op.Shape, *op.Size, *op.Rank:
		return 1
	}
	return largest(g, n)
}

// inBodies adds up what the nodes of an operator's graphs count.
func inBodies(o graph.Control, count func(g *graph.Graph, i int) int64) (sum int64) {
	for _, b := range o.Bodies() {
		for i := range b.Nodes {
			sum += count(b, i)
		}
	}
	return sum
}

// largest is the number of elements of a node's largest operand or result.
func largest(g *graph.Graph, n *graph.Node) (most int64) {
	for _, vs := range [][]graph.Value{n.In, n.Out} {
		for _, v := range vs {
			if v != graph.None {
				most = max(most, product(dims(g, v)))
			}
		}
	}
	return most
}

// dims returns the sizes of v, nil when they are not known.
func dims(g *graph.Graph, v graph.Value) []int64 {
	d, ok := g.Fact(v).Shape.Ints()
	if !ok {
		return nil
	}
	return d
}

// product is 0 for nil: sizes that are not known. A scalar has sizes of length 0 and counts as one.
func product(d []int64) int64 {
	if d == nil {
		return 0
	}
	p := int64(1)
	for _, n := range d {
		p *= n
	}
	return p
}

func out(g *graph.Graph, n *graph.Node) int64 { return product(dims(g, n.Out[0])) }

// inner is the product of v's sizes from the given one on.
func inner(g *graph.Graph, v graph.Value, from int) int64 {
	d := dims(g, v)
	if len(d) < from {
		return 0
	}
	return product(d[from:])
}

// depth is the number of terms of each sum of a matrix product, from its first operand.
func depth(a []int64, transposed bool) int64 {
	switch {
	case len(a) == 0:
		return 0
	case transposed && len(a) > 1:
		return a[len(a)-2]
	}
	return a[len(a)-1]
}

// transposed counts multiply-adds: every position of x with the whole filter, whose groups share the channels out.
func transposed(g *graph.Graph, n *graph.Node, o *op.ConvTranspose) int64 {
	x := dims(g, n.In[0])
	if len(x) < 3 {
		return 0
	}
	positions := product(x[2:])
	if o.ChannelsLast {
		positions = product(x[1 : len(x)-1])
	}
	return x[0] * positions * inner(g, n.In[1], 0)
}

// recurrent counts the products with the weights of input and state, and of an LSTM's projection.
func recurrent(g *graph.Graph, n *graph.Node) int64 {
	x := dims(g, n.In[0])
	if len(x) != 3 {
		return 0
	}
	weights := inner(g, n.In[1], 0) + inner(g, n.In[2], 0)
	if len(n.In) > 8 && n.In[8] != graph.None {
		weights += inner(g, n.In[8], 0)
	}
	return 2 * x[0] * x[1] * weights
}

// perRow counts one product with every element of the given inputs, as far as they are there, for each row of x.
func perRow(g *graph.Graph, n *graph.Node, weights ...int) int64 {
	x := dims(g, n.In[0])
	if len(x) != 2 {
		return 0
	}
	var all int64
	for _, i := range weights {
		if i < len(n.In) && n.In[i] != graph.None {
			all += inner(g, n.In[i], 0)
		}
	}
	return 2 * x[0] * all
}

// attention counts the two products, over past and new keys.
func attention(g *graph.Graph, n *graph.Node, o *op.Attention) int64 {
	q, k, v := dims(g, n.In[0]), dims(g, n.In[1]), dims(g, n.In[2])
	if q == nil || k == nil || v == nil || len(q) != len(k) || len(q) != len(v) {
		return 0
	}
	heads, size, value := o.Heads, int64(0), int64(0)
	if len(q) == 4 {
		heads, size, value = q[1], q[3], v[3]
	} else if o.Heads > 0 && o.KVHeads > 0 {
		size, value = q[2]/o.Heads, v[2]/o.KVHeads
	}
	keys := k[len(k)-2]
	if len(n.In) > 4 {
		if past := dims(g, n.In[4]); len(past) == 4 {
			keys += past[2]
		}
	}
	return 2 * q[0] * heads * q[len(q)-2] * keys * (size + value)
}

// einsum counts a multiply-add for every combination of its labels.
func einsum(g *graph.Graph, n *graph.Node, o *op.Einsum) int64 {
	ranks, sizes := make([]int, len(n.In)), map[int]int64{}
	for i, v := range n.In {
		ranks[i] = len(dims(g, v))
	}
	in, _, err := o.Terms(ranks)
	if err != nil {
		return 0
	}
	for i, labels := range in {
		for k, l := range labels {
			sizes[l] = max(sizes[l], dims(g, n.In[i])[k])
		}
	}
	all := int64(2)
	for _, s := range sizes {
		all *= s
	}
	return all
}

func pooled(g *graph.Graph, n *graph.Node, kernel []int64, global bool) int64 {
	if global {
		return product(dims(g, n.In[0]))
	}
	return out(g, n) * product(append([]int64{}, kernel...))
}
