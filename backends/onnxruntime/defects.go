package onnxruntime

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// rightFrom is the first version that computes a node right which older ones do not get.
const rightFrom = 32

// defect names the known fault of a provider with a node that it takes, "" for none: runs that fail, and wrong results.
// All were found by tests of devices and of APIs with ONNX Runtime 1.24.1 and 1.32.0 on x86-64. Bodies of a node have
// those of their nodes.
func (d *Device) defect(g *graph.Graph, n *graph.Node) string {
	if c, is := n.Op.(graph.Control); is {
		for _, body := range c.Bodies() {
			for i := range body.Nodes {
				if why := d.defect(body, &body.Nodes[i]); why != "" {
					return why
				}
			}
		}
	}
	if why := unchecked(g, n); why != "" {
		return why
	}
	switch {
	case len(n.In) == 0 || n.In[0] == graph.None:
	case d.provider.Name == openVINOProvider:
		return ofOpenVINO(g, n)
	case d.provider.maker == qnnMaker:
		return ofQNN(g, n)
	case d.provider.Name == CPUProvider:
		return d.ofCPU(g, n)
	}
	return ""
}

// qnnMaker is the vendor that Qualcomm's plug-in states.
const qnnMaker = "Qualcomm"

// ofQNN names the faults of Qualcomm's HTP, as it is emulated by version 2.51 of its SDK.
func ofQNN(g *graph.Graph, n *graph.Node) string {
	x := g.Fact(n.In[0]).Type
	switch o := n.Op.(type) {
	case *op.Exp:
		if x.DType == tensor.Float16 {
			return "the provider QNN makes NaN of powers in halves"
		}
	case *op.MaxPool:
		if o.Ceil != op.RoundFloor {
			return "the provider QNN takes 0 for what a window of a MaxPool that rounds up has outside of the image"
		}
	case *op.RandomNormalLike, *op.RandomUniformLike:
		if whole(x) {
			return "the provider QNN takes random numbers in the shape of integers and fails to run"
		}
	}
	return ""
}

// ofCPU names the faults of the CPU provider.
func (d *Device) ofCPU(g *graph.Graph, n *graph.Node) string {
	x := g.Fact(n.In[0]).Type
	switch o := n.Op.(type) {
	case *op.GRU, *op.LSTM:
		if x.DType == tensor.Float64 {
			return "the CPU provider takes a recurrent layer of float64 and fails to run it"
		}
		if loses(g, n) {
			return "the CPU provider loses the first state of a sequence without steps"
		}
	case *op.RNN:
		if loses(g, n) {
			return "the CPU provider loses the first state of a sequence without steps"
		}
	case *op.Div, *op.Mod:
		if divides, known := g.Fact(n.In[1]).KnownInts(); whole(x) && (!known || slices.Contains(divides, 0) ||
			slices.Contains(divides, -1)) {
			return "the CPU provider ends the process where integers are divided by 0, or the lowest by -1"
		}
	case *op.ReduceSum, *op.ReduceMean, *op.ReduceProd:
		if whole(x) {
			return "the CPU provider loses the last digits of sums and products of integers"
		}
	case *op.Scan:
		return "the CPU provider does not hand on all states of a Scan"
	case *op.Attention:
		if why := attention(g, n); why != "" {
			return why
		}
	case *op.AveragePool:
		if drops, _ := dropsWindow(g, n, slidingOf(o)); drops {
			return "the CPU provider says another size of an AveragePool that rounds up than it makes"
		}
	case *op.Bernoulli:
		return "the CPU provider draws 1 where it ought to draw 0"
	case *op.MaxUnpool:
		if given(n, 2) {
			return "the CPU provider does not place a MaxUnpool's values in the size that is asked for"
		}
	case *op.Sub:
		if mean(g, n.In[0]) == n.In[1] {
			return "the CPU provider takes mean - x for the x - mean of a layer norm"
		}
	case *op.Pow:
		if whole(x) {
			return "the CPU provider computes powers of integers as real numbers"
		}
		if e, ok := number(g, n.In[1]); (!ok || e != 2) && deviation(g, n.In[0]) {
			return "the CPU provider takes any power of a deviation for the square of a layer norm"
		}
	case *op.Resize:
		switch {
		case o.Mode == op.ResizeCubic && whole(x):
			return "the CPU provider takes a cubic Resize of integers and fails to run it"
		case o.Mode == op.ResizeLinear && whole(x):
			return "the CPU provider adds up a Resize of integers in steps that it rounds"
		}
		if o.Mode == op.ResizeNearest && o.Coord == op.CoordHalfPixelSymmetric {
			return "the CPU provider rounds the coordinates of half_pixel_symmetric before it looks for the nearest"
		}
	}
	if pools(n.Op) && x.Shape.Ranked && slices.ContainsFunc(x.Shape.Dims[1:], func(d tensor.Dim) bool {
		return d.Known() && d.N == 0
	}) {
		return "the CPU provider takes a pool of nothing and fails to run it"
	}
	if n, known := minor(d.lib.version); known && n >= rightFrom {
		return ""
	}
	switch o := n.Op.(type) {
	case *op.Attention:
		if o.Causal {
			return "a causal Attention of this version of ONNX Runtime is wrong"
		}
	case *op.STFT:
		if len(n.In) < 3 || n.In[2] == graph.None {
			return "an STFT without a window of this version of ONNX Runtime reads beyond its input"
		}
	case *op.Quantize:
		if x.DType == tensor.Float16 {
			return "QuantizeLinear of float16 of this version of ONNX Runtime rounds twice"
		}
	}
	return ""
}

