package model

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// ShapeSet holds the sizes of all inputs and outputs that belong together, in the model's order of dimensions.
type ShapeSet struct{ In, Out [][]int64 }

// InputShapes are the sizes that inputs are meant to have, all of them together.
type InputShapes struct {
	Sets   [][][]int64 // at least one; in each the sizes of every input
	Listed bool        // the metadata list them (anynpu.input.NAME.shapes), else there is one set
	Opened []*Port     // inputs whose open first dimension was taken as 1
}

// ShapesOf finds the sizes that inputs are meant to have: the lists of the metadata, which are of one length, else
// their own. Inputs without a list keep their shape; an open first dimension becomes 1.
func ShapesOf(in []*Port) (*InputShapes, error) {
	s := &InputShapes{Sets: make([][][]int64, 1)}
	for _, p := range in {
		switch n := len(p.Info.Shapes); {
		case n > 0 && s.Listed && n != len(s.Sets):
			return nil, fault.New(fault.File, "anynpu.input.%s.shapes has %d shapes, that of another input %d: want as many",
				p.Name, n, len(s.Sets))
		case n > 0:
			s.Sets, s.Listed = make([][][]int64, n), true
		}
	}
	for _, p := range in {
		list := p.Info.Shapes
		if len(list) == 0 {
			own, opened, err := p.staticDims()
			if err != nil {
				return nil, err
			}
			if opened {
				s.Opened = append(s.Opened, p)
			}
			list = slices.Repeat([][]int64{own}, len(s.Sets))
		} else if err := p.checkShapes(); err != nil {
			return nil, err
		}
		for k, d := range list {
			s.Sets[k] = append(s.Sets[k], d)
		}
	}
	return s, nil
}

// staticDims are the sizes of an input without a list of shapes; opened says that the first one was open.
func (p *Port) staticDims() (dims []int64, opened bool, err error) {
	if d := p.Info.Shape; d != nil {
		if !p.takes(d) {
			return nil, false, fault.New(fault.File, "anynpu.input.%s.shape: %v does not fit the input's shape %s", p.Name, d,
				p.Declared)
		}
		return d, false, nil
	}
	for i, d := range p.Shape.Dims {
		switch {
		case d.Known():
			dims = append(dims, d.N)
		case len(p.Fixed.Dims) == len(p.Shape.Dims) && p.Fixed.Dims[i].Known():
			dims, opened = append(dims, p.Fixed.Dims[i].N), opened || i == 0 && p.opened
		case i == 0:
			dims, opened = append(dims, 1), true
		default:
			return nil, false, fault.New(fault.Shape, "input %q has the shape %s: list the shapes to run with in "+
				"anynpu.input.%s.shapes of the model's metadata, or set sizes of open dimensions in anynpu.dim.NAME", p.Name,
				p.Declared, p.Name)
		}
	}
	return dims, opened, nil
}

// checkShapes refuses listed shapes that the input cannot have.
func (p *Port) checkShapes() error {
	for _, d := range p.Info.Shapes {
		if !p.takes(d) {
			return fault.New(fault.File, "anynpu.input.%s.shapes: %v does not fit the input's shape %s", p.Name, d, p.Declared)
		}
	}
	return nil
}

// takes reports whether the input can have a shape.
func (p *Port) takes(d []int64) bool {
	_, ok := p.Shape.Merge(tensor.Of(d...))
	return ok && slices.Min(append([]int64{1}, d...)) >= 1
}

// WithSizes returns a copy of g, its constants shared, with these sizes of its inputs and those of all values that
// follow from them.
func WithSizes(g *graph.Graph, dims [][]int64) (*graph.Graph, error) {
	own, err := graph.Clone(g, func(_ tensor.Hash, data []byte) ([]byte, error) { return data, nil })
	if err != nil {
		return nil, err
	}
	SetSizes(own, dims)
	return own, own.Infer()
}

// SetSizes gives the inputs of g their sizes. Declared shapes of unknown operators' results are in terms of these
// sizes.
func SetSizes(g *graph.Graph, dims [][]int64) {
	sizes := Sizes{}
	for i, v := range g.In {
		sizes.Learn(g.Values[v].Fact.Shape, dims[i])
		g.Values[v].Fact.Shape = tensor.Of(dims[i]...)
	}
	for i := range g.Nodes {
		if _, ok := g.Nodes[i].Op.(*op.Custom); !ok {
			continue
		}
		for _, v := range g.Nodes[i].Out {
			if v != graph.None {
				g.Values[v].Fact.Shape = sizes.Fill(g.Values[v].Fact.Shape)
			}
		}
	}
}

// Sizes are the sizes that open dimensions of a model, by their numbers (tensor.Dim.Sym), take.
type Sizes map[uint32]int64

// Learn notes the sizes that the open dimensions of a declared shape take.
func (s Sizes) Learn(declared tensor.Shape, dims []int64) {
	for k, d := range declared.Dims {
		if d.Sym != 0 && d.Sym != tensor.Unknown && k < len(dims) {
			s[d.Sym] = dims[k]
		}
	}
}

// Fill returns a shape with the sizes of those open dimensions that are known.
func (s Sizes) Fill(shape tensor.Shape) tensor.Shape {
	shape.Dims = slices.Clone(shape.Dims)
	for k, d := range shape.Dims {
		if n, ok := s[d.Sym]; ok && d.Sym != 0 {
			shape.Dims[k] = tensor.D(n)
		}
	}
	return shape
}

// OutputDims are the sizes of the outputs of a graph of the model's with sizes. Kind fault.Shape where they depend on
// data.
func (m *Model) OutputDims(sized *graph.Graph) ([][]int64, error) {
	var dims [][]int64
	for _, v := range sized.Out {
		d, ok := sized.Fact(v).Shape.Ints()
		if !ok {
			name := sized.Values[v].Name
			return nil, fault.New(fault.Shape, "output %q has the shape %s, which only a run can tell: the API needs it "+
				"before, "+
				"or the largest in anynpu.output.%s.max_shape of the model's metadata", name,
				m.ShapeText(sized.Fact(v).Shape), name)
		}
		dims = append(dims, d)
	}
	return dims, nil
}
