package export

import (
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// emitted is a node of the model.
type emitted struct {
	name, domain, op string
	in, out          []string
	attrs            []attr
}

// scope is one graph that is written: the main one or a body.
type scope struct {
	*exporter
	g      *graph.Graph
	parent *scope
	names  []string               // of the values of g, as they are stored; "": not yet
	real   map[graph.Value]string // names of the real numbers of quantized values
	list   []emitted
	outs   []string
	owner  map[string]int  // the node of g of each node of list, by name
	gone   map[string]bool // values that untwist has taken out, and inputs that are left out
}

func (e *exporter) scope(g *graph.Graph, parent *scope) *scope {
	return &scope{exporter: e, g: g, parent: parent, names: make([]string, len(g.Values)), real: map[graph.Value]string{},
		owner: map[string]int{}, gone: map[string]bool{}}
}

// label is the name for value v: its own name, or a word and a number.
func (s *scope) label(v graph.Value, word string, i int) string {
	if name := s.g.Values[v].Name; name != "" {
		return name
	}
	return word + strconv.Itoa(i)
}

// value is the name of a value as it is stored; of a constant it becomes an initializer with its first use.
func (s *scope) value(v graph.Value) string {
	if v == graph.None {
		return ""
	}
	if s.names[v] != "" {
		return s.names[v]
	}
	f := s.g.Fact(v)
	if f.Const != nil {
		dims, _ := f.Shape.Ints()
		s.names[v] = s.constant(s.g.Values[v].Name, f.DType, dims, f.Const.Data)
		return s.names[v]
	}
	s.names[v] = s.unique(s.label(v, "v", int(v)))
	return s.names[v]
}

// emit appends a node with outs fresh outputs.
func (s *scope) emit(op string, outs int, in []string, attrs ...attr) []string {
	for len(in) > 0 && in[len(in)-1] == "" {
		in = in[:len(in)-1]
	}
	out := make([]string, outs)
	for i := range out {
		out[i] = s.unique("t" + strconv.Itoa(s.count))
	}
	s.list = append(s.list, emitted{op: op, in: slices.Clone(in), out: slices.Clone(out), attrs: attrs})
	s.count++
	return out
}

// one appends a node with one output.
func (s *scope) one(op string, in []string, attrs ...attr) string {
	return s.emit(op, 1, in, attrs...)[0]
}

// write adds the fields of GraphProto beside name and initializers. With scalar output 0 has no dimensions.
func (s *scope) write(m *message, scalar bool) {
	for _, n := range s.list {
		var p message
		for _, v := range n.in {
			p.bytes(1, []byte(v))
		}
		for _, v := range n.out {
			p.bytes(2, []byte(v))
		}
		p.text(3, n.name)
		p.text(4, n.op)
		for i := range n.attrs {
			p.message(5, &n.attrs[i].of)
		}
		p.text(7, n.domain)
		m.message(1, &p)
	}
	ports := map[string]bool{}
	if s.parent == nil {
		for _, v := range s.g.In {
			if s.gone[s.names[v]] {
				continue
			}
			ports[s.names[v]] = true
			m.message(11, s.valueInfo(s.names[v], s.g.Fact(v).Type))
		}
	}
	for i, v := range s.g.Out {
		ports[s.outs[i]] = true
		t := s.g.Fact(v).Type
		if scalar && i == 0 {
			t.Shape = tensor.Of()
		}
		m.message(12, s.valueInfo(s.outs[i], t))
	}
	for i := range s.g.Nodes {
		for _, v := range s.g.Nodes[i].Out {
			if v == graph.None || s.names[v] == "" || ports[s.names[v]] || s.gone[s.names[v]] {
				continue
			}
			if t := s.g.Fact(v).Type; proto.ElementType(t.DType) != 0 && t.Shape.Ranked {
				ports[s.names[v]] = true
				m.message(13, s.valueInfo(s.names[v], t))
			}
		}
	}
}

// leaveUnread takes out the inputs of the graph that are no results and that no node reads. Nodes with bodies may read
// every input of the graph's nodes.
func (s *scope) leaveUnread() {
	read := map[string]bool{}
	for _, n := range s.list {
		for _, v := range n.in {
			read[v] = true
		}
	}
	for _, v := range s.g.Out {
		read[s.names[v]] = true
	}
	for i := range s.g.Nodes {
		n := &s.g.Nodes[i]
		if _, is := n.Op.(graph.Control); !is {
			continue
		}
		for _, v := range n.In {
			if v != graph.None {
				read[s.names[v]] = true
			}
		}
	}
	for _, v := range s.g.In {
		if name := s.names[v]; !read[name] {
			s.gone[name] = true
		}
	}
}

// ownConstants gives each operand of the scope's nodes that is a constant an initializer of its own.
func (s *scope) ownConstants() {
	at, read := map[string]int{}, map[string]bool{}
	for i := range s.constants {
		at[s.constants[i].name] = i
	}
	for _, n := range s.list {
		for k, name := range n.in {
			i, is := at[name]
			if !is {
				continue
			}
			if read[name] {
				c := s.constants[i]
				c.name = s.unique(name)
				s.constants = append(s.constants, c)
				n.in[k] = c.name
			}
			read[name] = true
		}
	}
}

// ints is a constant list of int64.
func (s *scope) ints(v ...int64) string {
	return s.constant("", tensor.Int64, []int64{int64(len(v))}, tensor.Int64s(v...))
}

// int is a constant int64 without dimensions.
func (s *scope) int(v int64) string { return s.constant("", tensor.Int64, nil, tensor.Int64s(v)) }

// list1 is a constant of a type and sizes.
func (s *scope) list1(d tensor.DType, dims []int64, x ...float64) string {
	t := tensor.New(d, int64(len(x)))
	for i, v := range x {
		if d.IsFloat() {
			tensor.PutFloat(d, t.Data, i, v, true)
		} else {
			tensor.PutInt(d, t.Data, i, int64(v))
		}
	}
	return s.constant("", d, dims, t.Data)
}
