package onnxruntime

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// openVINOProvider is the name of Intel's provider in the libraries that it is built into.
const openVINOProvider = "OpenVINO"

// ofOpenVINO names the faults of OpenVINO 2025.4 on a CPU.
func ofOpenVINO(g *graph.Graph, n *graph.Node) string {
	if why := narrowed(g, n); why != "" {
		return why
	}
	x := g.Fact(n.In[0]).Type
	if whole(x) && x.DType.Bits() < 32 && stops(n.Op) {
		return "the provider OpenVINO stops integers of 8 and 16 bits at their limits"
	}
	if whole(x) && x.DType.Bits() >= 32 && !exact(n.Op) {
		return "the provider OpenVINO computes on integers of 32 bits as real numbers"
	}
	if drops, known := dropsWindow(g, n, slidingOf(n.Op)); drops || !known {
		return "the provider OpenVINO makes a window that a pool which rounds up does not have"
	}
	if quantizes(g) {
		if why := ofCodes(g, n); why != "" {
			return why
		}
	}
	if sharesConvolved(g, n) {
		return "the provider OpenVINO overwrites an image that a convolution reads with channels last and a Reshape, too"
	}
	switch o := n.Op.(type) {
	case *op.Shape, *op.Size, *op.Rank, *op.EyeLike, *op.RandomNormalLike, *op.RandomUniformLike:
		return "the provider OpenVINO takes another input for one of which the shape alone is used"
	case *op.Gather, *op.GatherElements, *op.GatherND, *op.ScatterElements, *op.ScatterND:
		if !within(g, n) {
			return "the provider OpenVINO does not refuse indices outside of a tensor"
		}
	case *op.AveragePool:
		if o.CountPads && o.Ceil != op.RoundFloor {
			return "the provider OpenVINO counts what a window that rounds up has behind the padding"
		}
	case *op.And, *op.Or, *op.Xor, *op.Not:
		if x.DType != tensor.Bool {
			return "the provider OpenVINO has other truths of numbers than of bool"
		}
	case *op.Greater, *op.GreaterEqual:
		if x.DType.IsFloat() {
			return "the provider OpenVINO takes NaN for greater than numbers"
		}
	case *op.BitShift:
		if x.DType.IsSigned() {
			return "the provider OpenVINO shifts signed integers beyond their bits another way"
		}
	case *op.CenterCropPad:
		if !slices.IsSorted(o.Axes) {
			return "the provider OpenVINO mixes the axes of a CenterCropPad up"
		}
	case *op.Div:
		if otherSum(g, n) {
			return "the provider OpenVINO takes the quotient by a sum of other exponentials for a Softmax"
		}
	case *op.Dequantize:
		if o.Block > 0 {
			return "the provider OpenVINO computes a product with blocks of codes on codes of its other operand"
		}
	case *op.Mod:
		if x.DType.IsFloat() {
			return "the provider OpenVINO makes NaN of the rest of a number by infinity"
		}
	case *op.Conv:
		if pointwise(g, n) && padded(o.AutoPad, o.Pads) &&
			slices.ContainsFunc(o.Strides, func(s int64) bool { return s > 1 }) {
			return "the provider OpenVINO says another size of a padded Conv of one element with strides than it makes"
		}
	case *op.LpNorm:
		return "the provider OpenVINO makes NaN of a line of zeros"
	case *op.ReduceMean:
		if shortRMS(g, n) {
			return "the provider OpenVINO ends the process at root mean squares of less than 16 elements"
		}
		if otherVariance(g, n) {
			return "the provider OpenVINO ends the process at a variance from another mean"
		}
	case *op.Cast:
		if o.To == tensor.Bool && x.DType == tensor.Int32 {
			return "the provider OpenVINO takes the lowest int32 for false"
		}
	case *op.Clip:
		if whole(x) && !(given(n, 1) && given(n, 2)) {
			return "the provider OpenVINO has 0 for a Clip of integers with one limit"
		}
	case *op.ReduceMax, *op.ReduceMin:
		if joined(g, n.In[0]) {
			return "the provider OpenVINO takes the largest of what a Concat joins place by place"
		}
	case *op.MaxPool:
		if o.Ceil != op.RoundFloor && slices.ContainsFunc(o.Pads, positive) {
			return "the provider OpenVINO says another size of a MaxPool that rounds up than it makes"
		}
	case *op.Loop:
		return "the provider OpenVINO loses what a Loop hands on"
	case *op.LRN:
		if o.Bias != 1 {
			return "the provider OpenVINO takes 1 for the bias of an LRN"
		}
	case *op.LSTM:
		if x.DType == tensor.Float16 {
			return "the provider OpenVINO adds up an LSTM of float16 in halves"
		}
		const peepholes = 7
		if given(n, peepholes) {
			return "the provider OpenVINO does not see the peepholes of an LSTM"
		}
	case *op.DynamicQuantize:
		return "the provider OpenVINO rounds codes of DynamicQuantizeLinear another way"
	case *op.Quantize:
		if c, known := g.Fact(n.In[1]).Shape.Count(); !known || c != 1 {
			return "the provider OpenVINO rounds codes with scales along an axis another way"
		}
		if slices.ContainsFunc(n.In[1:], func(v graph.Value) bool { return v != graph.None && g.Fact(v).Const == nil }) {
			return "the provider OpenVINO has no codes whose scale or zero point is an input"
		}
		if !given(n, 2) && o.To != tensor.Uint8 {
			return "the provider OpenVINO takes codes without a zero point for unsigned ones"
		}
		if bits := g.Fact(n.Out[0]).DType.Bits(); bits > 8 {
			return "the provider OpenVINO makes codes of 16 bits that are one beside the right ones"
		} else if bits < 8 {
			return "the provider OpenVINO makes other codes of less than 8 bits"
		}
	case *op.Resize:
		if whole(x) {
			return "the provider OpenVINO rounds integers of a Resize, which cuts them off"
		}
		if o.KeepAspect != op.AspectStretch {
			return "the provider OpenVINO does not keep the aspect ratio of a Resize"
		}
	case *op.Slice:
		const steps, most = 4, 1 << 30
		if given(n, steps) {
			list, _ := g.Fact(n.In[steps]).KnownInts()
			if slices.ContainsFunc(list, func(i int64) bool { return i < -most || i > most }) {
				return "the provider OpenVINO does not write what a Slice with such steps has"
			}
		}
	case *op.SVDF:
		return "the provider OpenVINO computes the steps of an SVDF wrong"
	}
	if recurrent(n.Op) && slices.ContainsFunc(g.Nodes, func(m graph.Node) bool {
		return recurrent(m.Op) && m.Out[0] != n.Out[0]
	}) {
		return "the provider OpenVINO mixes recurrent layers of one model up"
	}
	return ""
}

