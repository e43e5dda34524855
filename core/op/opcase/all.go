package opcase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Without are the operators that have no case, each with the reason.
var Without = map[string]string{
	"custom":      "a program supplies its function",
	"compiled":    "a whole model made by the compiler of a vendor",
	"anynpu.part": "a part of a saved program, which another device computes",
	"fail":        "it has no result: a run that meets it fails",
}

// All are the cases of all operators, those of one operator together, in the order of its names.
func All() []Case {
	list := slices.Concat(Shared(), OHNN(), NNAPI(), elementwise(), sums(), signals(), movement(), draws(), images(),
		bodies())
	slices.SortStableFunc(list, func(a, b Case) int { return cmp.Compare(graph.NameOf(a.Op), graph.NameOf(b.Op)) })
	return list
}

// The types that a case is tried in beside its own.
var (
	realKinds = []Operand{Of(tensor.Float16), Of(tensor.BFloat16), Of(tensor.Float64), Quantized(tensor.Int8, 0.0625),
		QuantizedAt(tensor.Uint8, 0.0625, 128)}
	plainKinds = []Operand{Of(tensor.Bool), Of(tensor.Int8), Of(tensor.Int16), Of(tensor.Int32), Of(tensor.Int64),
		Of(tensor.Uint8), Of(tensor.Uint16), Of(tensor.Uint32), Of(tensor.Uint64)}
)

// Typed are the case itself and the same in other element types: every operand of its main type gets another. Not every
// operator has every type: the reference refuses the others.
func (c Case) Typed() []Case {
	list := []Case{c}
	main := c.main()
	kinds := slices.Concat(realKinds, plainKinds)
	switch {
	case len(c.Out) > 0:
		return list
	case main == tensor.Int32:
		kinds = plainKinds
	case main == tensor.Bool:
		kinds = append(kinds, Of(tensor.Float32))
	case main != tensor.Float32:
		return list
	}
	for _, k := range kinds {
		if k.Type.DType != main || k.Type.Quant != nil {
			list = append(list, c.in(main, k.Type))
		}
	}
	return list
}

// main is the type of the operands that carry data: float32 if an input has it, else int32, else bool. Of a case whose
// operands are all constants it is the same among those.
func (c Case) main() tensor.DType {
	for _, constant := range []bool{false, true} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Int32, tensor.Bool} {
			if slices.ContainsFunc(c.In, func(o Operand) bool {
				return o.Type.DType == d && o.Type.Quant == nil && (o.Constant != nil) == constant
			}) {
				return d
			}
		}
	}
	return tensor.Invalid
}

// in is the case with operands of type to in place of those of type from.
func (c Case) in(from tensor.DType, to tensor.Type) Case {
	c.In = slices.Clone(c.In)
	for i, o := range c.In {
		if o.Type.DType == from && o.Type.Quant == nil {
			c.In[i] = o.as(to)
		}
	}
	return c
}

// as is an operand of another type, whose constant has the same numbers as far as the type has them.
func (o Operand) as(to tensor.Type) Operand {
	from := o.Type.DType
	o.Type.DType, o.Type.Quant = to.DType, to.Quant
	if o.Constant == nil {
		return o
	}
	n, _ := o.Type.Shape.Count()
	data := tensor.New(to.DType, n).Data
	for i := range int(n) {
		v := tensor.FloatAt(from, o.Constant, i)
		if !from.IsFloat() {
			v = float64(tensor.IntAt(from, o.Constant, i))
		}
		if to.Quant != nil {
			put(to.DType, data, i, 0, quantized(to, v))
		} else {
			put(to.DType, data, i, v, int64(v))
		}
	}
	o.Constant = data
	return o
}

// Types are the types of a case's operands as text, those that are left out as "-".
func (c Case) Types() string {
	var text []string
	for _, o := range c.In {
		switch {
		case o.Type.DType == tensor.Invalid:
			text = append(text, "-")
		case o.Constant != nil:
			text = append(text, "="+o.Type.String())
		default:
			text = append(text, o.Type.String())
		}
	}
	return strings.Join(text, " ")
}

// Halves is the case with type d, float16 or bfloat16, in the place of float32 in all its operands and declared
// results; changed: there was one among the operands or results.
func (c Case) Halves(d tensor.DType) (h Case, changed bool) {
	h = c.in(tensor.Float32, tensor.T(d))
	changed = slices.ContainsFunc(c.In, func(o Operand) bool { return o.Type.DType == tensor.Float32 })
	h.Out = slices.Clone(c.Out)
	for i, t := range h.Out {
		if t.DType == tensor.Float32 {
			h.Out[i].DType = d
			changed = true
		}
	}
	return h, changed
}
