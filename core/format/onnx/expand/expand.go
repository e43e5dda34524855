package expand

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// Graph begins g, which becomes a graph of its own: the body of an instance, or with nil the main graph of a model of
// an opset version.
func (e *Expander) Graph(g *proto.Graph, of *proto.Instance, version int64) (proto.Frame, error) {
	f := &frame{declared: declared(g)}
	if of == nil {
		f.version = version
		return f, nil
	}
	if e.calls > 0 || e.repeats > 0 { // this may be done again and again
		if err := e.count(len(g.Inits) + len(g.Values) + len(g.In) + len(g.Out)); err != nil {
			return nil, err
		}
	}
	around := of.Frame.(*frame)
	f.around, f.version, f.body = around, around.version, true
	e.number(f)
	for _, v := range g.In {
		f.names[v.Name] = f.Own(v.Name)
	}
	for _, t := range g.Inits {
		f.names[t.Name] = f.Own(t.Name)
	}
	return f, nil
}

// Nodes gives the nodes of the graph of f to a sink, in this order.
func (e *Expander) Nodes(f proto.Frame, order []*proto.Node, into Sink) error {
	for _, p := range order {
		into.Begin(p)
		if err := e.node(f.(*frame), p, into); err != nil {
			return err
		}
	}
	return nil
}

// node gives a node of f, or what it stands for, to a sink.
func (e *Expander) node(f *frame, p *proto.Node, into Sink) error {
	if err := e.count(1); err != nil {
		return err
	}
	q, take := f.instance(p), e.take(p)
	if take == nil || !take.call {
		switch ok, err := into.Check(q); {
		case err != nil:
			return fault.Wrap(err, "%s", p.Label())
		case !ok:
			return e.findMissing(f, p, into)
		}
	}
	if take != nil {
		s := &site{Expander: e, f: f, q: q, into: into}
		if done, err := take.rewrite(s); done || err != nil {
			return fault.Wrap(err, "%s", p.Label())
		}
	}
	if err := into.Node(q); err != nil {
		return fault.Wrap(err, "%s", p.Label())
	}
	for _, name := range p.Out {
		if err := f.define(name); err != nil {
			return fault.Wrap(err, "%s", p.Label())
		}
	}
	return nil
}

// findMissing looks for missing operators in the bodies of a node that is not lowered any more.
func (e *Expander) findMissing(f *frame, p *proto.Node, into Sink) error {
	for _, g := range p.Bodies() {
		for _, m := range g.Nodes {
			if err := e.node(f, m, into); err != nil {
				return err
			}
		}
	}
	return nil
}
