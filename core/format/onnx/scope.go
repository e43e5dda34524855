package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// scope is one graph under construction: its builder and the values its names stand for.
type scope struct {
	im      *importer
	b       *graph.Builder
	version int64 // of ai.onnx
	values  map[string]graph.Value
	seqs    map[string]*sequence        // names that stand for sequences
	inits   map[string]*proto.Tensor    // initializers; they become values when they are first read as they are
	shapes  map[string]*proto.ValueInfo // declared types of inner values
	uses    map[string]int              // how often nodes and outputs read a name, bodies included
	parent  *scope                      // graph around a body; nil for the main graph
	around  *scope                      // scope around a branch that is lowered in the same graph; nil for others
	blind   bool                        // nothing is told of the sizes of what bodies capture
	// captured: values of the enclosing graph that a body uses, in the order of first use, with the body's own input for
	// each.
	captured []capture
	captures map[graph.Value]graph.Value // the same, by the value of the enclosing graph
}

type capture struct {
	outer, own graph.Value
}

// madeAgain is the error of a node that makes what the graph has as an input or an initializer.
func (sc *scope) madeAgain(nodes []*proto.Node) error {
	for _, n := range nodes {
		for _, o := range n.Out {
			if sc.inits[o] != nil {
				return fault.New(fault.File, "value %q is an initializer and made by %s", o, n.Label())
			}
			if sc.taken(o) {
				return fault.New(fault.File, "value %q is an input and made by %s", o, n.Label())
			}
		}
	}
	return nil
}

func (sc *scope) define(name string, v graph.Value) error {
	if name == "" {
		return nil
	}
	if sc.taken(name) {
		return fault.New(fault.File, "two values are named %q", name)
	}
	v = sc.encoded(name, v)
	sc.values[name] = v
	sc.b.Name(v, name)
	return sc.b.Err()
}

func (sc *scope) taken(name string) bool {
	_, taken := sc.values[name]
	return taken || sc.seqs[name] != nil
}

// lookup returns the value of a name, taking it from enclosing graphs as a capture when it is not the scope's own; None
// for "".
func (sc *scope) lookup(name string) (graph.Value, error) {
	if name == "" {
		return graph.None, nil
	}
	if v, ok := sc.values[name]; ok {
		return v, nil
	}
	if sc.seqs[name] != nil {
		return graph.None, fault.New(fault.Unsupported, "value %q is a sequence; want a tensor", name)
	}
	if t, ok := sc.inits[name]; ok {
		v, err := sc.constant(t)
		if err != nil {
			return graph.None, fault.Wrap(err, "initializer %q", name)
		}
		sc.values[name] = v
		return v, nil
	}
	if sc.around != nil {
		return sc.around.lookup(name)
	}
	if sc.parent == nil {
		return graph.None, fault.New(fault.File, "value %q has no source", name)
	}
	outer, err := sc.parent.lookup(name)
	if err != nil {
		return graph.None, err
	}
	sc.values[name] = sc.capture(name, outer)
	return sc.values[name], nil
}

// capture makes a value of the enclosing graph one of this graph.
func (sc *scope) capture(name string, outer graph.Value) graph.Value {
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
// model declares for output o, a value that has them. What inference knows holds: a declaration that contradicts it is
// passed over.
func (sc *scope) declaredOutput(g *proto.Graph, o *proto.ValueInfo, v graph.Value) graph.Value {
	f := sc.b.Fact(v)
	if !o.Ranked || f.Const != nil || f.Shape.Static() || !f.DType.Valid() {
		return v
	}
	sizes, news := sc.im.declaredSizes(o), !f.Shape.Ranked
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

// declaredSizes are the sizes of a declared shape, -1 for open ones. A size of 0 is one that a tool did not know.
func (im *importer) declaredSizes(o *proto.ValueInfo) []int64 {
	sizes := make([]int64, len(o.Dims))
	for i, d := range o.Dims {
		size, sized := im.meta.Dims[d.Param]
		if n, bound := im.sizes[d.Param]; bound && !sized {
			size, sized = n, true
		}
		switch {
		case d.Known && d.Value > 0:
			sizes[i] = d.Value
		case !d.Known && sized:
			im.used[d.Param] = true
			sizes[i] = size
		default:
			sizes[i] = -1
		}
	}
	return sizes
}
