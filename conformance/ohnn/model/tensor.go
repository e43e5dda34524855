// Package model is a model of the OH_NN C API as cases state it: tensors, operations, what is fed and what must come
// out, and how a library is made to compute it. The suites of operators and of networks share it; the form of a case
// is stated in operators/gen/case.py.
package model

import (
	"fmt"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// Body is the value of a tensor at run time. One of Data and Pattern gives an input's elements; of an output, Data or
// Check says what they must be.
type Body struct {
	Dims    []int32          `json:"dims"`
	Data    []numbers.Number `json:"data"`
	Pattern *numbers.Pattern `json:"pattern"`
	Check   *Check           `json:"check"`
}

// Count is the number of elements.
func (b *Body) Count() int {
	n := 1
	for _, d := range b.Dims {
		n *= int(d)
	}
	return n
}

// Numbers are the elements of what is fed.
func (b *Body) Numbers() []numbers.Number {
	if b.Pattern != nil {
		return b.Pattern.Numbers(b.Count())
	}
	return b.Data
}

// Quant is a tensor's quantization, one entry per tensor or per index of its first dimension.
type Quant struct {
	Scale []float64 `json:"scale"`
	Zero  []int32   `json:"zero"`
}

// Tensor is a tensor of the model.
type Tensor struct {
	Type    string           `json:"type"`
	Dims    []int32          `json:"dims"` // -1: left open by the model
	Quant   *Quant           `json:"quant"`
	Param   string           `json:"param"`   // parameter name without OH_NN_, empty for operands
	Data    []numbers.Number `json:"data"`    // value of a constant or parameter
	Pattern *numbers.Pattern `json:"pattern"` // the same in place of Data
	Feed    *Body            `json:"feed"`    // value of a model input
	Expect  *Body            `json:"expect"`  // expected value of an output
}

// Constant is the value of a constant or parameter, nil if the tensor is neither.
func (t *Tensor) Constant() []numbers.Number {
	if t.Pattern != nil {
		return t.Pattern.Numbers((&Body{Dims: t.Dims}).Count())
	}
	return t.Data
}

// Operation is one operation of a model; the lists hold indices of tensors.
type Operation struct {
	Op     string   `json:"op"` // without OH_NN_OPS_
	In     []uint32 `json:"in"`
	Params []uint32 `json:"params"`
	Out    []uint32 `json:"out"`
}

// Model is a model with what is fed and what must come out.
type Model struct {
	Tensors    []Tensor    `json:"tensors"`
	Operations []Operation `json:"operations"`
	Inputs     []uint32    `json:"inputs"` // in the order in which they are specified and run, as are the outputs
	Outputs    []uint32    `json:"outputs"`
	Tolerance
}

// Tolerance is how far results may lie from expected values: floats by Abs + Rel x |expected|, codes of quantized
// tensors by Steps. Integers and bools are exact.
type Tolerance struct {
	Rel   float64 `json:"rel"`
	Abs   float64 `json:"abs"`
	Steps int64   `json:"steps"`
}

// shapeError says that a result has another shape than it must have.
func shapeError(want, got []int32) error { return fmt.Errorf("want shape %v, got %v", want, got) }
