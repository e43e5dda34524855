package rknn

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// chooseShapes finds the sets of shapes that a model runs with: the listed ones of a dynamic model, else the only one.
// An open first dimension without a list becomes 1, as the vendor's converter makes it.
func (m *sharedModel) chooseShapes(im *model.Model, in []*model.Port) error {
	for _, p := range in {
		if n := len(p.Info.Shapes); n > spec.MaxShapes {
			return fault.New(fault.File, "anynpu.input.%s.shapes has %d shapes: want at most %d "+
				"[rknn-anynpu-input-shapes]", p.Name, n, spec.MaxShapes)
		}
	}
	meant, err := model.ShapesOf(in)
	if err != nil {
		return err
	}
	for _, p := range meant.Opened {
		warn("the open first dimension is taken as 1: anynpu.input.NAME.shapes in the model's metadata lists "+
			"others [rknn-open-dimension-taken]",
			"input", p.Name, "shape", p.Declared)
	}
	m.dynamic = meant.Listed
	if !m.dynamic {
		model.SetSizes(im.Graph, meant.Sets[0])
	}
	best := int64(-1)
	for s, dims := range meant.Sets {
		own, err := model.WithSizes(im.Graph, dims)
		if err != nil {
			return fault.Wrap(err, "with inputs of %v", dims)
		}
		if err := checkCustoms(own, im); err != nil {
			return err
		}
		set := model.ShapeSet{In: dims}
		if set.Out, err = im.OutputDims(own); err != nil {
			return err
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
			best, m.largest, m.inner = total, s, model.ResultBytes(own)
		}
		m.shapes = append(m.shapes, set)
		if m.rows != nil {
			m.rows = append(m.rows, describe(own, im.Nodes))
		}
	}
	return nil
}

// checkSizes refuses tensors whose numbers of bytes do not fit into the API's 32 bits, reals taken as float32.
func (m *sharedModel) checkSizes(set model.ShapeSet) error {
	for k, ports := range [][]*port{m.in, m.out} {
		dims := [][][]int64{set.In, set.Out}[k]
		for i, p := range ports {
			if n, ok := tensor.Count(dims[i]); !ok || n > 1<<28 {
				return fault.New(fault.Shape, "%q has the shape %v: want at most %d elements "+
					"[rknn-shape-elements]", p.Name, dims[i], 1<<28)
			}
		}
	}
	return nil
}

// setInputShape is the form for models with one input that rknn_set_input_shapes replaced.
func setInputShape(c *Context, attr *spec.TensorAttr) error {
	if n := len(c.model.in); n != 1 {
		return invalid("ctx has a model of %d inputs: rknn_set_input_shape serves models of one, "+
			"rknn_set_input_shapes all [rknn-ctx-model-inputs]",
			n)
	}
	return setInputShapes(c, []spec.TensorAttr{*attr})
}

// setInputShapes chooses one of the listed sets (section 6). Dimensions are given in the format that the attributes
// have from a query. A static model takes its own shapes; whatever else it is given is RKNN_ERR_MODEL_INVALID, by which
// clients know such a model.
func setInputShapes(c *Context, attrs []spec.TensorAttr) error {
	m := c.model
	set, err := m.findShapes(attrs)
	if err != nil {
		if !m.dynamic {
			return refuseFor(spec.ErrModel, err, "ctx has a model whose shapes are fixed [rknn-ctx-model-shapes]")
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
func (m *sharedModel) findShapes(attrs []spec.TensorAttr) (int, error) {
	if len(attrs) != len(m.in) {
		return 0, invalid("n_inputs is %d: the model has %s, and all get their shapes together "+
			"[rknn-n-inputs-model-get]", len(attrs),
			counted(len(m.in), "input"))
	}
	dims := make([][]int64, len(m.in))
	for k := range attrs {
		a := &attrs[k]
		if int(a.Index) >= len(m.in) || dims[a.Index] != nil {
			return 0, invalid("attr[%d].index is %d: the model has %s, and wants each once "+
				"[rknn-attr-index-model]", k, a.Index,
				indexed(len(m.in), "input"))
		}
		p := m.in[a.Index]
		if int(a.Rank) != len(p.Shape.Dims) {
			return 0, invalid("attr[%d].n_dims is %d: input %q has %d dimensions "+
				"[rknn-attr-n-dims]", k, a.Rank, p.Name, len(p.Shape.Dims))
		}
		d := make([]int64, a.Rank)
		for i := range d {
			d[i] = int64(a.Dims[i])
		}
		if len(d) == 4 && (a.Format == spec.NHWC || a.Format == spec.Undefined && p.format(true) == spec.NHWC) {
			d = []int64{d[0], d[3], d[1], d[2]}
		}
		dims[a.Index] = d
	}
	set := slices.IndexFunc(m.shapes, func(s model.ShapeSet) bool { return slices.EqualFunc(s.In, dims, slices.Equal) })
	if set < 0 {
		list := make([][][]int64, 0, len(m.shapes))
		for _, s := range m.shapes[:min(len(m.shapes), 8)] {
			list = append(list, s.In)
		}
		return 0, failed("attr[].dims are %v, in the model's order: the model runs with %v "+
			"[rknn-attr-dims-model]", dims, list)
	}
	return set, nil
}

// checkCustoms refuses a model with an operator that a program computes whose results have shapes that the model does
// not declare.
func checkCustoms(g *graph.Graph, im *model.Model) error {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		o, ok := n.Op.(*op.Custom)
		if !ok {
			continue
		}
		for _, v := range n.Out {
			if v == graph.None {
				continue
			}
			if f := g.Fact(v); f.DType == tensor.Invalid || !f.Shape.Static() {
				name := g.Values[v].Name
				return fault.New(fault.Shape, "%s: its output %q is declared as %v%s: a custom operator wants type and sizes of "+
					"its outputs in the model's value_info or in anynpu.value.%s.shape of its metadata, which "+
					"may be \"as input 0\" [rknn-output-declared-custom]",
					customLabel(o, n), name, f.DType, im.ShapeText(f.Shape), name)
			}
		}
	}
	return nil
}
