package lower

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Begin says that what comes now belongs to a node of the graph.
func (sc *Scope) Begin(p *proto.Node) {
	if sc.parent == nil {
		sc.b.SetOrigin(p.Index, p.Name)
	}
}

// Missing reports whether an operator of the model is missing.
func (sc *Scope) Missing() bool { return len(sc.m.missing) > 0 }

// operator returns the row of a node's operator, nil for one of ai.onnx or com.microsoft that is not supported.
func (sc *Scope) operator(p *proto.Node) *Operator {
	o := sc.m.table[operatorKey{p.Domain, p.OpType}]
	if o == nil && p.Domain != "" && p.Domain != microsoft && !strings.HasPrefix(p.Domain, microsoft+".") {
		return sc.m.custom
	}
	return o
}

// Check looks at the operator and the form of a node. It is false when an operator of the model is missing: then nodes
// are only looked through for others.
func (sc *Scope) Check(q *proto.Instance) (bool, error) {
	o, version := sc.operator(q.Node), q.Frame.Version()
	if o == nil || !o.readsOf(version) {
		if o != nil {
			sc.m.old = version
		}
		sc.m.missing[q.Operator()] = append(sc.m.missing[q.Operator()], q.Label())
	}
	switch {
	case sc.Missing():
		return false, nil
	case o == sc.m.custom:
		return true, nil
	case len(q.Node.Out) == 0:
		return false, fault.New(fault.File, "no outputs")
	}
	return true, q.CheckForm(version)
}

// Form looks at the form of a node that is not lowered.
func (sc *Scope) Form(p *proto.Node, version int64) error {
	if o := sc.operator(p); o == nil || o == sc.m.custom {
		return nil
	}
	return p.CheckForm(version)
}

// Node lowers q and makes its outputs known.
func (sc *Scope) Node(q *proto.Instance) error {
	n := &node{Scope: sc, p: q, version: q.Frame.Version(), in: make([]graph.Value, len(q.In)),
		out: make([]graph.Value, len(q.Out)), stored: graph.None}
	for i, name := range q.In {
		if i == 1 && n.takesFilter() {
			n.in[i] = graph.None // the lowering takes the initializer in the order of the project's filters
			continue
		}
		v, err := sc.lookupAs(name, q.Node.In[i])
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		n.in[i] = v
	}
	for i := range n.out {
		n.out[i] = graph.None
	}
	n.singles()
	if err := sc.operator(q.Node).at(n.version)(n); err != nil {
		return err
	}
	if sc.Missing() { // in a body
		return nil
	}
	if err := sc.b.Err(); err != nil {
		return err
	}
	if err := n.note(); err != nil {
		return err
	}
	for i, name := range q.Out {
		if name == (proto.Name{}) {
			continue
		}
		if n.out[i] == graph.None {
			return fault.New(fault.Unsupported, "output %d is not computed", i)
		}
		if err := sc.define(name, n.out[i]); err != nil {
			return err
		}
	}
	return nil
}

// Replaced says that the outputs of q, for which other nodes stood, are known.
func (sc *Scope) Replaced(q *proto.Instance) error {
	n := &node{Scope: sc, p: q, in: sc.present(q.In), out: sc.present(q.Out), stored: graph.None}
	if err := sc.b.Err(); err != nil {
		return err
	}
	return n.note()
}

// present returns the values of names, None for those that have none.
func (sc *Scope) present(names []proto.Name) []graph.Value {
	vs := make([]graph.Value, len(names))
	for i, name := range names {
		v, ok := sc.values[name]
		if !ok {
			v = graph.None
		}
		vs[i] = v
	}
	return vs
}

// Fact tells what is known of a value. It fails when nothing makes the value.
func (sc *Scope) Fact(name proto.Name) (tensor.Fact, error) {
	v, err := sc.lookup(name)
	if err != nil {
		return tensor.Fact{}, err
	}
	return sc.b.Fact(v), nil
}

// Alias gives the value of a name another name as well.
func (sc *Scope) Alias(name, of proto.Name) error {
	v, err := sc.lookup(of)
	if err != nil {
		return err
	}
	return sc.define(name, v)
}

// Declare gives the value of a name that has dimensions, as the model declares it, another name.
func (sc *Scope) Declare(name, of proto.Name, dimensions int) error {
	v, err := sc.lookup(of)
	if err != nil {
		return err
	}
	sc.values[name] = sc.b.Add(&op.Declare{Sizes: slices.Repeat([]int64{-1}, dimensions)}, v)
	return sc.b.Err()
}

// Initializer makes a constant known.
func (sc *Scope) Initializer(name proto.Name, t *proto.Tensor) { sc.inits[name] = t }

// Sequence says that a name stands for a sequence, which no node reads.
func (sc *Scope) Sequence(name proto.Name) error {
	if sc.taken(name) {
		return fault.New(fault.File, "two values are named %q", name.Text)
	}
	sc.sequences[name] = true
	return nil
}
