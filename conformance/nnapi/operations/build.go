package operations

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// variant is a way to turn a case into a model.
type variant struct {
	name     string
	inputs   bool // constant tensors are inputs of the model
	folded   bool // every second input is a constant
	truths   bool // true is any byte but 0
	memory   bool // constants come from memory, as do inputs and outputs
	open     bool // dimensions of inputs and outputs are unknown
	unranked bool // and their ranks
	relaxed  bool // float32 may be computed in float16
	scalars  bool // scalars are inputs of the model
	absent   bool // what is left out is left out by the execution
}

// variants are the ways to turn a case into models; the first one is the case as it is written.
var variants = []variant{{name: "as written"}, {name: "from memory", memory: true},
	{name: "constants as inputs", inputs: true}, {name: "inputs as constants", folded: true},
	{name: "other truths", truths: true}, {name: "other truths in constants", truths: true, folded: true},
	{name: "unknown dimensions", open: true}, {name: "unknown ranks", open: true, unranked: true},
	{name: "relaxed", relaxed: true}, {name: "scalars as inputs", scalars: true},
	{name: "left out by the execution", absent: true},
	{name: "scalars as inputs, left out by the execution", scalars: true, absent: true}}

// program is a model of a case, with what its executions bind.
type program struct {
	t       *nnapi.T
	c       *Case
	variant variant
	model   *nnapi.Model
	inputs  []uint32 // operands of the model
	outputs []uint32
	in      []*model.Operand // what is given for them
	out     []*model.Operand
}

// build makes the model of a case.
func (c *Case) build(t *nnapi.T, v variant) *program {
	p, in, out := c.operands(t, v)
	p.model.Operation(c.Op, in, out)
	p.model.Identify(nnapi.NoError, p.inputs, p.outputs)
	if v.relaxed {
		t.OK("Model_relaxComputationFloat32toFloat16", p.model.Handle, true)
	}
	p.model.Finish()
	return p
}

// operands begins the model of a case with the operands of its operation, of which it returns the indices.
func (c *Case) operands(t *nnapi.T, v variant) (p *program, in, out []uint32) {
	p = &program{t: t, c: c, variant: v, model: t.Model()}
	models := map[string]uintptr{}
	for i := range c.In {
		o := &c.In[i]
		if o.Model == "" {
			in = append(in, p.input(o))
			continue
		}
		if models[o.Model] == 0 {
			models[o.Model] = c.Models[o.Model].Build(t)
		}
		in = append(in, p.model.Sub(models[o.Model]))
	}
	for i := range c.Out {
		o := &c.Out[i]
		index := p.operand(o, p.dims(o))
		out = append(out, index)
		p.outputs, p.out = append(p.outputs, index), append(p.out, o)
	}
	return p, in, out
}

// input adds an argument of the operation.
func (p *program) input(o *model.Operand) uint32 {
	switch {
	case o.None && p.variant.absent:
		index := p.operand(o, []uint32{0})
		p.inputs, p.in = append(p.inputs, index), append(p.in, o)
		return index
	case o.None:
		index := p.operand(o, o.Dims)
		p.t.OK("Model_setOperandValue", p.model.Handle, index, nil, 0)
		return index
	case model.Types[o.Type].Scalar && !p.variant.scalars || o.Const && !p.variant.inputs || p.folds(o):
		return p.constant(p.operand(o, o.Dims), o)
	case o.Empty():
		return p.emptied(o)
	}
	index := p.operand(o, p.dims(o))
	p.inputs, p.in = append(p.inputs, index), append(p.in, o)
	return index
}

// folded are the places of the inputs that a variant makes constants: all but the last one that is no constant yet, as
// a model needs an input.
func (c *Case) folded() (at []int) {
	for i := range c.In {
		o := &c.In[i]
		if o.Model == "" && !o.None && !o.Const && !model.Types[o.Type].Scalar && !o.Empty() {
			at = append(at, i)
		}
	}
	return at[:max(len(at)-1, 0)]
}

// folds tells whether an input of the case is a constant of the variant.
func (p *program) folds(o *model.Operand) bool {
	return p.variant.folded && slices.ContainsFunc(p.c.folded(), func(i int) bool { return o == &p.c.In[i] })
}

// bytes are the elements of an operand as the variant gives them.
func (p *program) bytes(o *model.Operand) []byte {
	b := o.Bytes()
	if p.variant.truths && o.Type == "B8" {
		others := []byte{2, 0xff, 0x80, 1, 6}
		for i, x := range b {
			if x != 0 {
				b[i] = others[i%len(others)]
			}
		}
	}
	return b
}

// emptied makes a tensor without elements of one with some, which is an input of the model.
func (p *program) emptied(o *model.Operand) uint32 {
	n := uint32(len(o.Dims))
	given, begin, size := *o, make([]int32, n), make([]int32, n)
	given.Dims = slices.Clone(o.Dims)
	for i, d := range o.Dims {
		given.Dims[i], size[i] = max(d, 1), int32(d)
	}
	given.Data, given.Pattern = slices.Repeat([]numbers.Number{numbers.Int(1)}, given.Count()), nil
	from := p.operand(&given, p.dims(&given))
	p.inputs, p.in = append(p.inputs, from), append(p.in, &given)
	to := p.operand(o, make([]uint32, n))
	list := func(v []int32) uint32 { return nnapi.Value(p.model, p.model.Operand(nnapi.TensorInt32, n), v...) }
	p.model.Operation("SLICE", []uint32{from, list(begin), list(size)}, []uint32{to})
	return to
}

// dims are the dimensions with which the model declares an input or output. Those of scales and of the condition of IF
// are never unknown.
func (p *program) dims(o *model.Operand) []uint32 {
	switch {
	case p.c != nil && p.c.Op == "IF" && o == &p.c.In[0]:
		return o.Dims
	case len(o.Dims) == 0 || p.variant.unranked && o.Channel == nil:
		return nil
	case !p.variant.open && !o.Open && !o.Empty():
		return o.Dims
	}
	open := make([]uint32, len(o.Dims))
	if o.Channel != nil {
		open[*o.Channel] = o.Dims[*o.Channel]
	}
	return open
}

// operand adds an operand.
func (p *program) operand(o *model.Operand, dims []uint32) uint32 {
	return o.Declare(p.t, p.model, dims)
}

// constant gives an operand its value.
func (p *program) constant(index uint32, o *model.Operand) uint32 {
	b := p.bytes(o)
	if p.variant.memory && !model.Types[o.Type].Scalar {
		p.t.OK("Model_setOperandValueFromMemory", p.model.Handle, index, newPool(p.t, b).handle, 0, len(b))
		return index
	}
	return nnapi.Value(p.model, index, b...)
}
