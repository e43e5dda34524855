package lower

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// graph lowers g into a new scope. For a body, parent is the graph around it and of its node; given are types of the
// inputs that hold where the model declares none.
func (m *Lowering) graph(g *proto.Graph, parent *Scope, of *proto.Instance, given []tensor.Type) (*Scope, error) {
	if g.Sparse > 0 {
		return nil, fault.New(fault.Unsupported, "graph %q: sparse initializers are not supported", g.Name)
	}
	f, err := m.nodes.Graph(g, of)
	if err != nil {
		return nil, err
	}
	sc := &Scope{m: m, b: graph.NewBuilder(g.Name), values: map[proto.Name]graph.Value{},
		sequences: map[proto.Name]bool{}, inits: map[proto.Name]*proto.Tensor{}, uses: map[string]int{}, parent: parent}
	if parent == nil {
		m.top = f
		if m.opt.Quantize {
			m.main = sc
		}
	}
	inits := map[string]bool{}
	for _, t := range g.Inits {
		inits[t.Name] = true
	}
	if parent == nil && m.opt.Fix {
		m.fix(g, inits)
	}
	if err := sc.inputs(g, f, inits, given); err != nil {
		return nil, err
	}
	order, err := proto.Sort(g.Nodes)
	if again := sc.madeAgain(g.Nodes, f); again != nil { // a cycle may only come of it
		err = again
	}
	if err != nil {
		return nil, fault.Wrap(err, "graph %q", g.Name)
	}
	for _, n := range order {
		for _, name := range n.Needs() {
			sc.uses[name]++
		}
	}
	for _, o := range g.Out {
		sc.uses[o.Name]++
	}
	if parent == nil {
		m.preload(g, order, sc.uses)
	}
	if err := m.nodes.Nodes(f, order, sc); err != nil {
		return nil, err
	}
	if len(m.missing) > 0 {
		return sc, nil // names of missing operators' outputs are unknown; the caller reports them all at once
	}
	sc.b.SetOrigin(-1, "")
	for _, o := range g.Out {
		if err := sc.output(g, f, o); err != nil {
			return nil, err
		}
	}
	return sc, sc.b.Err()
}

// inputs adds the inputs and initializers of g, whose frame is f.
func (sc *Scope) inputs(g *proto.Graph, f proto.Frame, inits map[string]bool, given []tensor.Type) error {
	m := sc.m
	for i, v := range g.In {
		// an input with a default value: the default is taken, as every runtime does for constants
		if sc.parent == nil && inits[v.Name] {
			continue
		}
		t, err := m.valueType(v)
		if err != nil {
			return fault.Wrap(err, "input %q", v.Name)
		}
		if t.DType == tensor.Invalid && i < len(given) {
			t = given[i]
		}
		if sc.parent == nil {
			t = m.fixedInput(v, t)
		}
		if err := sc.define(f.Own(v.Name), sc.b.Input(v.Name, t)); err != nil {
			return err
		}
	}
	for _, t := range g.Inits {
		name := f.Own(t.Name)
		if _, taken := sc.inits[name]; taken || t.Name == "" {
			return fault.New(fault.File, "two initializers are named %q", t.Name)
		}
		sc.inits[name] = t
	}
	return nil
}

// output makes o, whose frame is f, an output of the graph: a value of its own.
func (sc *Scope) output(g *proto.Graph, f proto.Frame, o *proto.ValueInfo) error {
	v, err := sc.lookupAs(f.Resolve(o.Name), o.Name)
	if err != nil {
		return fault.Wrap(err, "output")
	}
	if sc.parent == nil {
		v = sc.declaredOutput(g, o, v)
	}
	if slices.Contains(sc.b.Outputs(), v) || sc.b.Fact(v).Const != nil || slices.Contains(sc.b.Inputs(), v) {
		v = sc.b.Add(&op.Identity{}, v)
	}
	sc.b.Name(v, o.Name)
	sc.b.Output(v)
	return nil
}
