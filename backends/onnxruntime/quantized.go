package onnxruntime

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// quantizes says whether a graph makes codes.
func quantizes(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n graph.Node) bool {
		_, is := n.Op.(*op.Quantize)
		return is
	})
}

// ofCodes names the faults of OpenVINO 2025.4 in a network that makes codes. An operator alone between Dequantize and
// Quantize is right; these are not.
func ofCodes(g *graph.Graph, n *graph.Node) string {
	switch o := n.Op.(type) {
	case *op.AveragePool:
		if !o.Global && !(dequantized(g, n.In[0]) && coded(g, n.Out[0])) {
			return "the provider OpenVINO rounds an AveragePool between others to codes"
		}
		if o.CountPads && padded(o.AutoPad, o.Pads) {
			return "the provider OpenVINO pads an AveragePool of codes with other numbers"
		}
	case *op.Conv:
		if padded(o.AutoPad, o.Pads) && shifted(g, n.In[0]) {
			return "the provider OpenVINO pads codes to which a constant is added with other numbers than 0"
		}
	case *op.MaxPool:
		if p := producer(g, n.In[0]); p != nil {
			if _, multiplies := p.Op.(*op.MatMul); multiplies {
				return "the provider OpenVINO has other codes for a MaxPool of a product of matrices"
			}
		}
	case *op.Clip, *op.Max, *op.Min:
		if slices.ContainsFunc(n.In, func(v graph.Value) bool { return ofOneCode(g, v) }) {
			return "the provider OpenVINO spreads codes between limits anew"
		}
		if _, clips := o.(*op.Clip); clips && !limited(g, n) {
			return "the provider OpenVINO has other codes for a Clip without an upper limit"
		}
	case *op.Concat:
		if !coded(g, n.Out[0]) && slices.ContainsFunc(n.In, func(v graph.Value) bool {
			return dequantized(g, v) && g.Fact(producer(g, v).In[0]).DType.IsSigned()
		}) {
			return "the provider OpenVINO joins signed codes of several scales for an operator on codes"
		}
	case *op.ReduceMax, *op.ReduceMin:
		if !dequantized(g, n.In[0]) {
			return "the provider OpenVINO has other codes for the largest of computed numbers"
		}
	case *op.Neg, *op.Sub, *op.Mul, *op.Div, *op.BatchNorm:
		if turnsActivation(g, n) {
			return "the provider OpenVINO takes a negative factor through the activation before it"
		}
	}
	return ""
}

// dequantized says whether a value is made of codes that are computed.
func dequantized(g *graph.Graph, v graph.Value) bool {
	p := producer(g, v)
	if p == nil {
		return false
	}
	_, is := p.Op.(*op.Dequantize)
	return is && g.Fact(p.In[0]).Const == nil
}

// coded says whether codes alone are made of a value.
func coded(g *graph.Graph, v graph.Value) bool {
	if slices.Contains(g.Out, v) {
		return false
	}
	for _, i := range g.Uses()[v] {
		if _, is := g.Nodes[i].Op.(*op.Quantize); !is {
			return false
		}
	}
	return true
}

// ofOneCode says whether a value is made of codes by operators that have no other operand but constants, and are no
// products with weights.
func ofOneCode(g *graph.Graph, v graph.Value) bool {
	for range g.Nodes {
		if dequantized(g, v) {
			return true
		}
		p := producer(g, v)
		if p == nil {
			return false
		}
		switch p.Op.(type) {
		case *op.Conv, *op.ConvTranspose, *op.DeformConv, *op.MatMul, *op.FullyConnected:
			return false
		}
		computed := slices.DeleteFunc(slices.Clone(p.In), func(in graph.Value) bool {
			return in == graph.None || g.Fact(in).Const != nil
		})
		if len(computed) != 1 {
			return false
		}
		v = computed[0]
	}
	return false
}

// shifted says whether a value is made of codes, by operators that have no other operand but constants, and a sum with
// a constant among the last of them.
func shifted(g *graph.Graph, v graph.Value) bool {
	for range g.Nodes {
		p := producer(g, v)
		if p == nil {
			return false
		}
		switch p.Op.(type) {
		case *op.Add, *op.Sub, *op.BatchNorm:
			return ofOneCode(g, v)
		}
		if !graph.TraitsOf(p.Op).Moves {
			return false
		}
		v = p.In[0]
	}
	return false
}

// turnsActivation says whether a node multiplies the result of an activation of two straight lines by negative numbers.
// Of a value that only moved since, too.
func turnsActivation(g *graph.Graph, n *graph.Node) bool {
	negative := func(v graph.Value) bool {
		f := g.Fact(v)
		n, known := f.Shape.Count()
		if f.Const == nil || !known {
			return false
		}
		list, err := tensor.ReadFloats(f.DType, f.Const.Data, int(n))
		return err != nil || slices.ContainsFunc(list, func(f float64) bool { return f < 0 })
	}
	x := n.In[0]
	switch n.Op.(type) {
	case *op.Sub:
		x = n.In[1]
	case *op.Mul:
		if !negative(n.In[0]) && !negative(n.In[1]) {
			return false
		}
		if g.Fact(x).Const != nil {
			x = n.In[1]
		}
	case *op.Div, *op.BatchNorm:
		if !negative(n.In[1]) {
			return false
		}
	}
	for range g.Nodes {
		p := producer(g, x)
		if p == nil {
			return false
		}
		switch p.Op.(type) {
		case *op.Relu, *op.LeakyRelu, *op.PRelu:
			return true
		}
		if !graph.TraitsOf(p.Op).Moves {
			return false
		}
		x = p.In[0]
	}
	return false
}

// limited says whether a Clip has an upper limit that is far from the largest number of float32.
func limited(g *graph.Graph, n *graph.Node) bool {
	const upper = 2
	if !given(n, upper) {
		return false
	}
	high, known := number(g, n.In[upper])
	return known && high < math.MaxFloat32/2
}