// unchecked names the inputs that a node has to refuse and that ONNX lets pass, whatever the provider.
func unchecked(g *graph.Graph, n *graph.Node) string {
	switch o := n.Op.(type) {
	case *op.Gather:
		return wraps(g, n, o.NegativeWraps)
	case *op.GatherElements:
		return wraps(g, n, o.NegativeWraps)
	case *op.GatherND:
		return wraps(g, n, o.NegativeWraps)
	case *op.ScatterElements:
		return wraps(g, n, o.NegativeWraps)
	case *op.ScatterND:
		return wraps(g, n, o.NegativeWraps)
	case *op.RoiAlign:
		if o.Inside {
			return "ONNX has no check of regions outside of an image"
		}
	case *op.MaxRoiPool:
		if o.Inside {
			return "ONNX has no check of regions outside of an image"
		}
	case *op.AxisAlignedBoxTransform:
		return "ONNX has no check of boxes"
	}
	return ""
}

// wraps names indices that can be negative and may not be.
func wraps(g *graph.Graph, n *graph.Node, negative bool) string {
	at, known := g.Fact(n.In[1]).KnownInts()
	if negative || known && !slices.ContainsFunc(at, func(i int64) bool { return i < 0 }) {
		return ""
	}
	return "ONNX counts negative indices from the end, which this node refuses"
}

// loses says whether a recurrent layer can have a sequence without steps, whose state stays the first one.
func loses(g *graph.Graph, n *graph.Node) bool {
	const lengths, state, cell = 4, 5, 6
	if !given(n, lengths) || !given(n, state) && !given(n, cell) {
		return false
	}
	steps, known := g.Fact(n.In[lengths]).KnownInts()
	return !known || slices.Contains(steps, 0)
}

// attention names the parts that the provider's Attention lacks.
func attention(g *graph.Graph, n *graph.Node) string {
	const mask, past = 3, 4
	q := g.Fact(n.In[0]).Type.Shape
	if given(n, mask) {
		m := g.Fact(n.In[mask]).Type.Shape
		if m.Rank() >= 2 && q.Rank() >= 3 && m.Dims[m.Rank()-2] != q.Dims[max(q.Rank()-2, 1)] {
			return "the CPU provider has no mask of Attention that is one for all queries"
		}
	}
	if given(n, past) && (len(n.Out) < 2 || n.Out[1] == graph.None) {
		return "the CPU provider has no past keys of Attention without present ones"
	}
	return ""
}

func pools(o graph.Op) bool {
	switch o.(type) {
	case *op.AveragePool, *op.MaxPool, *op.LpPool:
		return true
	}
	return false
}
