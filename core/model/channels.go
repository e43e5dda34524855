package model

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// channelsLast says whether what the metadata say of the channels of an input fits dimension 3 and not dimension 1: as
// many numbers per channel, or the three of colors that change places.
func (p *Port) channelsLast() bool {
	d := p.Shape.Dims
	if len(d) != 4 || !d[3].Known() {
		return false
	}
	n := int64(max(len(p.Mean), len(p.Std)))
	if n < 2 && p.Swap {
		n = 3
		if d[1].Known() && d[1].N > n { // what follows blue stays
			return false
		}
	}
	return n > 1 && d[3].N == n && (!d[1].Known() || d[1].N != n)
}

// channelsFirst has programs see an input whose channels are last, as networks of TensorFlow take it, as one with its
// channels in dimension 1, which every API hands over in NHWC: as the network has it. The graph turns it back. It
// returns the input's value in the graph, v where nothing changes.
func (m *Model) channelsFirst(p *Port, v graph.Value) graph.Value {
	if p.Image != nil || p.PerAxis != nil || !p.channelsLast() {
		return v
	}
	g := m.Graph
	turn := func(s tensor.Shape) tensor.Shape {
		if len(s.Dims) != 4 {
			return s
		}
		return tensor.OfDims(s.Dims[0], s.Dims[3], s.Dims[1], s.Dims[2])
	}
	name := g.Values[v].Name
	g.Values = append(g.Values, graph.ValueInfo{Name: name, Fact: g.Values[v].Fact})
	w := graph.Value(len(g.Values) - 1)
	g.Values[w].Fact.Type = tensor.Type{DType: g.Fact(v).DType, Shape: turn(g.Fact(v).Shape)}
	g.Values[v].Name = name + ".channels_last"
	b := graph.Extend(g)
	order := b.Int64s(0, 2, 3, 1)
	g.Nodes = append(g.Nodes, graph.Node{Op: &op.Transpose{}, Name: p.Name, Origin: -1, In: []graph.Value{w, order},
		Out: []graph.Value{v}})
	p.Shape, p.Fixed = turn(p.Shape), turn(p.Fixed)
	p.Declared = m.ShapeText(p.Shape)
	if p.Info.Shape != nil {
		p.Info.Shape = turned(p.Info.Shape)
	}
	p.Info.Shapes = slices.Clone(p.Info.Shapes)
	for i, s := range p.Info.Shapes {
		p.Info.Shapes[i] = turned(s)
	}
	if p.Info.Layout == "" {
		p.Info.Layout = "nhwc"
	}
	return w
}

// turned is a shape in NHWC in NCHW, what is none of rank 4 as it is.
func turned(s []int64) []int64 {
	if len(s) != 4 {
		return s
	}
	return []int64{s[0], s[3], s[1], s[2]}
}
