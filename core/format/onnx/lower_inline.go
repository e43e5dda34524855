package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
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
	g     *graphProto
	order []*nodeProto
	outer *scope // holds the body's initializers
}

// inlined prepares the graph of an attribute.
func (n *node) inlined(name string) (*inlined, error) {
	a := n.p.attrs[name]
	if a == nil || a.g == nil {
		return nil, fault.New(fault.File, "attribute %s holds no graph", name)
	}
	if a.g.sparse > 0 {
		return nil, fault.New(fault.Unsupported, "attribute %s: sparse initializers are not supported", name)
	}
	if n.im.calls > 0 || n.im.repeats > 0 {
		if err := n.im.count(len(a.g.inits) + len(a.g.values)); err != nil {
			return nil, err
		}
	}
	outer := &scope{im: n.im, b: n.b, version: n.version, values: map[string]graph.Value{},
		inits:  map[string]*tensorProto{},
		shapes: map[string]*valueInfo{}, around: n.scope}
	for _, t := range a.g.inits {
		outer.inits[t.name] = t
	}
	for _, v := range append(slices.Clone(a.g.values), a.g.out...) {
		outer.shapes[v.name] = v
	}
	order, err := sortNodes(a.g.nodes)
	return &inlined{a.g, order, outer}, fault.Wrap(err, "attribute %s", name)
}

// once lowers the body with in as its inputs and returns its outputs; nothing when operators are missing.
func (l *inlined) once(in []operand) ([]operand, error) {
	im := l.outer.im
	if len(in) != len(l.g.in) {
		return nil, fault.New(fault.File, "the body has %d inputs, it is given %d", len(l.g.in), len(in))
	}
	if len(in) > 0 { // a branch, which has no inputs, is lowered once
		if err := im.count(1 + len(l.g.in) + len(l.g.out)); err != nil {
			return nil, err
		}
	}
	im.repeats++
	defer func() { im.repeats-- }()
	sc := &scope{im: im, b: l.outer.b, version: l.outer.version, values: map[string]graph.Value{}, shapes: l.outer.shapes,
		around: l.outer}
	for i, v := range l.g.in {
		sc.bind(v.name, in[i])
	}
	for _, m := range l.order {
		if err := sc.node(m); err != nil {
			return nil, err
		}
	}
	if len(im.missing) > 0 {
		return nil, nil
	}
	out := make([]operand, len(l.g.out))
	for i, o := range l.g.out {
		var err error
		if out[i], err = sc.operand(o.name); err != nil {
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
	if a := n.p.attrs[other]; a != nil && a.g != nil {
		if err := n.im.checkForms(a.g.nodes, n.version); err != nil {
			return fault.Wrap(err, "attribute %s", other)
		}
	}
	l, err := n.inlined(name)
	if err != nil {
		return err
	}
	if len(l.g.in) > 0 || len(l.g.out) != len(n.out) {
		return fault.New(fault.File, "attribute %s: %d inputs, %d outputs for a node with %d", name, len(l.g.in),
			len(l.g.out), len(n.out))
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
	if a := n.p.attrs["body"]; !known || a == nil || a.g == nil || !keepsCondition(a.g) {
		return false, nil
	}
	for _, name := range n.p.needs() {
		if seq, err := n.sequence(name); err != nil || seq != nil {
			return seq != nil, err
		}
	}
	return false, nil
}

// keepsCondition reports whether a loop's body gives the condition that it got, or a constant.
func keepsCondition(g *graphProto) bool {
	if len(g.in) < 2 || len(g.out) < 1 {
		return false
	}
	name := g.out[0].name
	for range g.nodes {
		at := slices.IndexFunc(g.nodes, func(m *nodeProto) bool { return slices.Contains(m.out, name) })
		if at < 0 {
			break
		}
		m := g.nodes[at]
		switch {
		case m.opType == "Constant":
			return true
		case m.opType != "Identity" && m.opType != "Cast" || len(m.in) != 1:
			return false
		}
		name = m.in[0]
	}
	return name == g.in[1].name || slices.ContainsFunc(g.inits, func(t *tensorProto) bool { return t.name == name })
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
	scans := len(l.g.out) - 1 - len(state)
	if scans < 0 || len(n.out) > len(state)+scans {
		return fault.New(fault.File, "attribute body: %d outputs for %d carried values and a node with %d outputs",
			len(l.g.out), len(state), len(n.out))
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
		if at := len(state) + i; at < len(n.out) && n.p.out[at] != "" {
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
