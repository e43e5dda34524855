package model

import (
	"slices"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
)

// Ports makes the integers of quantized inputs and outputs cross the border of the graph (ExposeQuantized) and
// describes all ports. Kind fault.Shape for an open number of dimensions, fault.File for metadata that do not fit.
func (m *Model) Ports() (in, out []*Port, err error) {
	g := m.Graph
	for _, v := range g.In {
		p := m.port(v, m.InputInfo(v))
		p.Image, p.Fixed = m.Images[v], p.Shape
		if f, ok := m.Model.Fixed[p.Name]; ok && p.Image == nil {
			p.Shape, p.Declared, p.opened = f.Shape, m.ShapeText(f.Shape), f.Opened
		}
		in = append(in, p)
	}
	for _, v := range g.Out {
		p := m.port(v, metadata.Input{})
		p.Says = m.Meta.Outputs[p.Name]
		out = append(out, p)
	}
	quantIn, quantOut := expose(g, m.perAxis, m.wide)
	for i, q := range slices.Concat(quantIn, quantOut) {
		if q != nil {
			p, v := slices.Concat(in, out)[i], slices.Concat(g.In, g.Out)[i]
			p.Quant, p.Type = convert.CodeOf(q), g.Fact(v).DType
			if p.Quant == nil {
				p.PerAxis = q
			}
		}
	}
	for i, p := range in {
		g.In[i] = m.channelsFirst(p, m.reshape(p, g.In[i], true))
	}
	for i, p := range out {
		g.Out[i] = m.reshape(p, g.Out[i], false)
	}
	m.findOrders(in, out)
	m.findRanks(in, out)
	if err := m.boundOutputs(out); err != nil {
		return nil, nil, err
	}
	m.strangers(out)
	for i, p := range slices.Concat(in, out) {
		if !p.Shape.Ranked {
			return nil, nil, fault.New(fault.Shape, "%q%s has an open number of dimensions: declare its shape among the "+
				"model's %s", p.Name, m.madeBy(p.Name), map[bool]string{true: "inputs", false: "outputs"}[i < len(in)])
		}
		if err := p.checkNormalization(); err != nil {
			return nil, nil, err
		}
	}
	return in, out, nil
}
