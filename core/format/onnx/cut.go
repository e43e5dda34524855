package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// cut makes the values that the metadata name (anynpu.inputs, anynpu.outputs) the inputs and outputs of the model: what
// lies before and behind them is left out. Inputs that are still needed stay, behind those that are named.
func cut(m *proto.Model, meta *metadata.Metadata) error {
	g := m.Graph
	if g == nil || meta.In == nil && meta.Out == nil {
		return nil
	}
	maker, known := map[string]*proto.Node{}, map[string]*proto.ValueInfo{}
	for _, n := range g.Nodes {
		for _, o := range n.Out {
			maker[o] = n
		}
	}
	for _, v := range slices.Concat(g.Values, g.Out, g.In) {
		known[v.Name] = v
	}
	if meta.Out != nil {
		g.Out = nil
		for _, name := range meta.Out {
			v := known[name]
			if v == nil && maker[name] == nil || name == "" {
				return fault.New(fault.File, "anynpu.outputs: the model has no value %q", name)
			}
			if v == nil {
				v = &proto.ValueInfo{Name: name}
			}
			g.Out = append(g.Out, v)
		}
	}
	named := map[string]bool{}
	var in []*proto.ValueInfo
	for _, name := range meta.In {
		v := known[name]
		if v == nil && maker[name] == nil || name == "" {
			return fault.New(fault.File, "anynpu.inputs: the model has no value %q", name)
		}
		named[name] = true
		in = append(in, inputOf(name, v, meta.Inputs[name].Shape))
	}
	needed := needed(g, maker, named)
	if meta.In != nil {
		for _, v := range g.In {
			if !named[v.Name] && needed[v.Name] {
				in = append(in, v)
			}
		}
		g.In = in
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *proto.Node) bool {
		return !slices.ContainsFunc(n.Out, func(o string) bool { return needed[o] && !named[o] })
	})
	for _, n := range g.Nodes {
		for i, o := range n.Out {
			if named[o] { // the node stays for another result
				n.Out[i] = ""
			}
		}
	}
	return nil
}

// inputOf is the declaration of a value that becomes an input: real numbers of the shape in the metadata where the
// model does not say otherwise.
func inputOf(name string, v *proto.ValueInfo, shape []int64) *proto.ValueInfo {
	own := proto.ValueInfo{Name: name, Kind: "tensor"}
	if v != nil {
		own = *v
	}
	if own.DType == 0 {
		own.DType = 1 // FLOAT
	}
	if !own.Ranked && shape != nil {
		own.Ranked = true
		for _, d := range shape {
			own.Dims = append(own.Dims, proto.Dimension{Value: d, Known: true})
		}
	}
	return &own
}

// needed are the names that outputs depend on. The nodes that make an input are passed over.
func needed(g *proto.Graph, maker map[string]*proto.Node, inputs map[string]bool) map[string]bool {
	need := map[string]bool{}
	var open []string
	for _, o := range g.Out {
		open = append(open, o.Name)
	}
	for len(open) > 0 {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		if name == "" || need[name] {
			continue
		}
		need[name] = true
		if n := maker[name]; n != nil && !inputs[name] {
			open = append(open, n.Needs()...)
		}
	}
	return need
}
