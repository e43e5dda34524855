package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// Fixed is an input whose open sizes were fixed while the model was read.
type Fixed struct {
	Shape  tensor.Shape // as the file declares it
	Opened bool         // the first size is 1 because nothing says another
}

// fix finds the sizes of the inputs of the main graph.
func (im *importer) fix(g *graphProto, inits map[string]bool) {
	var open []*valueInfo
	for _, v := range g.in {
		info := im.meta.Inputs[v.name]
		if len(info.Shapes) > 0 {
			return
		}
		if t, err := im.valueType(v); err == nil && !inits[v.name] && t.Shape.Ranked && !t.Shape.Static() &&
			info.Pixel == "" && info.Source == "" {
			open = append(open, v)
		}
	}
	im.fixed, im.sizes = map[string]Fixed{}, map[string]int64{}
	shapes := map[*valueInfo]tensor.Shape{}
	for _, v := range open {
		t, _ := im.valueType(v) // was read above
		shapes[v] = t.Shape
	}
	bind := func(v *valueInfo, k int, n int64) {
		d := v.dims[k]
		if _, bound := im.sizes[d.param]; !d.known && im.named(d.param) && !bound {
			im.sizes[d.param] = n
		}
	}
	for _, v := range open {
		if dims := im.meta.Inputs[v.name].Shape; takes(shapes[v], dims) {
			for k, n := range dims {
				bind(v, k, n)
			}
		}
	}
	for _, v := range open {
		fixed := Fixed{Shape: shapes[v]}
		d := v.dims
		if im.meta.Inputs[v.name].Shape == nil && len(d) > 0 && !shapes[v].Dims[0].Known() {
			if _, bound := im.sizes[d[0].param]; !bound || !im.named(d[0].param) {
				fixed.Opened = true
			}
		}
		im.fixed[v.name] = fixed
	}
	for _, v := range open {
		if im.fixed[v.name].Opened {
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
func (im *importer) fixedInput(v *valueInfo, t tensor.Type) tensor.Type {
	f, ok := im.fixed[v.name]
	if !ok {
		return t
	}
	if dims := im.meta.Inputs[v.name].Shape; takes(f.Shape, dims) {
		t.Shape = tensor.Of(dims...)
	} else if f.Opened {
		t.Shape = t.Shape.Clone()
		t.Shape.Dims[0] = tensor.D(1)
	}
	return t
}
