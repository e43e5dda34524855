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

// maxCalls bounds functions that call functions.
const maxCalls = 32

// lowering turns a node into operators; it sets every output that the model names.
type lowering func(n *node) error

// node is one ONNX node being lowered.
type node struct {
	*scope
	p   *proto.Node
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
	if im.nodes += n; im.nodes > proto.MaxNodes {
		return fault.New(fault.File, "functions, loops and sequences expand to more than %d nodes", proto.MaxNodes)
	}
	return nil
}

// node lowers one node: an operator of ai.onnx, a call of a function of the model, or a custom operator.
func (sc *scope) node(p *proto.Node) error {
	if err := sc.im.count(1); err != nil {
		return err
	}
	if f := sc.im.functions[p.Domain+"\x00"+p.OpType+"\x00"+p.Overload]; f != nil {
		return fault.Wrap(sc.call(f, p), "%s", p.Label())
	}
	lower := lowerings[p.OpType]
	if p.Domain != "" {
		lower = lowerCustom
	}
	if lower == nil || p.Domain == "" && sc.version < MinOpset && !older(p.OpType, sc.version) {
		if lower != nil {
			sc.im.old = sc.version
		}
		sc.im.missing[p.OpType] = append(sc.im.missing[p.OpType], p.Label())
	}
	if len(sc.im.missing) > 0 { // go on only to find the other missing operators
		return sc.findMissing(p)
	}
	if p.Domain == "" && len(p.Out) == 0 {
		return fault.New(fault.File, "%s: no outputs", p.Label())
	}
	if p.Domain == "" {
		if err := p.CheckForm(sc.version); err != nil {
			return fault.Wrap(err, "%s", p.Label())
		}
	}
	n := &node{scope: sc, p: p, in: make([]graph.Value, len(p.In)), out: make([]graph.Value, len(p.Out)),
		stored: graph.None,
		seqs:   make([]*sequence, len(p.In)), outSeqs: make([]*sequence, len(p.Out))}
	for i, name := range p.In {
		if p.Domain == "" && takesSequence[p.OpType] {
			o, err := sc.operand(name)
			if err != nil {
				return fault.Wrap(err, "%s: input %d", p.Label(), i)
			}
			n.in[i], n.seqs[i] = o.v, o.seq
			continue
		}
		if _, read := sc.values[name]; !read && sc.inits[name] != nil && filterInput[p.OpType] && i == 1 {
			n.in[i] = graph.None // the lowering takes the initializer in the order of the project's filters
			continue
		}
		v, err := sc.lookup(name)
		if err != nil {
			return fault.Wrap(err, "%s: input %d", p.Label(), i)
		}
		n.in[i] = v
	}
	for i := range n.out {
		n.out[i] = graph.None
	}
	n.singles()
	if err := lower(n); err != nil {
		return fault.Wrap(err, "%s", p.Label())
	}
	if len(sc.im.missing) > 0 { // in a body
		return nil
	}
	if err := sc.b.Err(); err != nil {
		return fault.Wrap(err, "%s", p.Label())
	}
	if err := n.note(); err != nil {
		return fault.Wrap(err, "%s", p.Label())
	}
	for i, name := range p.Out {
		if name == "" {
			continue
		}
		if n.out[i] == graph.None && n.outSeqs[i] == nil {
			return fault.New(fault.Unsupported, "%s: output %d is not computed", p.Label(), i)
		}
		if err := sc.defineOperand(name, operand{n.out[i], n.outSeqs[i]}); err != nil {
			return fault.Wrap(err, "%s", p.Label())
		}
	}
	return nil
}

