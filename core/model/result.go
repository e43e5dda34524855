package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// strangers warns of metadata about outputs that the model does not have.
func (m *Model) strangers(out []*Port) {
	for _, name := range slices.Sorted(maps.Keys(m.Meta.Outputs)) {
		if !slices.ContainsFunc(out, func(p *Port) bool { return p.Name == name }) {
			o := m.Meta.Outputs[name]
			field := "layout"
			switch {
			case o.MaxShape != nil:
				field = "max_shape"
			case o.Codes != nil:
				field = "codes"
			case o.Native != "":
				field = "native"
			}
			m.Meta.Warnings = append(m.Meta.Warnings, fmt.Sprintf("anynpu.output.%s.%s: no output has that name", name, field))
		}
	}
}

// findOrders finds the ports of rank 4 whose own dimensions have the channels last: outputs that come straight from a
// transposition to that order, and inputs that all nodes transpose from it. Metadata have the last word on outputs.
func (m *Model) findOrders(in, out []*Port) {
	g := m.Graph
	uses, producers := g.Uses(), g.Producers()
	for i, p := range in {
		if p.Shape.Rank() == 4 && p.Image == nil {
			p.Last = m.turns(uses, g.In[i], []int64{0, 3, 1, 2})
		}
	}
	for i, p := range out {
		if p.Shape.Rank() != 4 {
			continue
		}
		at := producers[g.Out[i]]
		for at >= 0 && stays(g.Nodes[at].Op) {
			at = producers[g.Nodes[at].In[0]]
		}
		p.Last = at >= 0 && m.transposes(&g.Nodes[at], []int64{0, 2, 3, 1})
		if p.Says.Native != "" {
			p.Last = p.Says.Native == "nhwc"
		}
	}
}

// turns reports whether all that reads a value transposes it to an order of dimensions.
func (m *Model) turns(uses [][]int, v graph.Value, order []int64) bool {
	for _, at := range uses[v] {
		n := &m.Graph.Nodes[at]
		if !m.transposes(n, order) && !(stays(n.Op) && n.In[0] == v && m.turns(uses, n.Out[0], order)) {
			return false
		}
	}
	return len(uses[v]) > 0
}

// transposes reports whether a node puts the dimensions of its operand into an order.
func (m *Model) transposes(n *graph.Node, order []int64) bool {
	if _, ok := n.Op.(*op.Transpose); !ok || len(n.In) < 2 || n.In[1] == graph.None {
		return false
	}
	f := m.Graph.Fact(n.In[1])
	if f.Const == nil {
		return false
	}
	got, err := tensor.ReadInts(f.DType, f.Const.Data, len(order))
	return err == nil && slices.Equal(got, order)
}

// stays reports whether the elements of an operator's first operand stay where they are and mean the same.
func stays(o graph.Op) bool {
	switch o.(type) {
	case *op.Identity, *op.Quantize, *op.Dequantize, *op.Cast:
		return true
	}
	return false
}

// powers are the scales of codes of which the metadata say none: powers of two, so that most real numbers of a network
// keep as many digits as there is room for.
var powers = map[tensor.DType]float32{tensor.Int32: 1. / 65536, tensor.Int16: 1. / 256, tensor.Int8: 1. / 16}

// ShownCodes are the codes that programs see of an output of real numbers, nil for none, with one scale or one for each
// index of Axis, which counts the dimensions that programs see. dims are those. Kind fault.File for metadata that do
// not fit.
func (m *Model) ShownCodes(p *Port, dims []int64) (tensor.DType, *tensor.Quant, error) {
	c, key := p.Says.Codes, fmt.Sprintf("anynpu.output.%s.codes", p.Name)
	if c == nil {
		c, key = m.Meta.Codes, "anynpu.outputs.codes"
	}
	if c == nil {
		return tensor.Invalid, nil, nil
	}
	if !p.Type.IsFloat() || p.Quant != nil || p.PerAxis != nil {
		if p.Says.Codes != nil {
			m.Meta.Warnings = append(m.Meta.Warnings, fmt.Sprintf("%s: the output has %v already", key, p.Type))
		}
		return tensor.Invalid, nil, nil
	}
	q := &tensor.Quant{Scale: c.Scale, Axis: len(dims) - 1}
	if c.Axis != nil {
		if q.Axis = *c.Axis; q.Axis < 0 {
			q.Axis += len(dims)
		}
	}
	size := int64(1)
	if len(dims) > 0 {
		if q.Axis < 0 || q.Axis >= len(dims) {
			return 0, nil, fault.New(fault.File, "%s: axis is %d: the output has the shape %v", key, *c.Axis, dims)
		}
		size = dims[q.Axis]
	}
	if n := int64(len(q.Scale)); n > 1 && n != size {
		return 0, nil, fault.New(fault.File, "%s: scale has %d numbers: want 1, or %d, the size of dimension %d of %v", key,
			n, size, q.Axis, dims)
	}
	if q.Scale == nil {
		q.Scale = []float32{powers[c.Type]}
	}
	if len(q.Scale) == 1 && (c.Type == tensor.Int32 || c.Axis != nil) { // programs index by channel
		q.Scale = slices.Repeat(q.Scale, int(size))
	}
	q.Zero = make([]int32, len(q.Scale))
	return c.Type, q, nil
}

// CodesOf says which scale belongs to which element of a tensor of these sizes, the scales along its dimension axis.
func CodesOf(scales []float32, dims []int64, axis int) *convert.Codes {
	c := &convert.Codes{Inner: 1}
	for _, s := range scales {
		c.Of = append(c.Of, convert.Code{Scale: s})
	}
	for _, n := range dims[min(axis+1, len(dims)):] {
		c.Inner *= int(n)
	}
	return c
}
