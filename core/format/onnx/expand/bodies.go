package expand

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// body is a graph of an attribute that becomes part of the graph of its node, once or several times.
type body struct {
	g     *proto.Graph
	order []*proto.Node
	outer *frame // holds the body's initializers
}

// body prepares the graph of an attribute.
func (s *site) body(name string) (*body, error) {
	a := s.q.Attrs[name]
	if a == nil || a.G == nil {
		return nil, fault.New(fault.File, "attribute %s holds no graph", name)
	}
	if a.G.Sparse > 0 {
		return nil, fault.New(fault.Unsupported, "attribute %s: sparse initializers are not supported", name)
	}
	if s.calls > 0 || s.repeats > 0 {
		if err := s.count(len(a.G.Inits) + len(a.G.Values)); err != nil {
			return nil, err
		}
	}
	outer := s.number(&frame{expanded: true, around: s.f, version: s.f.version, declared: declared(a.G)})
	for _, t := range a.G.Inits {
		outer.names[t.Name] = outer.Own(t.Name)
		s.into.Initializer(outer.Own(t.Name), t)
	}
	order, err := proto.Sort(a.G.Nodes)
	return &body{a.G, order, outer}, fault.Wrap(err, "attribute %s", name)
}

// once expands the body with in as its inputs and returns its outputs; nothing when operators are missing.
func (s *site) once(b *body, in []operand) ([]operand, error) {
	if len(in) != len(b.g.In) {
		return nil, fault.New(fault.File, "the body has %d inputs, it is given %d", len(b.g.In), len(in))
	}
	if len(in) > 0 { // a branch, which has no inputs, is expanded once
		if err := s.count(1 + len(b.g.In) + len(b.g.Out)); err != nil {
			return nil, err
		}
	}
	s.repeats++
	defer func() { s.repeats-- }()
	trip := s.number(&frame{expanded: true, around: b.outer, version: b.outer.version, declared: b.outer.declared})
	for i, v := range b.g.In {
		if err := trip.bind(v.Name, in[i], s.into); err != nil {
			return nil, err
		}
	}
	for _, m := range b.order {
		if err := s.node(trip, m, s.into); err != nil {
			return nil, err
		}
	}
	if s.into.Missing() {
		return nil, nil
	}
	out := make([]operand, len(b.g.Out))
	for i, o := range b.g.Out {
		var err error
		if out[i], err = s.operand(trip, o.Name); err != nil {
			return nil, fault.Wrap(err, "output")
		}
	}
	return out, nil
}

// checkForms looks at the nodes of a graph that is not expanded, and of the bodies in it.
func (s *site) checkForms(nodes []*proto.Node) error {
	for _, p := range nodes {
		if s.function(p) == nil {
			if err := s.into.Form(p, s.f.version); err != nil {
				return fault.Wrap(err, "%s", p.Label())
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.Attrs)) {
			if g := p.Attrs[name].G; g != nil {
				if err := s.checkForms(g.Nodes); err != nil {
					return fault.Wrap(err, "%s: attribute %s", p.Label(), name)
				}
			}
		}
	}
	return nil
}
