package expand

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// maxCalls bounds functions that call functions.
const maxCalls = 32

// takesCall: a node whose operator is a function of the model, whatever else it could be.
func takesCall(e *Expander, p *proto.Node) bool { return e.function(p) != nil }

// rewriteCall replaces a call by the nodes of the function, whose names are its own.
func rewriteCall(s *site) (bool, error) {
	fn, p := s.function(s.q.Node), s.q.Node
	if s.calls++; s.calls > maxCalls {
		return true, fault.New(fault.File, "functions nested more than %d deep", maxCalls)
	}
	defer func() { s.calls-- }()
	if len(p.In) > len(fn.In) || len(p.Out) > len(fn.Out) {
		return true, fault.New(fault.File, "function %s takes %d inputs and gives %d outputs, the call has %d and %d",
			fn.Name, len(fn.In), len(fn.Out), len(p.In), len(p.Out))
	}
	if err := fn.CheckCall(p); err != nil {
		return true, err
	}
	inner := s.number(&frame{expanded: true, version: s.f.version})
	if v, ok := fn.Opsets[""]; ok {
		inner.version = v
	}
	for i, name := range fn.In {
		var o operand
		if i < len(p.In) {
			var err error
			if o, err = s.operand(s.f, p.In[i]); err != nil {
				return true, err
			}
		}
		if err := inner.bind(name, o, s.into); err != nil {
			return true, err
		}
	}
	order, err := proto.Sort(fn.Nodes)
	if err != nil {
		return true, err
	}
	for _, q := range order {
		if err := s.node(inner, bindAttributes(q, fn, p), s.into); err != nil {
			return true, err
		}
	}
	if s.into.Missing() {
		return true, nil
	}
	for i, name := range p.Out {
		if name == "" {
			continue
		}
		if err := s.result(inner, fn.Out[i], name); err != nil {
			return true, err
		}
	}
	return true, nil
}

// result binds name to the value that from is bound to in a call.
func (s *site) result(inner *frame, from, name string) error {
	o, err := s.operand(inner, from)
	if err != nil {
		return err
	}
	if o.seq != nil {
		return s.f.defineSequence(name, o.seq, s.into)
	}
	if err := s.into.Alias(s.f.Own(name), o.name); err != nil {
		return err
	}
	return s.f.define(name)
}

// bindAttributes replaces the references of a function's node, bodies included, by the attributes of the call.
func bindAttributes(q *proto.Node, f *proto.Function, call *proto.Node) *proto.Node {
	bound := proto.Node{Name: q.Name, OpType: q.OpType, Domain: q.Domain, Overload: q.Overload, In: q.In, Out: q.Out,
		Attrs: make(map[string]*proto.Attribute, len(q.Attrs)), Index: call.Index}
	for name, a := range q.Attrs {
		switch {
		case a.Ref != "":
			v := call.Attrs[a.Ref]
			if v == nil {
				v = f.Defaults[a.Ref]
			}
			if v == nil { // the attribute is optional and not given
				continue
			}
			bound.Attrs[name] = v
		case a.G != nil:
			g := *a.G
			g.Nodes = make([]*proto.Node, len(a.G.Nodes))
			for i, m := range a.G.Nodes {
				g.Nodes[i] = bindAttributes(m, f, call)
			}
			copied := *a
			copied.G = &g
			bound.Attrs[name] = &copied
		default:
			bound.Attrs[name] = a
		}
	}
	return &bound
}
