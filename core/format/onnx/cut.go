package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
)

// cut makes the values that the metadata name (anynpu.inputs, anynpu.outputs) the inputs and outputs of the model: what
// lies before and behind them is left out. Inputs that are still needed stay, behind those that are named.
func (m *model) cut(meta *metadata.Metadata) error {
	g := m.graph
	if g == nil || meta.In == nil && meta.Out == nil {
		return nil
	}
	maker, known := map[string]*nodeProto{}, map[string]*valueInfo{}
	for _, n := range g.nodes {
		for _, o := range n.out {
			maker[o] = n
		}
	}
	for _, v := range slices.Concat(g.values, g.out, g.in) {
		known[v.name] = v
	}
	if meta.Out != nil {
		g.out = nil
		for _, name := range meta.Out {
			v := known[name]
			if v == nil && maker[name] == nil || name == "" {
				return fault.New(fault.File, "anynpu.outputs: the model has no value %q", name)
			}
			if v == nil {
				v = &valueInfo{name: name}
			}
			g.out = append(g.out, v)
		}
	}
	named := map[string]bool{}
	var in []*valueInfo
	for _, name := range meta.In {
		v := known[name]
		if v == nil && maker[name] == nil || name == "" {
			return fault.New(fault.File, "anynpu.inputs: the model has no value %q", name)
		}
		named[name] = true
		in = append(in, inputOf(name, v, meta.Inputs[name].Shape))
	}
	needed := g.needed(maker, named)
	if meta.In != nil {
		for _, v := range g.in {
			if !named[v.name] && needed[v.name] {
				in = append(in, v)
			}
		}
		g.in = in
	}
	g.nodes = slices.DeleteFunc(g.nodes, func(n *nodeProto) bool {
		return !slices.ContainsFunc(n.out, func(o string) bool { return needed[o] && !named[o] })
	})
	for _, n := range g.nodes {
		for i, o := range n.out {
			if named[o] { // the node stays for another result
				n.out[i] = ""
			}
		}
	}
	return nil
}

// inputOf is the declaration of a value that becomes an input: real numbers of the shape in the metadata where the model
// does not say otherwise.
func inputOf(name string, v *valueInfo, shape []int64) *valueInfo {
	own := valueInfo{name: name, kind: "tensor"}
	if v != nil {
		own = *v
	}
	if own.dtype == 0 {
		own.dtype = 1 // FLOAT
	}
	if !own.ranked && shape != nil {
		own.ranked = true
		for _, d := range shape {
			own.dims = append(own.dims, dimension{value: d, known: true})
		}
	}
	return &own
}

// needed are the names that outputs depend on. What makes an input is not asked what it needs for it.
func (g *graphProto) needed(maker map[string]*nodeProto, inputs map[string]bool) map[string]bool {
	need := map[string]bool{}
	var open []string
	for _, o := range g.out {
		open = append(open, o.name)
	}
	for len(open) > 0 {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		if name == "" || need[name] {
			continue
		}
		need[name] = true
		if n := maker[name]; n != nil && !inputs[name] {
			open = append(open, n.needs()...)
		}
	}
	return need
}
