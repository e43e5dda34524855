package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// maxCalls bounds functions that call functions.
const maxCalls = 32

// lowering turns a node into operators; it sets every output that the model names.
type lowering func(n *node) error

// node is one ONNX node being lowered.
type node struct {
	*scope
	p   *nodeProto
	in  []graph.Value // None where absent
	out []graph.Value // set by the lowering
	// Inputs and outputs that are sequences, nil for the others.
	seqs, outSeqs []*sequence
	// The filter, when it is stored in the project's order of dimensions, and that order.
	stored      graph.Value
	storedOrder []int
}

// count counts nodes, and what functions, unrolled bodies and sequences make or repeat, against the limit of nodes.
func (im *importer) count(n int) error {
	if im.nodes += n; im.nodes > maxNodes {
		return fault.New(fault.File, "functions, loops and sequences expand to more than %d nodes", maxNodes)
	}
	return nil
}

// node lowers one node: an operator of ai.onnx, a call of a function of the model, or a custom operator.
func (sc *scope) node(p *nodeProto) error {
	if err := sc.im.count(1); err != nil {
		return err
	}
	if f := sc.im.functions[p.domain+"\x00"+p.opType+"\x00"+p.overload]; f != nil {
		return fault.Wrap(sc.call(f, p), "%s", p.label())
	}
	lower := lowerings[p.opType]
	if p.domain != "" {
		lower = lowerCustom
	}
	if lower == nil || p.domain == "" && sc.version < MinOpset && !older(p.opType, sc.version) {
		if lower != nil {
			sc.im.old = sc.version
		}
		sc.im.missing[p.opType] = append(sc.im.missing[p.opType], p.label())
	}
	if len(sc.im.missing) > 0 { // go on only to find the other missing operators
		return sc.findMissing(p)
	}
	if p.domain == "" && len(p.out) == 0 {
		return fault.New(fault.File, "%s: no outputs", p.label())
	}
	if p.domain == "" {
		if err := p.checkForm(sc.version); err != nil {
			return fault.Wrap(err, "%s", p.label())
		}
	}
	n := &node{scope: sc, p: p, in: make([]graph.Value, len(p.in)), out: make([]graph.Value, len(p.out)),
		stored: graph.None,
		seqs:   make([]*sequence, len(p.in)), outSeqs: make([]*sequence, len(p.out))}
	for i, name := range p.in {
		if p.domain == "" && takesSequence[p.opType] {
			o, err := sc.operand(name)
			if err != nil {
				return fault.Wrap(err, "%s: input %d", p.label(), i)
			}
			n.in[i], n.seqs[i] = o.v, o.seq
			continue
		}
		if _, read := sc.values[name]; !read && sc.inits[name] != nil && filterInput[p.opType] && i == 1 {
			n.in[i] = graph.None // the lowering takes the initializer in the order of the project's filters
			continue
		}
		v, err := sc.lookup(name)
		if err != nil {
			return fault.Wrap(err, "%s: input %d", p.label(), i)
		}
		n.in[i] = v
	}
	for i := range n.out {
		n.out[i] = graph.None
	}
	n.singles()
	if err := lower(n); err != nil {
		return fault.Wrap(err, "%s", p.label())
	}
	if len(sc.im.missing) > 0 { // in a body
		return nil
	}
	if err := sc.b.Err(); err != nil {
		return fault.Wrap(err, "%s", p.label())
	}
	if err := n.note(); err != nil {
		return fault.Wrap(err, "%s", p.label())
	}
	for i, name := range p.out {
		if name == "" {
			continue
		}
		if n.out[i] == graph.None && n.outSeqs[i] == nil {
			return fault.New(fault.Unsupported, "%s: output %d is not computed", p.label(), i)
		}
		if err := sc.defineOperand(name, operand{n.out[i], n.outSeqs[i]}); err != nil {
			return fault.Wrap(err, "%s", p.label())
		}
	}
	return nil
}

