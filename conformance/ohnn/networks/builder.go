package networks

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// builder makes a model operation by operation.
type builder struct {
	m model.Model
}

// parameter is a parameter of an operation.
type parameter = model.Tensor

// scalar is a parameter of one element, in the shape {1}.
func scalar(name, typeName string, v float64) parameter {
	return parameter{Param: name, Type: typeName, Dims: []int32{1}, Data: []numbers.Number{numbers.Real(v)}}
}

// rank0 is a parameter of rank 0.
func rank0(name, typeName string, v float64) parameter {
	return parameter{Param: name, Type: typeName, Data: []numbers.Number{numbers.Real(v)}}
}

// listed is a parameter that is a list.
func listed(name, typeName string, v []int64) parameter {
	return parameter{Param: name, Type: typeName, Dims: []int32{int32(len(v))}, Data: integers(v)}
}

func integers(v []int64) []numbers.Number {
	out := make([]numbers.Number, len(v))
	for i, x := range v {
		out[i] = numbers.Int(x)
	}
	return out
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// tensor adds a tensor.
func (b *builder) tensor(typeName string, dims []int32) uint32 {
	b.m.Tensors = append(b.m.Tensors, model.Tensor{Type: typeName, Dims: dims})
	return uint32(len(b.m.Tensors) - 1)
}

// like adds a tensor of the type and sizes of another one.
func (b *builder) like(x uint32) uint32 {
	return b.tensor(b.m.Tensors[x].Type, slices.Clone(b.m.Tensors[x].Dims))
}

// list adds a constant list of integers.
func (b *builder) list(typeName string, v ...int64) uint32 {
	x := b.tensor(typeName, []int32{int32(len(v))})
	b.m.Tensors[x].Data = integers(v)
	return x
}

// one adds a constant float32 of one element.
func (b *builder) one(v float32) uint32 {
	x := b.tensor("float32", []int32{1})
	b.m.Tensors[x].Data = []numbers.Number{numbers.Real(float64(v))}
	return x
}

// op adds an operation and returns its output.
func (b *builder) op(name string, in []uint32, out uint32, params ...parameter) uint32 {
	o := model.Operation{Op: name, In: in, Out: []uint32{out}}
	for _, p := range params {
		o.Params = append(o.Params, uint32(len(b.m.Tensors)))
		b.m.Tensors = append(b.m.Tensors, p)
	}
	b.m.Operations = append(b.m.Operations, o)
	return out
}
