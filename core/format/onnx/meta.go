package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// dim is the open dimension of a name, or the size that the metadata give it.
func (im *importer) dim(name string) tensor.Dim {
	if n, ok := im.meta.Dims[name]; ok {
		im.used[name] = true
		return tensor.D(n)
	}
	if n, ok := im.sizes[name]; ok {
		return tensor.D(n)
	}
	sym, ok := im.symbols[name]
	if !ok {
		sym = uint32(len(im.symbols) + 1)
		im.symbols[name] = sym
	}
	return tensor.Dim{Sym: sym}
}

// completed adds what the metadata say of the result name of an operator with these inputs to what the model declares
// of it. like is the input whose shape it has, -1: none.
func (im *importer) completed(name string, t tensor.Type, in []tensor.Fact) (full tensor.Type, like int, err error) {
	said, ok := im.meta.Values[name]
	if !ok || name == "" || !said.Made() {
		return t, -1, nil
	}
	im.used[name+"."] = true
	key := "anynpu.value." + name + ".shape"
	shape := tensor.AnyShape()
	like = said.Like - 1
	switch {
	case like >= len(in):
		return t, -1, fault.New(fault.File, "%s: input %d of %d", key, like, len(in))
	case like >= 0:
		shape = in[like].Shape
	case said.Shape != nil:
		dims := make([]tensor.Dim, len(said.Shape))
		for i, d := range said.Shape {
			_, open := im.symbols[d.Name]
			_, sized := im.meta.Dims[d.Name]
			switch {
			case d.Name == "":
				dims[i] = tensor.D(d.Size)
			case open || sized:
				dims[i] = im.dim(d.Name)
			default:
				return t, -1, fault.New(fault.File, "%s: the model has no open dimension %q; there is: %s", key, d.Name,
					strings.Join(slices.Sorted(maps.Keys(im.symbols)), ", "))
			}
		}
		shape = tensor.OfDims(dims...)
	}
	if t.Shape, ok = t.Shape.Merge(shape); !ok {
		return t, -1, fault.New(fault.File, "%s: %v, but the model declares %v", key, shape, t.Shape)
	}
	if t.DType != tensor.Invalid {
		return t, like, nil
	}
	for d := tensor.Invalid + 1; d.Valid(); d++ {
		if d.String() == said.Type {
			t.DType = d
		}
	}
	if said.Type == "" && len(in) > 0 {
		t.DType = in[max(like, 0)].DType
	}
	return t, like, nil
}

// namesOf are the names of the parsed model, without sizes of values, and with the sizes that the metadata give open
// dimensions.
func namesOf(m *proto.Model, meta map[string]string) *Names {
	inits := map[string]bool{}
	for _, t := range m.Graph.Inits {
		inits[t.Name] = true
	}
	n := &Names{In: portsOf(m.Graph.In, inits), Out: portsOf(m.Graph.Out, nil)}
	for _, p := range slices.Concat(n.In, n.Out) {
		for i, d := range p.Dims {
			if size, ok := meta["anynpu.dim."+d]; ok {
				p.Dims[i] = size
			}
		}
	}
	for _, node := range m.Graph.Nodes {
		n.Inner = append(n.Inner, node.Out...)
		n.Nodes = append(n.Nodes, node.Name)
	}
	return n
}

// overrules says which entries of a model stand against others that hold only where it is silent.
func overrules(own, below map[string]string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(below)) {
		if v, said := own[key]; said && !metadata.Same(v, below[key]) {
			list = append(list, fmt.Sprintf("%s is %.80s, not %.80s", key, v, below[key]))
		}
	}
	return list
}

// strangers tells of metadata for what the model does not have.
func (im *importer) strangers(g *graph.Graph) []string {
	names := make([]string, len(g.In))
	for i, v := range g.In {
		names[i] = g.Values[v].Name
	}
	list := im.meta.Strangers(im.opt.path, names)
	model := strings.TrimSpace("model " + im.opt.path)
	for _, name := range slices.Sorted(maps.Keys(im.meta.Dims)) {
		if !im.used[name] {
			list = append(list, fmt.Sprintf("%s: metadata for an open dimension %q, which it does not have", model, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(im.meta.Values)) {
		if v := im.meta.Values[name]; v.Made() && !im.used[name+"."] {
			list = append(list, fmt.Sprintf("%s: metadata for a value %q, which no operator of a foreign domain makes", model,
				name))
		}
	}
	return list
}

// ShapeText returns sizes with the names that the model gives open ones.
func (m *Model) ShapeText(s tensor.Shape) string { return shapeText(s, m.Symbols) }

func shapeText(s tensor.Shape, symbols []string) string {
	if !s.Ranked {
		return "[...]"
	}
	return "[" + strings.Join(dimTexts(s, symbols), ",") + "]"
}

// dimTexts are the sizes of a shape whose rank is known, with names for open ones.
func dimTexts(s tensor.Shape, symbols []string) []string {
	parts := make([]string, len(s.Dims))
	for i, d := range s.Dims {
		parts[i] = d.String()
		if !d.Known() && d.Sym != tensor.Unknown && d.Sym > 0 && int(d.Sym) <= len(symbols) {
			parts[i] = symbols[d.Sym-1]
		}
	}
	return parts
}

// Fixed is an input whose open sizes were fixed while the model was read.
type Fixed struct {
	Shape  tensor.Shape // as the file declares it
	Opened bool         // the first size is 1 because nothing says another
}

// fix finds the sizes of the inputs of the main graph.
func (im *importer) fix(g *proto.Graph, inits map[string]bool) {
	var open []*proto.ValueInfo
	for _, v := range g.In {
		info := im.meta.Inputs[v.Name]
		if len(info.Shapes) > 0 {
			return
		}
		if t, err := im.valueType(v); err == nil && !inits[v.Name] && t.Shape.Ranked && !t.Shape.Static() &&
			info.Pixel == "" && info.Source == "" {
			open = append(open, v)
		}
	}
	im.fixed, im.sizes = map[string]Fixed{}, map[string]int64{}
	shapes := map[*proto.ValueInfo]tensor.Shape{}
	for _, v := range open {
		t, _ := im.valueType(v) // was read above
		shapes[v] = t.Shape
	}
	bind := func(v *proto.ValueInfo, k int, n int64) {
		d := v.Dims[k]
		if _, bound := im.sizes[d.Param]; !d.Known && im.named(d.Param) && !bound {
			im.sizes[d.Param] = n
		}
	}
	for _, v := range open {
		if dims := im.meta.Inputs[v.Name].Shape; takes(shapes[v], dims) {
			for k, n := range dims {
				bind(v, k, n)
			}
		}
	}
	for _, v := range open {
		fixed := Fixed{Shape: shapes[v]}
		d := v.Dims
		if im.meta.Inputs[v.Name].Shape == nil && len(d) > 0 && !shapes[v].Dims[0].Known() {
			if _, bound := im.sizes[d[0].Param]; !bound || !im.named(d[0].Param) {
				fixed.Opened = true
			}
		}
		im.fixed[v.Name] = fixed
	}
	for _, v := range open {
		if im.fixed[v.Name].Opened {
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
func (im *importer) fixedInput(v *proto.ValueInfo, t tensor.Type) tensor.Type {
	f, ok := im.fixed[v.Name]
	if !ok {
		return t
	}
	if dims := im.meta.Inputs[v.Name].Shape; takes(f.Shape, dims) {
		t.Shape = tensor.Of(dims...)
	} else if f.Opened {
		t.Shape = t.Shape.Clone()
		t.Shape.Dims[0] = tensor.D(1)
	}
	return t
}
