package model

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// reshape gives a port the shape that the metadata have programs see, with another number of dimensions and as many
// elements in the same order. It returns the port's value in the graph, v where nothing changes.
func (m *Model) reshape(p *Port, v graph.Value, input bool) graph.Value {
	s := m.Meta.Values[p.Name].Stored
	if s == nil || len(s.Dims) == 0 || p.Image != nil || p.PerAxis != nil || p.Info.Shape != nil || p.Info.Shapes != nil {
		return v
	}
	own := p.Shape
	if !own.Ranked || len(own.Dims) == len(s.Dims) {
		return v
	}
	shown := tensor.Of(s.Dims...)
	if len(own.Dims) > 0 && !own.Dims[0].Known() { // a batch stays open
		shown.Dims[0] = own.Dims[0]
	}
	if a, ok := elements(own); !ok {
		return v
	} else if b, ok := elements(shown); !ok || a != b {
		return v
	}
	g := m.Graph
	name := g.Values[v].Name
	g.Values = append(g.Values, graph.ValueInfo{Name: name, Fact: g.Values[v].Fact})
	w := graph.Value(len(g.Values) - 1)
	g.Values[w].Fact.Type = tensor.Type{DType: g.Fact(v).DType, Shape: shown}
	g.Values[v].Name = name + ".reshaped"
	from, to := v, w
	if input {
		from, to = w, v
	}
	sizes := make([]int64, 0, len(g.Fact(to).Shape.Dims))
	for _, d := range g.Fact(to).Shape.Dims {
		if !d.Known() {
			d.N = -1
		}
		sizes = append(sizes, d.N)
	}
	b := graph.Extend(g)
	shape := b.Int64s(sizes...)
	g.Nodes = append(g.Nodes, graph.Node{Op: &op.Reshape{}, Name: p.Name, Origin: -1, In: []graph.Value{from, shape},
		Out: []graph.Value{to}})
	p.Shape, p.Declared = shown, m.ShapeText(shown)
	return w
}

// elements counts the elements of a shape, of one image where the number of images is open; ok is false if another size
// is open.
func elements(s tensor.Shape) (n int64, ok bool) {
	dims := slices.Clone(s.Dims)
	if len(dims) > 0 && !dims[0].Known() {
		dims[0] = tensor.D(1)
	}
	return tensor.OfDims(dims...).Count()
}

// findRanks finds the shapes of outputs whose number of dimensions follows from the sizes that inputs are meant to
// have.
func (m *Model) findRanks(in, out []*Port) {
	if !slices.ContainsFunc(out, func(p *Port) bool { return !p.Shape.Ranked }) ||
		slices.ContainsFunc(in, func(p *Port) bool { return !p.Shape.Ranked }) {
		return
	}
	meant, err := ShapesOf(in)
	if err != nil { // whoever needs sizes says so
		return
	}
	shapes := make([]tensor.Shape, len(out))
	for k, dims := range meant.Sets {
		sized, err := WithSizes(m.Graph, dims)
		if err != nil {
			return
		}
		for i, v := range sized.Out {
			s := sized.Fact(v).Shape.Clone()
			switch {
			case k == 0:
				shapes[i] = s
			case s.Rank() != shapes[i].Rank():
				shapes[i] = tensor.AnyShape()
			default:
				for j, d := range s.Dims {
					if !d.Same(shapes[i].Dims[j]) {
						shapes[i].Dims[j] = tensor.AnyDim()
					}
				}
			}
		}
	}
	for i, p := range out {
		if !p.Shape.Ranked && shapes[i].Ranked {
			p.Shape, p.Declared = shapes[i], m.ShapeText(shapes[i])
		}
	}
}
