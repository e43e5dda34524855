package onnx

import (
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/fault"
)

// Summary is what a model is made of, told without lowering it.
type Summary struct {
	Opsets    map[string]int64 // per domain, "" is ai.onnx
	IRVersion int64
	Producer  string
	// operator ("domain.Type" outside ai.onnx) to the number of nodes, bodies and functions included
	Ops       map[string]int
	Kinds     []string // kinds of value other than tensors among inputs and outputs: "sequence", "optional", "map", ...
	Strings   bool     // an input or output is a tensor of strings
	Functions []string
	Meta      map[string]string

	Name       string
	In, Out    []Port
	Parameters int64 // elements of all initializers
	Bytes      int64
	External   bool // initializers lie in other files
}

// Port is an input or output as the model declares it.
type Port struct {
	Name string
	Type string   // element type, or "sequence", "optional", ...; empty: not declared
	Dims []string // sizes, names of open dimensions, "?"; nil: the rank is not declared
}

func portsOf(vs []*valueInfo, drop map[string]bool) []Port {
	out := []Port{}
	for _, v := range vs {
		if drop[v.name] {
			continue
		}
		p := Port{Name: v.name, Type: v.kind}
		if d, err := dtypeOf(v.dtype); err == nil {
			p.Type = d.String()
		} else if v.dtype == stringType {
			p.Type = "string"
		}
		if v.ranked {
			p.Dims = []string{}
		}
		for _, d := range v.dims {
			switch {
			case d.known:
				p.Dims = append(p.Dims, strconv.FormatInt(d.value, 10))
			case d.param != "":
				p.Dims = append(p.Dims, d.param)
			default:
				p.Dims = append(p.Dims, "?")
			}
		}
		out = append(out, p)
	}
	return out
}

func (s *Summary) initializers(g *graphProto) map[string]bool {
	names := map[string]bool{}
	for _, t := range g.inits {
		names[t.name] = true
		s.External = s.External || t.location == 1
		if typ, size, err := t.tensorType(); err == nil {
			count, _ := typ.Shape.Count()
			s.Parameters += count
			s.Bytes += size
		}
	}
	return names
}

// Survey reads the structure of the model in data. Errors are of kind fault.File.
func Survey(data []byte) (*Summary, error) {
	p, err := parseModel(data)
	if err != nil {
		return nil, err
	}
	s := &Summary{Opsets: p.opsets, IRVersion: p.irVersion, Producer: p.producer, Ops: map[string]int{}, Meta: p.meta}
	s.Name = p.graph.name
	inits := s.initializers(p.graph)
	s.In, s.Out = portsOf(p.graph.in, inits), portsOf(p.graph.out, nil)
	s.graph(p.graph)
	for _, f := range p.functions {
		s.Functions = append(s.Functions, f.domain+"."+f.name)
		s.nodes(f.nodes)
	}
	return s, nil
}

func (s *Summary) graph(g *graphProto) {
	for _, v := range slices.Concat(g.in, g.out) {
		if v.kind != "" && v.kind != "tensor" && !slices.Contains(s.Kinds, v.kind) {
			s.Kinds = append(s.Kinds, v.kind)
		}
		s.Strings = s.Strings || v.dtype == stringType
	}
	s.nodes(g.nodes)
}

func (s *Summary) nodes(nodes []*nodeProto) {
	for _, n := range nodes {
		s.Ops[n.operator()]++
		for _, key := range sortedKeys(n.attrs) {
			a := n.attrs[key]
			if a.g != nil {
				s.graph(a.g)
			}
			for _, g := range a.graphs {
				s.graph(g)
			}
		}
	}
}

// operator is the node's operator, with its domain outside ai.onnx.
func (n *nodeProto) operator() string {
	if n.domain == "" {
		return n.opType
	}
	return n.domain + "." + n.opType
}

// ops are the operators of the graph's nodes.
func (g *graphProto) ops() []string {
	ops := make([]string, len(g.nodes))
	for i, n := range g.nodes {
		ops[i] = n.operator()
	}
	return ops
}

// SurveyFile is Survey of the file at path.
func SurveyFile(path string) (*Summary, error) {
	src, err := openSource(path)
	if err != nil {
		return nil, fault.Wrap(err, "model %s", path)
	}
	defer src.close()
	s, err := Survey(src.data)
	return s, fault.Wrap(err, "model %s", path)
}
