package onnxruntime

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// otherSum says whether a quotient is one of exponentials by a sum of others.
func otherSum(g *graph.Graph, n *graph.Node) bool {
	above, below := producer(g, n.In[0]), producer(g, n.In[1])
	if above == nil || below == nil || !isExp(above) {
		return false
	}
	if _, sums := below.Op.(*op.ReduceSum); !sums {
		return false
	}
	of := producer(g, below.In[0])
	return of != nil && isExp(of) && of != above
}

func isExp(n *graph.Node) bool {
	_, is := n.Op.(*op.Exp)
	return is
}

// otherVariance says whether a mean of squares is no variance as layer norms write it: the squares are of a deviation
// from the mean of another value, or along other axes, or of mean - x.
func otherVariance(g *graph.Graph, n *graph.Node) bool {
	square := producer(g, n.In[0])
	if square == nil {
		return false
	}
	switch square.Op.(type) {
	case *op.Pow, *op.Mul, *op.Square:
	default:
		return false
	}
	sub := producer(g, square.In[0])
	if sub == nil {
		return false
	}
	if _, is := sub.Op.(*op.Sub); !is {
		return false
	}
	for i, v := range sub.In {
		of := mean(g, v)
		if of == graph.None {
			continue
		}
		if i == 0 || of != sub.In[0] || !slices.Equal(axes(g, producer(g, v)), axes(g, n)) {
			return true
		}
	}
	return false
}

// shortRMS says whether a node takes the mean of less than 16 neighbours' squares, other than of deviations.
func shortRMS(g *graph.Graph, n *graph.Node) bool {
	const fewest = 16
	square := producer(g, n.In[0])
	if square == nil || deviation(g, square.In[0]) {
		return false
	}
	switch square.Op.(type) {
	case *op.Pow, *op.Square:
	default:
		return false
	}
	shape, rank := g.Fact(n.In[0]).Shape, int64(g.Fact(n.In[0]).Shape.Rank())
	if rank == 0 {
		return false
	}
	along := axes(g, n)
	last := len(along) == 0 || slices.Contains(along, -1) || slices.Contains(along, rank-1)
	return last && shape.Dims[rank-1].N < fewest
}

// axes returns the axes of a reduction as they are written; nil if they are not known, or all.
func axes(g *graph.Graph, n *graph.Node) []int64 {
	if !given(n, 1) {
		return nil
	}
	list, _ := g.Fact(n.In[1]).KnownInts()
	return list
}

// joined says whether a value is a Concat.
func joined(g *graph.Graph, v graph.Value) bool {
	p := producer(g, v)
	if p == nil {
		return false
	}
	_, is := p.Op.(*op.Concat)
	return is
}

// sharesConvolved says whether a node's result lies in the memory of a value that a convolution reads with channels
// last: a Reshape does, and a Concat along the first of the dimensions that are not 1.
func sharesConvolved(g *graph.Graph, n *graph.Node) bool {
	parts := n.In[:1]
	switch o := n.Op.(type) {
	case *op.Reshape, *op.Squeeze, *op.Unsqueeze, *op.Flatten:
	case *op.Concat:
		shape := g.Fact(n.Out[0]).Shape
		axis := int(o.Axis)
		if axis < 0 {
			axis += shape.Rank()
		}
		if axis > shape.Rank() || slices.ContainsFunc(shape.Dims[:axis], func(d tensor.Dim) bool { return d.N != 1 }) {
			return false
		}
		parts = n.In
	default:
		return false
	}
	uses := g.Uses()
	return slices.ContainsFunc(parts, func(v graph.Value) bool {
		return producer(g, v) != nil && slices.ContainsFunc(uses[v], func(i int) bool {
			if m := &g.Nodes[i]; !convolves(m, v, true) {
				_, turns := m.Op.(*op.Transpose)
				return turns && slices.ContainsFunc(uses[m.Out[0]], func(k int) bool {
					return convolves(&g.Nodes[k], m.Out[0], false)
				})
			}
			return true
		})
	})
}

// convolves says whether a node is a convolution of v, of images whose channels are last or not.
func convolves(n *graph.Node, v graph.Value, last bool) bool {
	switch o := n.Op.(type) {
	case *op.Conv:
		return n.In[0] == v && o.ChannelsLast == last
	case *op.ConvTranspose:
		return n.In[0] == v && o.ChannelsLast == last
	}
	return false
}

// mean returns the value whose mean v is, graph.None if v is no mean.
func mean(g *graph.Graph, v graph.Value) graph.Value {
	if p := producer(g, v); p != nil {
		if _, ok := p.Op.(*op.ReduceMean); ok {
			return p.In[0]
		}
	}
	return graph.None
}

// deviation says whether v is a difference from a mean.
func deviation(g *graph.Graph, v graph.Value) bool {
	p := producer(g, v)
	if p == nil {
		return false
	}
	_, ok := p.Op.(*op.Sub)
	return ok && (mean(g, p.In[0]) != graph.None || mean(g, p.In[1]) != graph.None)
}

// sliding are the windows of a pool that rounds up as ONNX does and has explicit pads. Those of another one have no
// kernel.
type sliding struct {
	kernel, strides, dilations, pads []int64
	channelsLast                     bool
}

func slidingOf(o graph.Op) sliding {
	switch o := o.(type) {
	case *op.AveragePool:
		if !o.Global && o.Ceil == op.RoundCeilInside && o.AutoPad == op.PadExplicit {
			return sliding{o.Kernel, o.Strides, o.Dilations, o.Pads, o.ChannelsLast}
		}
	case *op.MaxPool:
		if !o.Global && o.Ceil == op.RoundCeilInside && o.AutoPad == op.PadExplicit {
			return sliding{o.Kernel, o.Strides, o.Dilations, o.Pads, o.ChannelsLast}
		}
	}
	return sliding{}
}

// dropsWindow says whether rounding up would give a window more than the node has, because that starts behind the image
// or in its padding. It is not known where sizes are not.
func dropsWindow(g *graph.Graph, n *graph.Node, o sliding) (drops, known bool) {
	if o.kernel == nil {
		return false, true
	}
	in, known := g.Fact(n.In[0]).Type.Shape.Ints()
	out, sized := g.Fact(n.Out[0]).Type.Shape.Ints()
	if !known || !sized {
		return false, false
	}
	first, spatial := 2, len(o.kernel)
	if o.channelsLast {
		first = 1
	}
	at := func(list []int64, i int, otherwise int64) int64 {
		if i < len(list) {
			return list[i]
		}
		return otherwise
	}
	for i, k := range o.kernel {
		reach := in[first+i] + at(o.pads, i, 0) + at(o.pads, spatial+i, 0) - at(o.dilations, i, 1)*(k-1) - 1
		stride := at(o.strides, i, 1)
		if (reach+stride-1)/stride+1 != out[first+i] {
			return true, true
		}
	}
	return false, true
}
