package onnx

import "slices"

// Summary is what a model is made of, told without lowering it.
type Summary struct {
	Opsets    map[string]int64 // per domain, "" is ai.onnx
	IRVersion int64
	Producer  string
	Ops       map[string]int // operator ("domain.Type" outside ai.onnx) to the number of nodes, bodies and functions included
	Kinds     []string       // kinds of value other than tensors among inputs and outputs: "sequence", "optional", "map", ...
	Strings   bool           // an input or output is a tensor of strings
	Functions []string
	Meta      map[string]string
}

// Survey reads the structure of the model in data. Errors are of kind fault.File.
func Survey(data []byte) (*Summary, error) {
	p, err := parseModel(data)
	if err != nil {
		return nil, err
	}
	s := &Summary{Opsets: p.opsets, IRVersion: p.irVersion, Producer: p.producer, Ops: map[string]int{}, Meta: p.meta}
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
		name := n.opType
		if n.domain != "" {
			name = n.domain + "." + name
		}
		s.Ops[name]++
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