// findMissing looks for missing operators in the bodies of a node that is not lowered any more.
func (sc *scope) findMissing(p *proto.Node) error {
	for _, key := range slices.Sorted(maps.Keys(p.Attrs)) {
		a := p.Attrs[key]
		graphs := a.Graphs
		if a.G != nil {
			graphs = append(graphs[:len(graphs):len(graphs)], a.G)
		}
		for _, g := range graphs {
			for _, m := range g.Nodes {
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
func (sc *scope) call(f *proto.Function, p *proto.Node) error {
	if sc.im.calls++; sc.im.calls > maxCalls {
		return fault.New(fault.File, "functions nested more than %d deep", maxCalls)
	}
	defer func() { sc.im.calls-- }()
	if len(p.In) > len(f.In) || len(p.Out) > len(f.Out) {
		return fault.New(fault.File, "function %s takes %d inputs and gives %d outputs, the call has %d and %d", f.Name,
			len(f.In), len(f.Out), len(p.In), len(p.Out))
	}
	if err := f.CheckCall(p); err != nil {
		return err
	}
	version := sc.version
	if v, ok := f.Opsets[""]; ok {
		version = v
	}
	inner := &scope{im: sc.im, b: sc.b, version: version, values: map[string]graph.Value{},
		inits: map[string]*proto.Tensor{}, shapes: map[string]*proto.ValueInfo{}}
	for i, name := range f.In {
		o := operand{v: graph.None}
		if i < len(p.In) {
			var err error
			if o, err = sc.operand(p.In[i]); err != nil {
				return err
			}
		}
		inner.bind(name, o)
	}
	order, err := proto.Sort(f.Nodes)
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
	for i, name := range p.Out {
		if name == "" {
			continue
		}
		o, err := inner.operand(f.Out[i])
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
func bindAttributes(q *proto.Node, f *proto.Function, call *proto.Node) (*proto.Node, error) {
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
				b, err := bindAttributes(m, f, call)
				if err != nil {
					return nil, err
				}
				g.Nodes[i] = b
			}
			copied := *a
			copied.G = &g
			bound.Attrs[name] = &copied
		default:
			bound.Attrs[name] = a
		}
	}
	return &bound, nil
}

// has reports whether input i is given.
func (n *node) has(i int) bool {
	return i < len(n.p.In) && n.p.In[i] != ""
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
		if o := sc.shapes[n.p.In[i]]; o != nil {
			if o.Ranked {
				n.in[i] = n.b.Add(&op.Declare{Sizes: slices.Repeat([]int64{-1}, len(o.Dims))}, n.in[i])
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
	if len(n.p.In) < lo || len(n.p.In) > hi {
		return fault.New(fault.File, "want %s, got %d", fault.Numbers(lo, hi, "input"), len(n.p.In))
	}
	for i := range lo {
		if n.p.In[i] == "" {
			return fault.New(fault.File, "input %d is missing", i)
		}
	}
	return nil
}

// emit adds op with the given inputs and makes its outputs the node's.
func (n *node) emit(op graph.Op, in ...graph.Value) error {
	declared := make([]tensor.Type, max(len(n.out), 1))
	copy(n.out, n.b.AddTyped(op, n.p.Name, declared, in...))
	return n.b.Err()
}

// result makes v output 0.
func (n *node) result(v graph.Value) error {
	n.out[0] = v
	return n.b.Err()
}

func (n *node) int(name string, otherwise int64) int64 {
	if a := n.p.Attrs[name]; a != nil {
		return a.I
	}
	return otherwise
}

func (n *node) float(name string, otherwise float32) float32 {
	if a := n.p.Attrs[name]; a != nil {
		return a.F
	}
	return otherwise
}

func (n *node) ints(name string) []int64 {
	if a := n.p.Attrs[name]; a != nil {
		return a.Ints
	}
	return nil
}

func (n *node) floats(name string) []float32 {
	if a := n.p.Attrs[name]; a != nil {
		return a.Floats
	}
	return nil
}

func (n *node) string(name, otherwise string) string {
	if a := n.p.Attrs[name]; a != nil {
		return string(a.S)
	}
	return otherwise
}

func (n *node) stringList(name string) []string {
	a := n.p.Attrs[name]
	if a == nil {
		return nil
	}
	out := make([]string, len(a.Strings))
	for i, s := range a.Strings {
		out[i] = string(s)
	}
	return out
}

// dtype reads an attribute that holds an element type; 0 where it is absent.
func (n *node) dtype(name string) (tensor.DType, error) {
	a := n.p.Attrs[name]
	if a == nil || a.I == 0 {
		return 0, nil
	}
	d, err := proto.DTypeOf(a.I)
	return d, fault.Wrap(err, "attribute %s", name)
}

// axesInput returns the axes as a value: input i, or the attribute of older opsets, or None.
func (n *node) axesInput(i int, name string) graph.Value {
	if n.has(i) {
		return n.arg(i)
	}
	if a := n.p.Attrs[name]; a != nil {
		return n.b.Int64s(a.Ints...)
	}
	return graph.None
}
