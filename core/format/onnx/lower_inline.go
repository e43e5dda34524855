package onnx

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// operand is what a name stands for: a value, or a sequence of values.
type operand struct {
	v   graph.Value
	seq *sequence // nil for a value
}

// inlined is a body that is lowered in the graph of its node, once or several times.
type inlined struct {
	g     *proto.Graph
	order []*proto.Node
	outer *scope // holds the body's initializers
}

// inlined prepares the graph of an attribute.
func (n *node) inlined(name string) (*inlined, error) {
	a := n.p.Attrs[name]
	if a == nil || a.G == nil {
		return nil, fault.New(fault.File, "attribute %s holds no graph", name)
	}
	if a.G.Sparse > 0 {
		return nil, fault.New(fault.Unsupported, "attribute %s: sparse initializers are not supported", name)
	}
	if n.im.calls > 0 || n.im.repeats > 0 {
		if err := n.im.count(len(a.G.Inits) + len(a.G.Values)); err != nil {
			return nil, err
		}
	}
	outer := &scope{im: n.im, b: n.b, version: n.version, values: map[string]graph.Value{},
		inits:  map[string]*proto.Tensor{},
		shapes: map[string]*proto.ValueInfo{}, around: n.scope}
	for _, t := range a.G.Inits {
		outer.inits[t.Name] = t
	}
	for _, v := range append(slices.Clone(a.G.Values), a.G.Out...) {
		outer.shapes[v.Name] = v
	}
	order, err := proto.Sort(a.G.Nodes)
	return &inlined{a.G, order, outer}, fault.Wrap(err, "attribute %s", name)
}

// once lowers the body with in as its inputs and returns its outputs; nothing when operators are missing.
func (l *inlined) once(in []operand) ([]operand, error) {
	im := l.outer.im
	if len(in) != len(l.g.In) {
		return nil, fault.New(fault.File, "the body has %d inputs, it is given %d", len(l.g.In), len(in))
	}
	if len(in) > 0 { // a branch, which has no inputs, is lowered once
		if err := im.count(1 + len(l.g.In) + len(l.g.Out)); err != nil {
			return nil, err
		}
	}
	im.repeats++
	defer func() { im.repeats-- }()
	sc := &scope{im: im, b: l.outer.b, version: l.outer.version, values: map[string]graph.Value{}, shapes: l.outer.shapes,
		around: l.outer}
	for i, v := range l.g.In {
		sc.bind(v.Name, in[i])
	}
	for _, m := range l.order {
		if err := sc.node(m); err != nil {
			return nil, err
		}
	}
	if len(im.missing) > 0 {
		return nil, nil
	}
	out := make([]operand, len(l.g.Out))
	for i, o := range l.g.Out {
		var err error
		if out[i], err = sc.operand(o.Name); err != nil {
			return nil, fault.Wrap(err, "output")
		}
	}
	return out, nil
}

// bind makes name stand for o in sc, under whatever name o has elsewhere.
func (sc *scope) bind(name string, o operand) {
	if o.seq == nil {
		sc.values[name] = o.v
		return
	}
	sc.keep(name, o.seq)
}

// defineOperand is bind for a name that the model gives.
func (sc *scope) defineOperand(name string, o operand) error {
	if o.seq == nil {
		return sc.define(name, o.v)
	}
	if sc.taken(name) {
		return fault.New(fault.File, "two values are named %q", name)
	}
	sc.keep(name, o.seq)
	return nil
}

// operand returns what a name stands for; no value for "".
func (sc *scope) operand(name string) (operand, error) {
	seq, err := sc.sequence(name)
	if err != nil || seq != nil {
		return operand{graph.None, seq}, err
	}
	v, err := sc.lookup(name)
	return operand{v: v}, err
}

// give makes o output i: a value as one of its own, so that its name does not become another's.
func (n *node) give(i int, o operand) {
	switch {
	case i >= len(n.out):
	case o.seq != nil:
		n.outSeqs[i] = o.seq
	default:
		n.out[i] = n.b.Add(&op.Identity{}, o.v)
	}
}

// inlineBranch lowers the branch that a known condition takes, in the graph of the node. The other one need not be
// valid for these sizes.
func (n *node) inlineBranch(then bool) error {
	name, other := "else_branch", "then_branch"
	if then {
		name, other = other, name
	}
	if a := n.p.Attrs[other]; a != nil && a.G != nil {
		if err := n.im.checkForms(a.G.Nodes, n.version); err != nil {
			return fault.Wrap(err, "attribute %s", other)
		}
	}
	l, err := n.inlined(name)
	if err != nil {
		return err
	}
	if len(l.g.In) > 0 || len(l.g.Out) != len(n.out) {
		return fault.New(fault.File, "attribute %s: %d inputs, %d outputs for a node with %d", name, len(l.g.In),
			len(l.g.Out), len(n.out))
	}
	out, err := l.once(nil)
	if err != nil {
		return fault.Wrap(err, "attribute %s", name)
	}
	for i, o := range out {
		n.give(i, o)
	}
	return n.b.Err()
}

