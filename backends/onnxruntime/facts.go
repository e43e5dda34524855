package onnxruntime

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// within says whether the indices of a gather or scatter are known, and lie in the tensor that they count in.
func within(g *graph.Graph, n *graph.Node) bool {
	at, known := g.Fact(n.In[1]).KnownInts()
	sizes, sized := g.Fact(n.In[0]).Shape.Ints()
	if !known || !sized {
		return false
	}
	axis := int64(0)
	switch o := n.Op.(type) {
	case *op.Gather:
		if given(n, 2) {
			list, ok := g.Fact(n.In[2]).KnownInts()
			if !ok || len(list) != 1 {
				return false
			}
			axis = list[0]
		}
	case *op.GatherElements:
		axis = o.Axis
	case *op.ScatterElements:
		axis = o.Axis
	case *op.GatherND:
		return withinEach(g, n, at, sizes[min(int(o.BatchDims), len(sizes)):])
	case *op.ScatterND:
		return withinEach(g, n, at, sizes)
	}
	if axis < 0 {
		axis += int64(len(sizes))
	}
	if axis < 0 || axis >= int64(len(sizes)) {
		return false
	}
	return !slices.ContainsFunc(at, func(i int64) bool { return i < -sizes[axis] || i >= sizes[axis] })
}

// withinEach is within for tuples of indices, one for each of the first dimensions.
func withinEach(g *graph.Graph, n *graph.Node, at, sizes []int64) bool {
	of := g.Fact(n.In[1]).Shape
	if of.Rank() == 0 || len(at) == 0 {
		return false
	}
	tuple := int(of.Dims[of.Rank()-1].N)
	if tuple < 1 || tuple > len(sizes) {
		return false
	}
	for k, i := range at {
		if size := sizes[k%tuple]; i < -size || i >= size {
			return false
		}
	}
	return true
}

// whole says whether a tensor is of integers that stand for nothing else.
func whole(t tensor.Type) bool { return t.DType.IsInt() && t.Quant == nil }

func positive(n int64) bool { return n > 0 }

// padded says whether there may be padding around an image.
func padded(auto op.AutoPad, pads []int64) bool {
	return auto != op.PadExplicit || slices.ContainsFunc(pads, positive)
}

func given(n *graph.Node, i int) bool { return i < len(n.In) && n.In[i] != graph.None }

// number is a constant of one element.
func number(g *graph.Graph, v graph.Value) (float64, bool) {
	f := g.Fact(v)
	n, known := f.Shape.Count()
	if f.Const == nil || !known || n != 1 {
		return 0, false
	}
	return tensor.FloatAt(f.DType, f.Const.Data, 0), true
}

// producer is the node that makes a value, nil if none does.
func producer(g *graph.Graph, v graph.Value) *graph.Node {
	if v == graph.None {
		return nil
	}
	if i := g.Producers()[v]; i >= 0 {
		return &g.Nodes[i]
	}
	return nil
}
