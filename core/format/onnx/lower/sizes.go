package lower

import (
	"maps"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// valueType returns the declared type of a value.
func (m *Lowering) valueType(v *proto.ValueInfo) (tensor.Type, error) {
	if v.Kind != "tensor" && v.Kind != "" {
		return tensor.Type{}, fault.New(fault.Unsupported, "a value of kind %s is not supported; only tensors can be inputs",
			v.Kind)
	}
	t := tensor.Type{Shape: tensor.AnyShape()}
	if v.DType != 0 {
		d, err := proto.DTypeOf(v.DType)
		if err != nil {
			return t, err
		}
		t.DType = d
	}
	if !v.Ranked {
		return t, nil
	}
	dims := make([]tensor.Dim, len(v.Dims))
	for i, d := range v.Dims {
		switch {
		case d.Known && d.Value >= 0:
			dims[i] = tensor.D(d.Value)
		case m.named(d.Param):
			dims[i] = m.dim(d.Param)
		default:
			dims[i] = tensor.AnyDim()
		}
	}
	t.Shape = tensor.OfDims(dims...)
	return t, nil
}

// named reports whether a name of a dimension is one: what tools write for a size that they do not know is not, unless
// the metadata give it a size. Such dimensions have sizes of their own.
func (m *Lowering) named(param string) bool {
	switch param {
	case "", "?", "None", "-1":
		_, given := m.meta.Dims[param]
		return given
	}
	return true
}

// dim is the open dimension of a name, or the size that the metadata give it.
func (m *Lowering) dim(name string) tensor.Dim {
	if n, ok := m.meta.Dims[name]; ok {
		m.used[name] = true
		return tensor.D(n)
	}
	if n, ok := m.sizes[name]; ok {
		return tensor.D(n)
	}
	sym, ok := m.symbols[name]
	if !ok {
		sym = uint32(len(m.symbols) + 1)
		m.symbols[name] = sym
	}
	return tensor.Dim{Sym: sym}
}

// completed adds what the metadata say of the result name of an operator with these inputs to what the model declares
// of it. like is the input whose shape it has, -1: none.
func (m *Lowering) completed(name string, t tensor.Type, in []tensor.Fact) (full tensor.Type, like int, err error) {
	said, ok := m.meta.Values[name]
	if !ok || name == "" || !said.Made() {
		return t, -1, nil
	}
	m.used[name+"."] = true
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
			_, open := m.symbols[d.Name]
			_, sized := m.meta.Dims[d.Name]
			switch {
			case d.Name == "":
				dims[i] = tensor.D(d.Size)
			case open || sized:
				dims[i] = m.dim(d.Name)
			default:
				return t, -1, fault.New(fault.File, "%s: the model has no open dimension %q; there is: %s", key, d.Name,
					strings.Join(slices.Sorted(maps.Keys(m.symbols)), ", "))
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

// declaredSizes are the sizes of a declared shape, -1 for open ones. A size of 0 is one that a tool did not know.
func (m *Lowering) declaredSizes(o *proto.ValueInfo) []int64 {
	sizes := make([]int64, len(o.Dims))
	for i, d := range o.Dims {
		size, sized := m.meta.Dims[d.Param]
		if n, bound := m.sizes[d.Param]; bound && !sized {
			size, sized = n, true
		}
		switch {
		case d.Known && d.Value > 0:
			sizes[i] = d.Value
		case !d.Known && sized:
			m.used[d.Param] = true
			sizes[i] = size
		default:
			sizes[i] = -1
		}
	}
	return sizes
}