// findMissing looks for missing operators in the bodies of a node that is not lowered any more.
func (sc *scope) findMissing(p *nodeProto) error {
	for _, key := range sortedKeys(p.attrs) {
		a := p.attrs[key]
		graphs := a.graphs
		if a.g != nil {
			graphs = append(graphs[:len(graphs):len(graphs)], a.g)
		}
		for _, g := range graphs {
			for _, m := range g.nodes {
				if err := sc.node(m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// call expands a function of the model: its nodes are lowered in a scope of names of their own, in the graph of the
// caller.
func (sc *scope) call(f *functionProto, p *nodeProto) error {
	if sc.im.calls++; sc.im.calls > maxCalls {
		return fault.New(fault.File, "functions nested more than %d deep", maxCalls)
	}
	defer func() { sc.im.calls-- }()
	if len(p.in) > len(f.in) || len(p.out) > len(f.out) {
		return fault.New(fault.File, "function %s takes %d inputs and gives %d outputs, the call has %d and %d", f.name,
			len(f.in), len(f.out), len(p.in), len(p.out))
	}
	if err := f.checkCall(p); err != nil {
		return err
	}
	version := sc.version
	if v, ok := f.opsets[""]; ok {
		version = v
	}
	inner := &scope{im: sc.im, b: sc.b, version: version, values: map[string]graph.Value{},
		inits: map[string]*tensorProto{}, shapes: map[string]*valueInfo{}}
	for i, name := range f.in {
		o := operand{v: graph.None}
		if i < len(p.in) {
			var err error
			if o, err = sc.operand(p.in[i]); err != nil {
				return err
			}
		}
		inner.bind(name, o)
	}
	order, err := sortNodes(f.nodes)
	if err != nil {
		return err
	}
	for _, q := range order {
		bound, err := bindAttributes(q, f, p)
		if err != nil {
			return err
		}
		if err := inner.node(bound); err != nil {
			return err
		}
	}
	if len(sc.im.missing) > 0 {
		return nil
	}
	for i, name := range p.out {
		if name == "" {
			continue
		}
		o, err := inner.operand(f.out[i])
		if err != nil {
			return err
		}
		if err := sc.defineOperand(name, o); err != nil {
			return err
		}
	}
	return nil
}

// bindAttributes replaces the references of a function's node, bodies included, by the attributes of the call.
func bindAttributes(q *nodeProto, f *functionProto, call *nodeProto) (*nodeProto, error) {
	bound := *q
	bound.reads = nil
	bound.index = call.index
	bound.attrs = make(map[string]*attribute, len(q.attrs))
	for name, a := range q.attrs {
		switch {
		case a.ref != "":
			v := call.attrs[a.ref]
			if v == nil {
				v = f.defaults[a.ref]
			}
			if v == nil { // the attribute is optional and not given
				continue
			}
			bound.attrs[name] = v
		case a.g != nil:
			g := *a.g
			g.nodes = make([]*nodeProto, len(a.g.nodes))
			for i, m := range a.g.nodes {
				b, err := bindAttributes(m, f, call)
				if err != nil {
					return nil, err
				}
				g.nodes[i] = b
			}
			copied := *a
			copied.g = &g
			bound.attrs[name] = &copied
		default:
			bound.attrs[name] = a
		}
	}
	return &bound, nil
}

// has reports whether input i is given.
func (n *node) has(i int) bool {
	return i < len(n.p.in) && n.p.in[i] != ""
}

// arg returns input i, None where it is absent.
func (n *node) arg(i int) graph.Value {
	if i < len(n.in) {
		return n.in[i]
	}
	return graph.None
}

// fact returns what is known of input i.
func (n *node) fact(i int) tensor.Fact { return n.b.Fact(n.arg(i)) }

// rank returns the rank of input i, as the model declares it where nothing else tells; an error when the lowering needs
// it and it is not known.
func (n *node) rank(i int) (int, error) {
	if !n.fact(i).Shape.Ranked {
		n.useDeclaredRank(i)
	}
	if r := n.fact(i).Shape.Rank(); r >= 0 {
		return r, nil
	}
	return 0, fault.New(fault.Unsupported, "input %d: its rank is not known", i)
}

// useDeclaredRank gives input i the number of dimensions that the model declares for it.
func (n *node) useDeclaredRank(i int) {
	if !n.has(i) || n.arg(i) == graph.None || !n.fact(i).DType.Valid() {
		return
	}
	for sc := n.scope; sc != nil; {
		if o := sc.shapes[n.p.in[i]]; o != nil {
			if o.ranked {
				n.in[i] = n.b.Add(&op.Declare{Sizes: slices.Repeat([]int64{-1}, len(o.dims))}, n.in[i])
			}
			return
		}
		if sc.around != nil {
			sc = sc.around
		} else {
			sc = sc.parent
		}
	}
}

// want checks the number of inputs.
func (n *node) want(lo, hi int) error {
	if len(n.p.in) < lo || len(n.p.in) > hi {
		return fault.New(fault.File, "want %s, got %d", fault.Numbers(lo, hi, "input"), len(n.p.in))
	}
	for i := range lo {
		if n.p.in[i] == "" {
			return fault.New(fault.File, "input %d is missing", i)
		}
	}
	return nil
}

// emit adds op with the given inputs and makes its outputs the node's.
func (n *node) emit(op graph.Op, in ...graph.Value) error {
	declared := make([]tensor.Type, max(len(n.out), 1))
	copy(n.out, n.b.AddTyped(op, n.p.name, declared, in...))
	return n.b.Err()
}

// result makes v output 0.
func (n *node) result(v graph.Value) error {
	n.out[0] = v
	return n.b.Err()
}

func (n *node) int(name string, otherwise int64) int64 {
	if a := n.p.attrs[name]; a != nil {
		return a.i
	}
	return otherwise
}

func (n *node) float(name string, otherwise float32) float32 {
	if a := n.p.attrs[name]; a != nil {
		return a.f
	}
	return otherwise
}

func (n *node) ints(name string) []int64 {
	if a := n.p.attrs[name]; a != nil {
		return a.ints
	}
	return nil
}

func (n *node) floats(name string) []float32 {
	if a := n.p.attrs[name]; a != nil {
		return a.floats
	}
	return nil
}

func (n *node) string(name, otherwise string) string {
	if a := n.p.attrs[name]; a != nil {
		return string(a.s)
	}
	return otherwise
}

func (n *node) stringList(name string) []string {
	a := n.p.attrs[name]
	if a == nil {
		return nil
	}
	out := make([]string, len(a.strings))
	for i, s := range a.strings {
		out[i] = string(s)
	}
	return out
}

// dtype reads an attribute that holds an element type; 0 where it is absent.
func (n *node) dtype(name string) (tensor.DType, error) {
	a := n.p.attrs[name]
	if a == nil || a.i == 0 {
		return 0, nil
	}
	d, err := dtypeOf(a.i)
	return d, fault.Wrap(err, "attribute %s", name)
}

// axesInput returns the axes as a value: input i, or the attribute of older opsets, or None.
func (n *node) axesInput(i int, name string) graph.Value {
	if n.has(i) {
		return n.arg(i)
	}
	if a := n.p.attrs[name]; a != nil {
		return n.b.Int64s(a.ints...)
	}
	return graph.None
}
