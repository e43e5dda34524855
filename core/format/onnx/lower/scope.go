package lower

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// madeAgain is the error of a node that makes what the graph has as an input or an initializer.
func (sc *Scope) madeAgain(nodes []*proto.Node, f proto.Frame) error {
	for _, n := range nodes {
		for _, o := range n.Out {
			if sc.inits[f.Own(o)] != nil {
				return fault.New(fault.File, "value %q is an initializer and made by %s", o, n.Label())
			}
			if sc.taken(f.Own(o)) {
				return fault.New(fault.File, "value %q is an input and made by %s", o, n.Label())
			}
		}
	}
	return nil
}

func (sc *Scope) define(name proto.Name, v graph.Value) error {
	if name == (proto.Name{}) {
		return nil
	}
	if sc.taken(name) {
		return fault.New(fault.File, "two values are named %q", name.Text)
	}
	v = sc.encoded(name, v)
	sc.values[name] = v
	sc.b.Name(v, name.Text)
	return sc.b.Err()
}

func (sc *Scope) taken(name proto.Name) bool {
	_, taken := sc.values[name]
	return taken || sc.sequences[name]
}

// lookup returns the value of a name, taking it from enclosing graphs as a capture when it is not the scope's own; None
// for the zero Name.
func (sc *Scope) lookup(name proto.Name) (graph.Value, error) { return sc.lookupAs(name, name.Text) }

// lookupAs is lookup for a value that its reader calls as, which becomes the name of a capture unless the value has
// none.
func (sc *Scope) lookupAs(name proto.Name, as string) (graph.Value, error) {
	if name == (proto.Name{}) {
		return graph.None, nil
	}
	if v, ok := sc.values[name]; ok {
		return v, nil
	}
	if sc.sequences[name] {
		return graph.None, fault.New(fault.Unsupported, "value %q is a sequence; want a tensor", name.Text)
	}
	if t, ok := sc.inits[name]; ok {
		v, err := sc.constant(t)
		if err != nil {
			return graph.None, fault.Wrap(err, "initializer %q", name.Text)
		}
		sc.values[name] = v
		return v, nil
	}
	if sc.parent == nil {
		return graph.None, fault.New(fault.File, "value %q has no source", name.Text)
	}
	if name.Text == "" {
		as = ""
	}
	outer, err := sc.parent.lookupAs(name, as)
	if err != nil {
		return graph.None, err
	}
	sc.values[name] = sc.capture(as, outer)
	return sc.values[name], nil
}

// capture makes a value of the enclosing graph one of this graph.
func (sc *Scope) capture(name string, outer graph.Value) graph.Value {
	if outer == graph.None {
		return outer
	}
	if v, ok := sc.captures[outer]; ok {
		return v
	}
	if sc.captures == nil {
		sc.captures = map[graph.Value]graph.Value{}
	}
	f := sc.parent.b.Fact(outer)
	if f.Const != nil {
		sc.captures[outer] = sc.b.ConstOf(name, f.Type, f.Const)
		return sc.captures[outer]
	}
	if sc.parent.blind {
		f.Shape = tensor.AnyShape()
	}
	v := sc.b.Input(name, f.Type)
	sc.captures[outer] = v
	sc.captured = append(sc.captured, capture{outer, v})
	return v
}

// declaredOutput returns v, or, where inference does not know the number of dimensions or some of the sizes that the
// model declares for output o, a value that has them. Inference wins: a declaration that contradicts it is passed over.
func (sc *Scope) declaredOutput(g *proto.Graph, o *proto.ValueInfo, v graph.Value) graph.Value {
	f := sc.b.Fact(v)
	if !o.Ranked || f.Const != nil || f.Shape.Static() || !f.DType.Valid() {
		return v
	}
	sizes, news := sc.m.declaredSizes(o), !f.Shape.Ranked
	if f.Shape.Ranked {
		if len(f.Shape.Dims) != len(sizes) {
			return v
		}
		for i, d := range f.Shape.Dims {
			switch {
			case d.Known() && sizes[i] >= 0 && d.N != sizes[i]:
				return v
			case d.Sym == tensor.Unknown && sizes[i] >= 0:
				news = true
			default:
				sizes[i] = -1
			}
		}
	}
	if !news {
		return v
	}
	if i := slices.IndexFunc(g.Nodes, func(n *proto.Node) bool { return slices.Contains(n.Out, o.Name) }); i >= 0 {
		sc.b.SetOrigin(g.Nodes[i].Index, g.Nodes[i].Name)
		defer sc.b.SetOrigin(-1, "")
	}
	return sc.b.Add(&op.Declare{Sizes: sizes}, v)
}
