package rknn

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// row is the line of the table of times for an operator of the model. Several nodes of the graph may have been made of
// it.
type row struct {
	kind    string // as the model calls it, "" when only the graph knows
	in, out string // shapes in the model's order, separated by commas
	dtype   tensor.DType
}

// describe returns the rows of a graph whose shapes are known, by Origin of its nodes.
func describe(g *graph.Graph, nodes []onnx.Node) map[int]row {
	groups := map[int][]*graph.Node{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		groups[n.Origin] = append(groups[n.Origin], n)
	}
	c := &codeTypes{g: g, up: make([]tensor.DType, len(g.Values)), down: make([]bool, len(g.Values))}
	c.find()
	rows := map[int]row{}
	for origin, group := range groups {
		last := group[len(group)-1]
		rows[origin] = row{in: shapeList(g, outside(group)), out: shapeList(g, last.Out),
			dtype: c.of(group, g.Fact(last.Out[0]).DType)}
	}
	for i := range nodes {
		n := &nodes[i]
		if r, ok := rows[n.Origin]; ok {
			r.kind, r.in, r.out = n.Custom.Type, inputShapes(g, n), shapeList(g, n.Out)
			rows[n.Origin] = r
		}
	}
	return rows
}

// outside are the values that nodes read and do not make.
func outside(group []*graph.Node) []graph.Value {
	var made, list []graph.Value
	for _, n := range group {
		made = append(made, n.Out...)
	}
	for _, n := range group {
		for _, v := range n.In {
			if !slices.Contains(made, v) && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	return list
}

// inputShapes lists the inputs of an operator of the model without scales and zero points. A filter has the model's
// order of dimensions.
func inputShapes(g *graph.Graph, n *onnx.Node) string {
	keep := len(n.In)
	skip := func(int) bool { return false }
	switch n.Custom.Type {
	case "QuantizeLinear", "DequantizeLinear":
		keep = 1
	case "QLinearConv", "QLinearMatMul":
		skip = func(i int) bool { return i != 0 && i != 3 && i != 8 }
	}
	var list []string
	for i, v := range n.In[:min(keep, len(n.In))] {
		switch {
		case skip(i):
		case v != graph.None:
			list = append(list, shapeText(g.Fact(v).Shape))
		case i == 1 && n.Filter != graph.None:
			stored := g.Fact(n.Filter).Shape
			own := tensor.Shape{Ranked: true, Dims: slices.Clone(stored.Dims)}
			for k, from := range n.FilterOrder {
				own.Dims[from] = stored.Dims[k]
			}
			list = append(list, shapeText(own))
		}
	}
	return strings.Join(list, ",")
}

// codeTypes finds where a network computes with codes: between DequantizeLinear and QuantizeLinear.
type codeTypes struct {
	g *graph.Graph
	// per value: the type of the codes that it was made of, through operators if need be; Invalid: of none
	up   []tensor.DType
	down []bool // per value: nothing but codes are made of it
}

func (c *codeTypes) find() {
	order, _ := c.g.Order() // a graph that was inferred has one
	for _, i := range order {
		n := &c.g.Nodes[i]
		t := c.source(n)
		for _, v := range n.Out {
			if v != graph.None && c.g.Fact(v).DType.IsFloat() {
				c.up[v] = t
			}
		}
	}
	uses := c.g.Uses()
	for _, i := range slices.Backward(order) {
		for _, v := range c.g.Nodes[i].Out {
			if v == graph.None || slices.Contains(c.g.Out, v) {
				continue
			}
			c.down[v] = len(uses[v]) > 0 && !slices.ContainsFunc(uses[v], func(k int) bool { return !c.encodes(&c.g.Nodes[k]) })
		}
	}
}

// source is the type of the codes that all data of a node were made of, Invalid if some were not.
func (c *codeTypes) source(n *graph.Node) tensor.DType {
	if _, ok := n.Op.(*op.Dequantize); ok {
		if t := c.g.Fact(n.In[0]).DType; t.Bits() == 8 {
			return t
		}
		return tensor.Invalid
	}
	found := tensor.Invalid
	for _, v := range n.In {
		if v == graph.None || c.g.Fact(v).Const != nil {
			continue
		}
		if c.up[v] == tensor.Invalid {
			return tensor.Invalid
		}
		if found == tensor.Invalid {
			found = c.up[v]
		}
	}
	return found
}

func (c *codeTypes) encodes(n *graph.Node) bool {
	if _, ok := n.Op.(*op.Quantize); ok {
		return true
	}
	return !slices.ContainsFunc(n.Out, func(v graph.Value) bool { return v != graph.None && !c.down[v] })
}

// of is the type of the codes that an operator computes with, result if it computes with its result's type: a
// convolution or matrix product of codes does in any case, other operators where their results become codes again.
func (c *codeTypes) of(group []*graph.Node, result tensor.DType) tensor.DType {
	for _, n := range group {
		always := false
		switch n.Op.(type) {
		case *op.Quantize, *op.Dequantize:
			continue
		case *op.Conv, *op.ConvTranspose, *op.MatMul:
			always = true
		}
		if t := c.source(n); t != tensor.Invalid && (always || c.encodes(n)) {
			return t
		}
	}
	return result
}

func shapeList(g *graph.Graph, vs []graph.Value) string {
	var list []string
	for _, v := range vs {
		if v != graph.None {
			list = append(list, shapeText(g.Fact(v).Shape))
		}
	}
	return strings.Join(list, ",")
}

func shapeText(s tensor.Shape) string {
	dims := make([]string, len(s.Dims))
	for i, d := range s.Dims {
		dims[i] = d.String()
	}
	return "(" + strings.Join(dims, ",") + ")"
}
