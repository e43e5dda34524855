package onnx

import (
	"maps"
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// Summary describes the parts of a model without lowering it.
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

func portsOf(vs []*proto.ValueInfo, drop map[string]bool) []Port {
	out := []Port{}
	for _, v := range vs {
		if drop[v.Name] {
			continue
		}
		p := Port{Name: v.Name, Type: v.Kind}
		if d, err := proto.DTypeOf(v.DType); err == nil {
			p.Type = d.String()
		} else if v.DType == proto.StringType {
			p.Type = "string"
		}
		if v.Ranked {
			p.Dims = []string{}
		}
		for _, d := range v.Dims {
			switch {
			case d.Known:
				p.Dims = append(p.Dims, strconv.FormatInt(d.Value, 10))
			case d.Param != "":
				p.Dims = append(p.Dims, d.Param)
			default:
				p.Dims = append(p.Dims, "?")
			}
		}
		out = append(out, p)
	}
	return out
}

func (s *Summary) initializers(g *proto.Graph) map[string]bool {
	names := map[string]bool{}
	for _, t := range g.Inits {
		names[t.Name] = true
		s.External = s.External || t.Location == 1
		if typ, size, err := t.TypeAndSize(); err == nil {
			count, _ := typ.Shape.Count()
			s.Parameters += count
			s.Bytes += size
		}
	}
	return names
}

// Survey reads the structure of the model in data. Errors are of kind fault.File.
func Survey(data []byte) (*Summary, error) {
	p, err := proto.Parse(data)
	if err != nil {
		return nil, err
	}
	s := &Summary{Opsets: p.Opsets, IRVersion: p.IRVersion, Producer: p.Producer, Ops: map[string]int{}, Meta: p.Meta}
	s.Name = p.Graph.Name
	inits := s.initializers(p.Graph)
	s.In, s.Out = portsOf(p.Graph.In, inits), portsOf(p.Graph.Out, nil)
	s.graph(p.Graph)
	for _, f := range p.Functions {
		s.Functions = append(s.Functions, f.Domain+"."+f.Name)
		s.nodes(f.Nodes)
	}
	return s, nil
}

func (s *Summary) graph(g *proto.Graph) {
	for _, v := range slices.Concat(g.In, g.Out) {
		if v.Kind != "" && v.Kind != "tensor" && !slices.Contains(s.Kinds, v.Kind) {
			s.Kinds = append(s.Kinds, v.Kind)
		}
		s.Strings = s.Strings || v.DType == proto.StringType
	}
	s.nodes(g.Nodes)
}

func (s *Summary) nodes(nodes []*proto.Node) {
	for _, n := range nodes {
		s.Ops[n.Operator()]++
		for _, key := range slices.Sorted(maps.Keys(n.Attrs)) {
			a := n.Attrs[key]
			if a.G != nil {
				s.graph(a.G)
			}
			for _, g := range a.Graphs {
				s.graph(g)
			}
		}
	}
}

// SurveyFile is Survey of the file at path.
func SurveyFile(path string) (*Summary, error) {
	src, err := proto.OpenFile(path)
	if err != nil {
		return nil, fault.Wrap(err, "model %s", path)
	}
	defer src.Close()
	s, err := Survey(src.Data)
	return s, fault.Wrap(err, "model %s", path)
}
