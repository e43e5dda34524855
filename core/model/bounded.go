package model

import (
	"fmt"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// bound gives an output whose sizes a run alone tells the shape that the metadata have as its largest. The graph fills
// it with zeros behind what a run makes, and has the sizes of that as an output of its own, whose value sizes is; it is
// none where nothing changes. The result is the output's value in the graph.
func (m *Model) bound(p *Port, v graph.Value) (w, sizes graph.Value, err error) {
	largest := p.Says.MaxShape
	if largest == nil {
		return v, graph.None, nil
	}
	key := fmt.Sprintf("anynpu.output.%s.max_shape", p.Name)
	if p.Shape.Static() {
		m.Meta.Warnings = append(m.Meta.Warnings, fmt.Sprintf("%s: the output has the shape %s", key, p.Declared))
		return v, graph.None, nil
	}
	fits := !p.Shape.Ranked || len(p.Shape.Dims) == len(largest)
	for i := 0; fits && p.Shape.Ranked && i < len(largest); i++ {
		fits = !p.Shape.Dims[i].Known() || p.Shape.Dims[i].N == largest[i]
	}
	if !fits {
		return v, graph.None, fault.New(fault.File, "%s: %v does not fit the output's shape %s", key, largest, p.Declared)
	}
	g := m.Graph
	// fills what it is given
	if at := g.Producers()[v]; at >= 0 && graph.NameOf(g.Nodes[at].Op) == graph.NameOf(&op.Custom{}) {
		g.Values[v].Fact.Shape = tensor.Of(largest...)
		p.Shape, p.Declared = g.Fact(v).Shape, m.ShapeText(g.Fact(v).Shape)
		return v, graph.None, nil
	}
	name, typ := g.Values[v].Name, g.Fact(v).DType
	b := graph.Extend(g)
	rank := int64(len(largest))
	sizes = b.Add(&op.Reshape{}, b.Add(&op.Shape{To: tensor.Int64}, v), b.Int64s(rank))
	ends := b.Add(&op.Sub{}, b.Int64s(largest...), sizes) // of more than fits, less than 0: it is cut, and refused later
	pads := b.Add(&op.Concat{}, b.Int64s(make([]int64, rank)...), ends)
	filled := b.Add(&op.Pad{}, v, pads)
	shape := b.Int64s(largest...)
	g.Values = append(g.Values, graph.ValueInfo{Name: name, Fact: g.Values[v].Fact})
	w = graph.Value(len(g.Values) - 1)
	g.Values[w].Fact.Type = tensor.T(typ, largest...)
	g.Values[v].Name = name + ".open"
	g.Nodes = append(g.Nodes, graph.Node{Op: &op.Reshape{}, Name: p.Name, Origin: -1, In: []graph.Value{filled, shape},
		Out: []graph.Value{w}})
	p.Open = make([]bool, rank)
	for i := range p.Open {
		p.Open[i] = !p.Shape.Ranked || !p.Shape.Dims[i].Known()
	}
	p.Shape, p.Bound = tensor.Of(largest...), largest
	p.Declared = m.ShapeText(p.Shape)
	return w, sizes, g.Infer()
}

// boundOutputs bounds every output that the metadata have a largest shape of, and appends the sizes to the graph's
// outputs.
func (m *Model) boundOutputs(out []*Port) error {
	g := m.Graph
	ports := len(out)
	for i, p := range out {
		w, sizes, err := m.bound(p, g.Out[i])
		if err != nil {
			return err
		}
		if sizes != graph.None {
			g.Out[i] = w
			p.sizes = len(g.Out)
			g.Out = append(g.Out, sizes)
		}
	}
	m.bounded = len(g.Out) > ports
	return nil
}

// Sizes returns the sizes of an output with a Bound after a run. It returns an error if the run made more.
func (p *Port) Sizes(e device.Execution) ([]int64, error) {
	data, err := e.OutputData(p.sizes)
	if err != nil {
		return nil, err
	}
	own, err := tensor.ReadInts(tensor.Int64, data, len(p.Bound))
	if err != nil {
		return nil, err
	}
	for i, n := range own {
		if n > p.Bound[i] {
			return nil, fault.New(fault.Shape, "output %q has the shape %v, more than anynpu.output.%s.max_shape, %v, holds",
				p.Name, own, p.Name, p.Bound)
		}
	}
	return own, nil
}
