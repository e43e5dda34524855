package rknn

import (
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// setIoMem binds memory to an input or output (section 5). The attributes name the tensor and say how its bytes lie;
// the binding lasts until another one or the context's end.
func setIoMem(c *Context, m *spec.TensorMem, attr *spec.TensorAttr) error {
	r := memories.find(m)
	if r == nil {
		return invalid("mem is %p: this is no memory of rknn_create_mem or rknn_create_mem_from_fd, or it was "+
			"destroyed [rknn-mem-no-memory]", m)
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	i, input, err := c.tensorOf(attr)
	if err != nil {
		return err
	}
	b := &binding{memory: r, kind: attr.Kind, format: attr.Format}
	if input {
		b.input, b.raw, b.rows = true, attr.PassThrough != 0, attr.HStride
		if err := c.checkInput(i, b); err != nil {
			return err
		}
		c.tellFormula(i, attr.Kind, attr.Format, b.raw)
		c.in[i].bound = b
		return nil
	}
	if err := c.checkOutput(i, b, attr); err != nil {
		return err
	}
	c.out[i].bound = b
	return nil
}

// tensorOf finds the tensor that attributes name: by name, or, where the name is empty or serves an input and an
// output, by index and number of elements, inputs first (section 11).
func (c *Context) tensorOf(attr *spec.TensorAttr) (index int, input bool, err error) {
	name := textOf(attr.Name[:])
	find := func(ports []*port) int {
		for i, p := range ports {
			if p.Name == name {
				return i
			}
		}
		return -1
	}
	in, out := find(c.model.in), find(c.model.out)
	switch {
	case name != "" && in >= 0 && out < 0:
		return in, true, nil
	case name != "" && out >= 0 && in < 0:
		return out, false, nil
	case name != "" && in < 0 && out < 0:
		return 0, false, invalid("attr->name is %q: the model has the inputs %q and the outputs %q "+
			"[rknn-attr-name-model]", name, names(c.model.in),
			names(c.model.out))
	}
	fits := func(dims []int64) bool {
		n, _ := tensor.Count(dims)
		return int64(attr.Elems) == n || len(dims) == 4 && attr.Format == spec.NC1HWC2
	}
	i := int(attr.Index)
	switch {
	case i < len(c.in) && fits(c.inDims(i)):
		return i, true, nil
	case i < len(c.out) && fits(c.outDims(i)):
		return i, false, nil
	}
	return 0, false, invalid("attr->index is %d and attr->n_elems %d: no input or output has both, and attr->name, %q, "+
		"does not decide; the model has the inputs %q and the outputs %q "+
		"[rknn-attr-index-attr]", attr.Index, attr.Elems, name, names(c.model.in),
		names(c.model.out))
}

func (c *Context) checkInput(i int, b *binding) error {
	p, dims := c.model.in[i], c.inDims(i)
	if b.raw {
		b.kind = p.kind
		if native, _, _ := p.native(dims, true); b.format != native {
			b.format = p.format(true)
		}
	}
	if b.kind.Size() == 0 {
		return invalid("attr->type is %v: input %q takes RKNN_TENSOR_FLOAT32 to RKNN_TENSOR_BOOL and RKNN_TENSOR_BFLOAT16, "+
			"its own is %v [rknn-attr-type-input]", b.kind, p.Name, p.kind)
	}
	if native, _, _ := p.native(dims, true); len(dims) == 4 && b.format != native && (b.format == spec.Undefined ||
		!p.takes(b.format)) {
		return invalid("attr->fmt is %v: input %q takes %s [rknn-attr-fmt-input]", b.format, p.Name, p.takenFormats())
	}
	if len(dims) == 4 && b.rows != 0 && b.format == spec.NCHW && p.format(true) == spec.NHWC && int64(b.rows) != dims[2] {
		return invalid("attr->h_stride is %d: input %q has %d rows, and in RKNN_TENSOR_NCHW there are none "+
			"between images [rknn-attr-h-stride]",
			b.rows, p.Name, dims[2])
	}
	if len(dims) == 4 && b.rows != 0 && int64(b.rows) < dims[2] {
		return invalid("attr->h_stride is %d: input %q has %d rows and wants as many or more, or 0 for its own "+
			"[rknn-attr-h-stride-input]", b.rows,
			p.Name, dims[2])
	}
	if p.coded(b.kind) {
		b.raw = true
	}
	return b.checkSize(p, b.arrangement(p, dims))
}

func (c *Context) checkOutput(i int, b *binding, attr *spec.TensorAttr) error {
	p, dims := c.model.out[i], c.outDims(i)
	if b.kind != p.kind && b.kind != spec.Float32 {
		return invalid("attr->type is %v: output %q gives %v or RKNN_TENSOR_FLOAT32 "+
			"[rknn-attr-type-output]", b.kind, p.Name, p.kind)
	}
	if len(dims) == 4 && b.format > spec.NC1HWC2 {
		return invalid("attr->fmt is %v: output %q gives RKNN_TENSOR_NCHW, RKNN_TENSOR_NHWC or "+
			"RKNN_TENSOR_NC1HWC2 [rknn-attr-fmt-output]", b.format,
			p.Name)
	}
	if err := b.checkSize(p, b.arrangement(p, dims)); err != nil {
		return err
	}
	if have := b.memory.buf.Size(); have < int64(attr.SizeWithStride) {
		warn("memory is smaller than attr->size_with_stride, which a board would need "+
			"[rknn-memory-smaller-attr]", "function", "rknn_set_io_mem",
			"output", p.Name, "mem->size", have, "size_with_stride", attr.SizeWithStride)
	}
	return nil
}

// names lists inputs or outputs for messages.
func names(ports []*port) []string {
	list := make([]string, len(ports))
	for i, p := range ports {
		list[i] = p.Name
	}
	return list
}
