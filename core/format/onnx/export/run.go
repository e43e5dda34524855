package export

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// run emits the nodes of the graph, whose inputs have their names.
func (s *scope) run() error {
	order, err := s.g.Order()
	if err != nil {
		return err
	}
	for i, v := range s.g.Out { // outputs get their names before anything else takes them
		if s.names[v] == "" && s.g.Fact(v).Const == nil {
			s.names[v] = s.unique(s.label(v, "output", i))
		}
	}
	for _, i := range order {
		begin := len(s.list)
		err := s.node(&s.g.Nodes[i])
		for _, n := range s.list[begin:] {
			s.owner[n.name] = i
		}
		if fault.KindOf(err) == fault.Unsupported && s.opt.Foreign {
			s.foreign(&s.g.Nodes[i])
		} else if fault.KindOf(err) == fault.Unsupported {
			s.refuse(&s.g.Nodes[i], err)
		} else if err != nil {
			return fault.Wrap(err, "%s", s.g.Nodes[i].Label())
		}
	}
	return s.outputs()
}

// outputs names the outputs of the graph. One that no node of it makes, or that is another one too, becomes a copy.
func (s *scope) outputs() error {
	made := map[string]bool{}
	for _, n := range s.list {
		for _, o := range n.out {
			made[o] = true
		}
	}
	for i, v := range s.g.Out {
		name := s.value(v)
		if !made[name] || slices.Contains(s.outs, name) {
			copied := s.unique(s.label(v, "output", i))
			s.list = append(s.list, emitted{name: s.nodeName("copy_" + copied), op: "Identity", in: []string{name},
				out: []string{copied}})
			s.count++
			name = copied
		}
		s.outs = append(s.outs, name)
	}
	return nil
}

// node emits what computes one node.
func (s *scope) node(gn *graph.Node) error {
	n := &node{scope: s, n: gn, begin: len(s.list), named: map[string]bool{}}
	known := len(s.real)
	err := n.export()
	if err != nil {
		s.list = s.list[:n.begin]
		if len(s.real) > known { // what they name is not made after all
			clear(s.real)
		}
	}
	return err
}

// rules are the rules of all operators, by the type of the operator.
var rules map[reflect.Type]func(n *node) error

// export emits what computes the node and names the ONNX nodes.
func (n *node) export() error {
	for k, v := range n.n.Out {
		if v != graph.None {
			n.names[v] = n.outName(k, v)
		}
	}
	f := rules[reflect.TypeOf(n.n.Op)]
	switch c, composite := n.n.Op.(graph.Composite); {
	case f != nil:
		if err := f(n); err != nil {
			return err
		}
	case composite:
		if err := n.decompose(c); err != nil {
			return err
		}
	default:
		return refuse("ONNX has no operator for it")
	}
	if n.err != nil {
		return n.err
	}
	label := n.n.Name
	if label == "" || n.n.Terms != nil {
		if label == "" {
			label = graph.NameOf(n.n.Op)
		}
		if n.n.Origin >= 0 {
			label += "_" + strconv.Itoa(n.n.Origin)
		}
	}
	for i := n.begin; i < len(n.list); i++ {
		if n.list[i].name == "" {
			n.list[i].name = n.nodeName(label)
		}
	}
	return nil
}

// outName is the name of output k, which is v.
func (n *node) outName(k int, v graph.Value) string {
	if n.names[v] != "" {
		return n.names[v]
	}
	if name := n.g.Values[v].Name; name != "" {
		return n.unique(name)
	}
	word := graph.NameOf(n.n.Op)
	if k > 0 {
		word += "_" + strconv.Itoa(k)
	}
	return n.unique(word + "_" + strconv.Itoa(int(v)))
}

// decompose exports the parts of an operator.
func (n *node) decompose(c graph.Composite) error {
	b := graph.NewBuilder(graph.NameOf(c))
	in := make([]graph.Value, len(n.n.In))
	for i, v := range n.n.In {
		if in[i] = v; v != graph.None {
			in[i] = b.Given("", n.g.Fact(v))
		}
	}
	out, err := c.Decompose(b, in)
	if err != nil {
		return err
	}
	b.Output(out...)
	g, err := b.Graph()
	if err != nil {
		return err
	}
	s := n.exporter.scope(g, n.scope)
	for i, v := range n.n.In {
		if v != graph.None {
			s.names[in[i]] = n.value(v)
		}
	}
	if err := s.run(); err != nil {
		return err
	}
	n.list = append(n.list, s.list...)
	for k, name := range s.outs {
		n.put(k, name)
	}
	return nil
}
