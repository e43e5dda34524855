package rknn

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// inputsSet converts and copies inputs for the runs to come (section 4). Some inputs may be set alone; all are judged
// before the first is taken.
func inputsSet(c *Context, inputs []Input) error {
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if c.flags&flagInfoOnly != 0 {
		return failed("context was opened with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY (0x100) in flag: it answers " +
			"rknn_query only [rknn-context-opened-flag]")
	}
	if n := len(c.in); len(inputs) == 0 || len(inputs) > n {
		return invalid("n_inputs is %d: the model has %s [rknn-n-inputs-model]", len(inputs), some(n, "input", "set"))
	}
	for k := range inputs {
		if err := c.judge(k, &inputs[k]); err != nil {
			return err
		}
		if first := slices.IndexFunc(inputs[:k], func(in Input) bool { return in.index == inputs[k].index }); first >= 0 {
			return refuse(spec.ErrInput, "inputs[%d].index is %d: inputs[%d] has it too; the model has %s "+
				"[rknn-inputs-index-inputs]", k, inputs[k].index,
				first,
				indexed(len(c.in), "input"))
		}
	}
	return guarded("inputs: memory of buf", func() error {
		for k := range inputs {
			in := &inputs[k]
			i := int(in.index)
			p, dims := c.model.in[i], c.inDims(i)
			src := unsafe.Slice((*byte)(cPointer(in.buf)), int(in.size)) // may be longer than the part that is read
			c.in[i].given = false                                        // until it is whole
			order := p.sourceFormat(in.format, in.passThrough != 0).Order()
			s := p.source(in.kind, convert.Arrange(dims, convert.Layout{Order: order}), in.passThrough != 0)
			if err := c.exec.Stage(c.inPort(i), src, &s); err != nil {
				return err
			}
			c.in[i].given = true
		}
		return nil
	})
}

// judge checks one rknn_input in the order of section 11: index, pointer, type, size, format.
func (c *Context) judge(k int, in *Input) error {
	name := fmt.Sprintf("inputs[%d]", k)
	if int(in.index) >= len(c.in) {
		return refuse(spec.ErrInput, "%s.index is %d: the model has %s "+
			"[rknn-index-model]", name, in.index, indexed(len(c.in), "input"))
	}
	p, dims := c.model.in[in.index], c.inDims(int(in.index))
	if in.buf == 0 {
		return invalid("%s.buf is NULL: input %q wants the address of its elements [rknn-buf-null-input]", name, p.Name)
	}
	kind := in.kind
	if in.passThrough != 0 {
		kind = p.kind
	}
	if kind.Size() == 0 {
		return failed("%s.type is %v: input %q takes RKNN_TENSOR_FLOAT32 to RKNN_TENSOR_BOOL and RKNN_TENSOR_BFLOAT16, and "+
			"converts them to %v [rknn-type-input-takes]", name, in.kind, p.Name, p.kind)
	}
	n, _ := tensor.Count(dims)
	if need := n * kind.Size(); int64(in.size) < need {
		return invalid("%s.size is %d: %s [rknn-inputs-size]", name, in.size, p.explainSize(name, in, n, kind))
	}
	if err := boundary.CheckRange(cPointer(in.buf), uint64(n*kind.Size())); err != nil {
		return fault.Wrap(err, "%s.buf", name)
	}
	if len(dims) == 4 && in.passThrough == 0 && !p.takes(in.format) {
		return failed("%s.fmt is %v: input %q takes %s, unless anynpu.input.%s.layout in the model's metadata "+
			"says otherwise [rknn-fmt-input-takes]",
			name, in.format, p.Name, p.takenFormats(), p.Name)
	}
	c.tellFormula(int(in.index), in.kind, in.format, in.passThrough != 0)
	return nil
}

// explainSize says what an input takes, which field decides it, and which types the program's size would fit.
func (p *port) explainSize(name string, in *Input, n int64, kind spec.Type) string {
	if in.passThrough != 0 {
		return fmt.Sprintf("input %q takes its %d elements as %v, as %s.pass_through is %d, and wants %d bytes", p.Name, n,
			kind, name, in.passThrough, n*kind.Size())
	}
	text := fmt.Sprintf("input %q has %d elements, which as %v, the type in %s.type, take %d bytes", p.Name, n, kind, name,
		n*kind.Size())
	var fits []string
	for t := spec.Float32; t <= spec.BFloat16; t++ {
		if t.Size() != 0 && n*t.Size() == int64(in.size) {
			fits = append(fits, t.String())
		}
	}
	if fits != nil {
		text += fmt.Sprintf("; %d bytes fit %s", in.size, strings.Join(fits, ", "))
	}
	if fits != nil && in.kind == spec.Float32 {
		text += "; a type that was not set is 0, which is RKNN_TENSOR_FLOAT32"
	}
	return text
}

// tellFormula warns, once per model, what becomes of elements where that is left open: of bytes without mean and
// deviation, on which results depend, and of images whose order neither the program nor the metadata tell.
func (c *Context) tellFormula(i int, kind spec.Type, format spec.Format, raw bool) {
	p, told := c.model.in[i], &c.model.told
	if raw {
		return
	}
	c.tellPlanes(p, kind, format)
	pairs := []any{"input", p.Name, "type", kind, "formula", p.formula()}
	open := p.format(true) == spec.NHWC && p.Info.Layout == "" && format == spec.Undefined
	if open {
		pairs = append(pairs, "order", "taken as NHWC, turned to the model's NCHW")
	}
	switch {
	case p.bytesOpen(kind):
		if told.bytes.Swap(true) {
			return
		}
		remedy := fmt.Sprintf("set anynpu.input.%s.mean and anynpu.input.%s.std, 0 and 1 if the network takes the bytes as "+
			"they are: anynpu metadata writes them into the model", p.Name, p.Name)
		caution("an input gets bytes and the model's metadata give neither mean nor std: results are wrong if the network "+
			"wants them normalized [rknn-input-gets-bytes]", append(pairs, "remedy", remedy)...)
	case open && !told.order.Swap(true):
		warn("neither the program nor the model's metadata say in which order an image lies "+
			"[rknn-program-model-metadata]",
			append(pairs, "remedy", fmt.Sprintf("set fmt, or anynpu.input.%s.layout", p.Name))...)
	}
}

// bytesOpen says whether elements of a type are bytes that stand for reals with no mean and deviation to make those of.
func (p *port) bytesOpen(kind spec.Type) bool {
	switch {
	case p.Normalized() || p.Quant == nil && !p.Type.IsFloat():
		return false
	case kind == spec.Int8:
		return !p.coded(kind)
	}
	return kind == spec.Uint8
}
