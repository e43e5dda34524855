package compile

import (
	"context"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// exposedAgain takes over a program that was loaded and returns one whose runs are dumped: it is compiled again from the
// graphs of its parts. The program stays as it is where a part has none, such as a vendor's compiled model.
func (p *Program) exposedAgain(ctx context.Context, devices []device.Device) *Program {
	g, done, ok := p.joined()
	defer done()
	if !ok {
		return p
	}
	weights := mem.NewWeights()
	defer weights.Release()
	again, err := Compile(ctx, g, devices, Options{Weights: weights})
	if err != nil {
		return p
	}
	p.Release()
	return again
}

// joined is the graph that the parts of a program make together, ok false where a part gives none. It is valid until
// done is called.
func (p *Program) joined() (g *graph.Graph, done func(), ok bool) {
	var ends []func()
	done = func() {
		for _, f := range ends {
			f()
		}
	}
	j := joint{graph: &graph.Graph{Name: p.placement.Model}}
	for _, s := range p.plan.Slots {
		v := graph.ValueInfo{Fact: tensor.Fact{Type: s.Type}}
		if s.Const != nil {
			v.Fact.Const = tensor.NewConst(s.Const)
		}
		j.graph.Values = append(j.graph.Values, v)
	}
	j.graph.In, j.graph.Out = values(p.plan.InSlot), values(p.plan.OutSlot)
	for i := range p.plan.Stages {
		s := &p.plan.Stages[i]
		held, is := s.Program.(device.GraphHolder)
		if !is {
			return nil, done, false
		}
		part, end, err := held.Held()
		if err != nil {
			return nil, done, false
		}
		ends = append(ends, end)
		j.add(part, values(s.In), values(s.Out))
	}
	for i, v := range j.graph.In {
		j.graph.Values[v].Name = p.plan.In[i].Name
	}
	for i, v := range j.graph.Out {
		j.graph.Values[v].Name = p.plan.Out[i].Name
	}
	return j.graph, done, true
}

// joint is a graph that is made of parts.
type joint struct{ graph *graph.Graph }

// add adds the nodes of a part whose inputs and outputs are values of the whole.
func (j *joint) add(part *graph.Graph, in, out []graph.Value) {
	to := make([]graph.Value, len(part.Values))
	for v := range to {
		to[v] = graph.None
	}
	for i, v := range part.In {
		to[v] = in[i]
	}
	var copies [][2]graph.Value // outputs that are an input, a constant or another output
	producers := part.Producers()
	for i, v := range part.Out {
		if to[v] != graph.None || producers[v] < 0 {
			copies = append(copies, [2]graph.Value{v, out[i]})
			continue
		}
		to[v] = out[i]
		j.graph.Values[out[i]].Name = part.Values[v].Name
	}
	for v := range to {
		if to[v] == graph.None {
			to[v] = graph.Value(len(j.graph.Values))
			j.graph.Values = append(j.graph.Values, part.Values[v])
		}
	}
	moved := func(list []graph.Value) []graph.Value {
		list = slices.Clone(list)
		for i, v := range list {
			if v != graph.None {
				list[i] = to[v]
			}
		}
		return list
	}
	for _, n := range part.Nodes {
		n.In, n.Out = moved(n.In), moved(n.Out)
		j.graph.Nodes = append(j.graph.Nodes, n)
	}
	for _, c := range copies {
		j.graph.Nodes = append(j.graph.Nodes, graph.Node{Op: &op.Identity{}, Origin: -1, In: []graph.Value{to[c[0]]},
			Out: []graph.Value{c[1]}})
	}
}