// narrowed names values that the provider holds in fewer bits than they have. Constants of 64 bits that fit in 32 are
// right; sizes and indices are such, and the two ends of a Slice, which may lie anywhere behind.
func narrowed(g *graph.Graph, n *graph.Node) string {
	for i, v := range slices.Concat(n.In, n.Out) {
		if v == graph.None {
			continue
		}
		if _, cut := n.Op.(*op.Slice); cut && (i == 1 || i == 2) && g.Fact(v).Const != nil {
			continue
		}
		switch f := g.Fact(v); f.DType {
		case tensor.Uint32:
			return "the provider OpenVINO cuts uint32 to 31 bits"
		case tensor.Int64, tensor.Uint64:
			list, known := f.KnownInts()
			if !known || slices.ContainsFunc(list, func(i int64) bool { return i < math.MinInt32 || i > math.MaxInt32 }) {
				return "the provider OpenVINO holds integers of 64 bits in 32"
			}
		}
	}
	return ""
}

// stops says whether an operator computes integers that can leave the range of 8 or 16 bits.
func stops(o graph.Op) bool {
	switch o.(type) {
	case *op.Add, *op.Sub, *op.Mul, *op.Div, *op.Mod, *op.Neg, *op.Abs, *op.Pow, *op.Square, *op.SquaredDifference,
		*op.ReduceSum, *op.ReduceMean, *op.ReduceProd:
		return true
	}
	return false
}

// exact says whether the provider computes an operator on integers of 32 bits as such, not as float32.
func exact(o graph.Op) bool {
	switch o.(type) {
	case *op.Add, *op.Sub, *op.Mul, *op.Max, *op.Min, *op.Neg, *op.Abs, *op.Sign, *op.CumSum, *op.Clip, *op.Cast:
		return true
	}
	return graph.TraitsOf(o).Moves
}

// pointwise says whether a convolution's kernel has one element.
func pointwise(g *graph.Graph, n *graph.Node) bool {
	w, known := g.Fact(n.In[1]).Shape.Ints()
	return known && len(w) > 2 && !slices.ContainsFunc(w[1:len(w)-1], func(side int64) bool { return side != 1 })
}

func recurrent(o graph.Op) bool {
	switch o.(type) {
	case *op.GRU, *op.LSTM, *op.RNN:
		return true
	}
	return false
}
