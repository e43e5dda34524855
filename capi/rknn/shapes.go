package rknn

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// chooseShapes finds the sets of shapes that a model runs with: the listed ones of a dynamic model, else the only one.
// An open first dimension without a list becomes 1, as the vendor's converter makes it.
func (m *model) chooseShapes(g *graph.Graph, im *onnx.Model) error {
	sets, err := m.listedShapes()
	if err != nil {
		return err
	}
	m.dynamic = sets != nil
	if sets == nil {
		only := make([][]int64, len(m.in))
		for i, p := range m.in {
			if only[i], err = p.staticDims(); err != nil {
				return err
			}
		}
		setDims(g, only)
		sets = [][][]int64{only}
	}
	best := int64(-1)
	for s, dims := range sets {
		own, err := infer(g, dims)
		if err != nil {
			return fault.Wrap(err, "with inputs of %v", dims)
		}
		if err := checkCustoms(own, im); err != nil {
			return err
		}
		set := shapeSet{in: dims}
		for i, v := range own.Out {
			d, ok := own.Fact(v).Shape.Ints()
			if !ok {
				return fault.New(fault.Shape, "output %q has the shape %s, which only a run can tell: the API needs it before",
					m.out[i].name, im.ShapeText(own.Fact(v).Shape))
			}
			set.out = append(set.out, d)
		}
		if err := m.checkSizes(set); err != nil {
			return err
		}
		total := int64(0)
		for _, d := range dims {
			n, _ := tensor.Count(d)
			total += n
		}
		if total > best {
			best, m.largest, m.inner = total, s, valueBytes(own)
		}
		m.shapes = append(m.shapes, set)
		if m.rows != nil {
			m.rows = append(m.rows, describe(own, im.Nodes))
		}
	}
	return nil
}

// checkSizes refuses tensors whose numbers of bytes do not fit into the API's 32 bits, reals taken as float32.
func (m *model) checkSizes(set shapeSet) error {
	for k, ports := range [][]*port{m.in, m.out} {
		dims := [][][]int64{set.in, set.out}[k]
		for i, p := range ports {
			if n, ok := tensor.Count(dims[i]); !ok || n > 1<<28 {
				return fault.New(fault.Shape, "%q has the shape %v: want at most %d elements", p.name, dims[i], 1<<28)
			}
		}
	}
	return nil
}

// staticDims are the sizes of an input of a model without a list of shapes.
func (p *port) staticDims() ([]int64, error) {
	out := make([]int64, len(p.shape.Dims))
	for i, d := range p.shape.Dims {
		switch {
		case d.Known():
			out[i] = d.N
		case i == 0:
			warn("the open first dimension is taken as 1: anynpu.input.NAME.shapes in the model's metadata lists others",
				"input", p.name, "shape", p.declared)
			out[i] = 1
		default:
			return nil, fault.New(fault.Shape, "input %q has the shape %s: list the shapes to run with in "+
				"anynpu.input.%s.shapes of the model's metadata, or set sizes of open dimensions in anynpu.dim.NAME", p.name,
				p.declared, p.name)
		}
	}
	return out, nil
}

// listedShapes reads the sets of a dynamic model from its metadata, nil if there are none. Inputs without a list keep
// their shape.
func (m *model) listedShapes() ([][][]int64, error) {
	count := 0
	for _, p := range m.in {
		n := len(p.info.Shapes)
		switch {
		case n > maxShapes:
			return nil, fault.New(fault.File, "anynpu.input.%s.shapes has %d shapes: want at most %d", p.name, n, maxShapes)
		case n > 0 && count > 0 && n != count:
			return nil, fault.New(fault.File, "anynpu.input.%s.shapes has %d shapes, that of another input %d: want as many",
				p.name, n, count)
		case n > 0:
			count = n
		}
	}
	if count == 0 {
		return nil, nil
	}
	sets := make([][][]int64, count)
	for s := range sets {
		for _, p := range m.in {
			if len(p.info.Shapes) == 0 {
				d, err := p.staticDims()
				if err != nil {
					return nil, err
				}
				sets[s] = append(sets[s], d)
				continue
			}
			d := p.info.Shapes[s]
			if _, ok := p.shape.Merge(tensor.Of(d...)); !ok || slices.Min(append([]int64{1}, d...)) < 1 {
				return nil, fault.New(fault.File, "anynpu.input.%s.shapes: %v does not fit the input's shape %s", p.name, d,
					p.declared)
			}
			sets[s] = append(sets[s], d)
		}
	}
	return sets, nil
}

// setInputShape is the form for models with one input that rknn_set_input_shapes replaced.
func setInputShape(c *Context, attr *TensorAttr) error {
	if n := len(c.model.in); n != 1 {
		return invalid("ctx has a model of %d inputs: rknn_set_input_shape serves models of one, rknn_set_input_shapes all",
			n)
	}
	return setInputShapes(c, []TensorAttr{*attr})
}

// setInputShapes chooses one of the listed sets (section 6). Dimensions are given in the format that the attributes
// have from a query. A static model takes its own shapes; whatever else it is given is RKNN_ERR_MODEL_INVALID, by which
// clients know such a model.
func setInputShapes(c *Context, attrs []TensorAttr) error {
	m := c.model
	set, err := m.findShapes(attrs)
	if err != nil {
		if !m.dynamic {
			return refuseFor(errModel, err, "ctx has a model whose shapes are fixed")
		}
		return err
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	return c.useShapes(set)
}

// findShapes returns the index of the set with the shapes that a program gives.
func (m *model) findShapes(attrs []TensorAttr) (int, error) {
	if len(attrs) != len(m.in) {
		return 0, invalid("n_inputs is %d: the model has %s, and all get their shapes together", len(attrs),
			counted(len(m.in), "input"))
	}
	dims := make([][]int64, len(m.in))
	for k := range attrs {
		a := &attrs[k]
		if int(a.index) >= len(m.in) || dims[a.index] != nil {
			return 0, invalid("attr[%d].index is %d: the model has %s, and wants each once", k, a.index,
				indexed(len(m.in), "input"))
		}
		p := m.in[a.index]
		if int(a.rank) != len(p.shape.Dims) {
			return 0, invalid("attr[%d].n_dims is %d: input %q has %d dimensions", k, a.rank, p.name, len(p.shape.Dims))
		}
		d := make([]int64, a.rank)
		for i := range d {
			d[i] = int64(a.dims[i])
		}
		if len(d) == 4 && (a.format == NHWC || a.format == Undefined && p.format(true) == NHWC) {
			d = []int64{d[0], d[3], d[1], d[2]}
		}
		dims[a.index] = d
	}
	set := slices.IndexFunc(m.shapes, func(s shapeSet) bool { return slices.EqualFunc(s.in, dims, slices.Equal) })
	if set < 0 {
		list := make([][][]int64, 0, len(m.shapes))
		for _, s := range m.shapes[:min(len(m.shapes), 8)] {
			list = append(list, s.in)
		}
		return 0, failed("attr[].dims are %v, in the model's order: the model runs with %v", dims, list)
	}
	return set, nil
}
