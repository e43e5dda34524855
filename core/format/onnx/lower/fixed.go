package lower

import (
	"slices"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// fix finds the sizes of the inputs of the main graph.
func (m *Lowering) fix(g *proto.Graph, inits map[string]bool) {
	var open []*proto.ValueInfo
	for _, v := range g.In {
		info := m.meta.Inputs[v.Name]
		if len(info.Shapes) > 0 {
			return
		}
		if t, err := m.valueType(v); err == nil && !inits[v.Name] && t.Shape.Ranked && !t.Shape.Static() &&
			info.Pixel == "" && info.Source == "" {
			open = append(open, v)
		}
	}
	m.Fixed, m.sizes = map[string]Fixed{}, map[string]int64{}
	shapes := map[*proto.ValueInfo]tensor.Shape{}
	for _, v := range open {
		t, _ := m.valueType(v) // was read above
		shapes[v] = t.Shape
	}
	bind := func(v *proto.ValueInfo, k int, n int64) {
		d := v.Dims[k]
		if _, bound := m.sizes[d.Param]; !d.Known && m.named(d.Param) && !bound {
			m.sizes[d.Param] = n
		}
	}
	for _, v := range open {
		if dims := m.meta.Inputs[v.Name].Shape; takes(shapes[v], dims) {
			for k, n := range dims {
				bind(v, k, n)
			}
		}
	}
	for _, v := range open {
		fixed := Fixed{Shape: shapes[v]}
		d := v.Dims
		if m.meta.Inputs[v.Name].Shape == nil && len(d) > 0 && !shapes[v].Dims[0].Known() {
			if _, bound := m.sizes[d[0].Param]; !bound || !m.named(d[0].Param) {
				fixed.Opened = true
			}
		}
		m.Fixed[v.Name] = fixed
	}
	for _, v := range open {
		if m.Fixed[v.Name].Opened {
			bind(v, 0, 1)
		}
	}
}

// takes reports whether a shape may be of these sizes.
func takes(s tensor.Shape, dims []int64) bool {
	_, ok := s.Merge(tensor.Of(dims...))
	return dims != nil && ok && slices.Min(append([]int64{1}, dims...)) >= 1
}

// fixedInput is the type of an input of the main graph with the sizes that were fixed.
func (m *Lowering) fixedInput(v *proto.ValueInfo, t tensor.Type) tensor.Type {
	f, ok := m.Fixed[v.Name]
	if !ok {
		return t
	}
	if dims := m.meta.Inputs[v.Name].Shape; takes(f.Shape, dims) {
		t.Shape = tensor.Of(dims...)
	} else if f.Opened {
		t.Shape = t.Shape.Clone()
		t.Shape.Dims[0] = tensor.D(1)
	}
	return t
}