// unrolls decides whether a Loop becomes as many copies of its body as it has trips: when it carries sequences, or its
// body reads one and the number of trips is known.
func (n *node) unrolls() (bool, error) {
	known := true
	for i := range min(2, len(n.in)) {
		if n.has(i) {
			_, ok := n.fact(i).KnownInts()
			known = known && ok
		}
	}
	known = known && (n.has(0) || n.has(1))
	for i, seq := range n.seqs {
		switch {
		case seq == nil:
		case i < 2:
			return false, fault.New(fault.File, "input %d: a sequence", i)
		case !known:
			return false, fault.New(fault.Unsupported, "input %d: a sequence is carried by a loop whose trips are not known "+
				"when the model is read", i)
		default:
			return true, nil
		}
	}
	if a := n.p.Attrs["body"]; !known || a == nil || a.G == nil || !keepsCondition(a.G) {
		return false, nil
	}
	for _, name := range n.p.Needs() {
		if seq, err := n.sequence(name); err != nil || seq != nil {
			return seq != nil, err
		}
	}
	return false, nil
}

// keepsCondition reports whether a loop's body gives the condition that it got, or a constant.
func keepsCondition(g *proto.Graph) bool {
	if len(g.In) < 2 || len(g.Out) < 1 {
		return false
	}
	name := g.Out[0].Name
	for range g.Nodes {
		at := slices.IndexFunc(g.Nodes, func(m *proto.Node) bool { return slices.Contains(m.Out, name) })
		if at < 0 {
			break
		}
		m := g.Nodes[at]
		switch {
		case m.OpType == "Constant":
			return true
		case m.OpType != "Identity" && m.OpType != "Cast" || len(m.In) != 1:
			return false
		}
		name = m.In[0]
	}
	return name == g.In[1].Name || slices.ContainsFunc(g.Inits, func(t *proto.Tensor) bool { return t.Name == name })
}

// unrollLoop lowers the body once per trip. The condition must be known before each.
func (n *node) unrollLoop() error {
	l, err := n.inlined("body")
	if err != nil {
		return err
	}
	state := make([]operand, max(0, len(n.in)-2))
	for i := range state {
		if state[i] = (operand{n.in[i+2], n.seqs[i+2]}); state[i].v == graph.None && state[i].seq == nil {
			return fault.New(fault.File, "input %d is missing", i+2)
		}
	}
	scans := len(l.g.Out) - 1 - len(state)
	if scans < 0 || len(n.out) > len(state)+scans {
		return fault.New(fault.File, "attribute body: %d outputs for %d carried values and a node with %d outputs",
			len(l.g.Out), len(state), len(n.out))
	}
	trips, bounded, goes := int64(0), n.has(0), true
	if bounded {
		v, ok := n.fact(0).KnownInts()
		if !ok || len(v) != 1 {
			return fault.New(fault.Shape, "input 0: want one number, got %v", n.fact(0).Shape)
		}
		trips = v[0]
	}
	if n.has(1) {
		v, ok := n.fact(1).KnownInts()
		if !ok || len(v) != 1 {
			return fault.New(fault.Shape, "input 1: want one condition, got %v", n.fact(1).Shape)
		}
		goes = v[0] != 0
	}
	rows := make([][]graph.Value, scans)
	for trip := int64(0); goes && (!bounded || trip < trips); trip++ {
		in := append([]operand{{v: n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(trip))},
			{v: n.b.Const("", tensor.T(tensor.Bool), []byte{1})}}, state...)
		out, err := l.once(in)
		if err != nil {
			return fault.Wrap(err, "attribute body: trip %d", trip)
		}
		if len(n.im.missing) > 0 {
			return nil
		}
		c, ok := n.b.Fact(out[0].v).KnownInts()
		if out[0].seq != nil || !ok || len(c) != 1 {
			return fault.New(fault.Unsupported, "attribute body: the condition after trip %d is not known when the model is "+
				"read; the loop uses sequences", trip)
		}
		goes = c[0] != 0
		copy(state, out[1:])
		for i := range rows {
			o := out[1+len(state)+i]
			if o.seq != nil {
				return fault.New(fault.Unsupported, "attribute body: output %d is a sequence, and is no carried value",
					1+len(state)+i)
			}
			rows[i] = append(rows[i], o.v)
		}
	}
	for i, o := range state {
		n.give(i, o)
	}
	for i, r := range rows {
		if at := len(state) + i; at < len(n.out) && n.p.Out[at] != "" {
			if len(r) == 0 {
				return fault.New(fault.Unsupported, "output %d: the type of what a loop without trips collects is not known", at)
			}
			if n.out[at], err = n.stacked(r, 0); err != nil {
				return err
			}
		}
	}
	return n.b.Err()
}

// checkForms checks the nodes of a graph that is not lowered, and of the bodies in it.
func (im *importer) checkForms(nodes []*proto.Node, version int64) error {
	for _, p := range nodes {
		if im.functions[p.Domain+"\x00"+p.OpType+"\x00"+p.Overload] == nil && p.Domain == "" && lowerings[p.OpType] != nil {
			if err := p.CheckForm(version); err != nil {
				return fault.Wrap(err, "%s", p.Label())
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.Attrs)) {
			if g := p.Attrs[name].G; g != nil {
				if err := im.checkForms(g.Nodes, version); err != nil {
					return fault.Wrap(err, "%s: attribute %s", p.Label(), name)
				}
			}
		}
	}
	return nil
}
