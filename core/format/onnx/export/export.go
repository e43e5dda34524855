// Package export writes graphs of core/op as ONNX models.
//
// Of makes a model of a graph and leaves the graph as it is. Every operator becomes one ONNX operator, several that
// compute the same, or an error of kind fault.Unsupported that names the node and says what ONNX does not have. Nothing
// is written that computes something else: what may differ is the rounding of floats, random numbers, and what core
// defines as an error of the run (an index outside its range, a division of integers by 0), which ONNX leaves open.
//
// Model.In and Model.Out are the names of the graph's inputs and outputs in their order. Values keep their names as far
// as these are different; others get a number. A tensor of the model has the element type of the graph's: a quantized
// one holds the integers, which DequantizeLinear makes real before an operator computes on them. Its result is rounded
// as core rounds, halves away from zero after the zero point is added, by elementary operators in double; with
// Options.QuantizeLinear by QuantizeLinear instead, which runtimes fuse, with halves to even: integers may be one
// beside core's. Open dimensions keep their names (Options.Symbols), or are named d and their number.
//
// The model has the lowest opset that has its operators, from BaseOpset on. Custom operators stay nodes of their
// domains. Constants are written as raw data, by WriteFile into a file beside the model when all together are above
// Options.External bytes; they are not copied, so the graph's constants must stay until the model is written.
//
// Support says whether a node can be exported, without a model.
package export

import (
	"cmp"
	"maps"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// Of returns g as a model. Errors are of kind fault.Unsupported, or fault.Argument for a graph that is none.
func Of(g *graph.Graph, o Options) (*Model, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	e := newExporter(o)
	s := e.scope(g, nil)
	for i, v := range g.In {
		s.names[v] = e.unique(s.label(v, "input", i))
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	if err := e.refusal(); err != nil {
		return nil, err
	}
	s.untwist()
	if o.ReadInputs {
		s.leaveUnread()
	}
	if o.OwnConstants {
		s.ownConstants()
	}
	m := &Model{Nodes: e.count, Owner: s.owner, name: cmp.Or(g.Name, "graph"), external: o.External}
	if m.external == 0 {
		m.external = DefaultExternal
	}
	for _, v := range g.In {
		name := s.names[v]
		if s.gone[name] {
			name = ""
		}
		m.In = append(m.In, name)
	}
	m.Out = s.outs
	s.write(&m.graph, false)
	e.finish(m, merged(g.Meta, o.Metadata))
	return m, nil
}

// Support returns why node i of g cannot be exported, nil if it can. Errors are of kind fault.Unsupported.
func Support(g *graph.Graph, i int) error {
	if i < 0 || i >= len(g.Nodes) {
		return fault.New(fault.Argument, "graph %q: node %d of %d", g.Name, i, len(g.Nodes))
	}
	e := newExporter(Options{})
	s := e.scope(g, nil)
	for _, v := range g.Nodes[i].In {
		if v != graph.None && s.g.Fact(v).Const == nil && s.names[v] == "" {
			s.names[v] = e.unique("x")
		}
	}
	if err := s.node(&g.Nodes[i]); err != nil {
		return fault.Wrap(err, "%s", g.Nodes[i].Label())
	}
	return fault.Wrap(e.refusal(), "%s", g.Nodes[i].Label()) // of bodies
}

// merged are the metadata of a graph and those that are added. Entries that have become part of the graph are left out:
// sizes, the values at which the model was cut, and what images are.
func merged(own, added map[string]string) map[string]string {
	all := map[string]string{}
	for k, v := range own {
		rest, ours := strings.CutPrefix(k, "anynpu.")
		input, _ := strings.CutPrefix(rest, "input.")
		name := input[:max(strings.LastIndexByte(input, '.'), 0)]
		switch {
		case !ours:
		case rest == "inputs", rest == "outputs", rest == "filters", strings.HasPrefix(rest, "dim."),
			strings.HasPrefix(rest, "value."):
			continue
		case input != rest && (own["anynpu.input."+name+".source"] != "" || decoded(own["anynpu.input."+name+".pixel"])):
			continue
		}
		all[k] = v
	}
	maps.Copy(all, added)
	return all
}

// decoded reports whether images of a kind of pixels are decoded by nodes of the graph.
func decoded(pixel string) bool {
	switch strings.Trim(pixel, `"`) {
	case "nv12", "nv21", "yuv444":
		return true
	}
	return false
}
