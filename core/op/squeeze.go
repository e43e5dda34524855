package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Squeeze removes dimensions of size 1.
//
// Inputs: x of any type; axes?, integers: the dimensions to remove, each of size 1, repetitions allowed; absent or
// empty: every dimension of size 1. Output: y of x's type. Source: ONNX Squeeze-13, OH_NN_OPS_SQUEEZE,
// ANEURALNETWORKS_SQUEEZE.
type Squeeze struct{}

func init() {
	graph.Register[*Squeeze]("squeeze",
		graph.Traits{ShapeInputs: []int{1}, InPlace: []int{0}, Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer drops the dimensions.
func (*Squeeze) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	x := in[0].Shape
	var v []tensor.Dim
	known := true
	if present(in, 1) {
		var err error
		if v, known, err = vector(in, 1); err != nil {
			return nil, err
		}
	}
	list, all := knownAll(v)
	if !x.Ranked || !known || !all || len(v) == 0 && !x.Static() {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	drop := make([]bool, x.Rank())
	for i, d := range x.Dims {
		drop[i] = len(v) == 0 && d.N == 1
	}
	for _, a := range list {
		i, err := Axis(a, x.Rank())
		if err != nil {
			return nil, fault.Wrap(err, "input 1")
		}
		if d := x.Dims[i]; d.Known() && d.N != 1 {
			return nil, fault.New(fault.Shape, "input 1: axis %d of %v: want a dimension of 1", a, x)
		}
		drop[i] = true
	}
	dims := []tensor.Dim{}
	place := make([]int, x.Rank())
	for i, d := range x.Dims {
		place[i] = -1
		if !drop[i] {
			place[i] = len(dims)
			dims = append(dims, d)
		}
	}
	out, err := movedOne(declared, in[0], tensor.OfDims(dims...), func(a int) int { return placeOf(place, a) })
	if err == nil {
		carry(&out[0], values(in[0]))
	}
	return out, err
}

// placeOf returns v[i], -1 outside of v.
func placeOf(v []int, i int) int {
	if i < 0 || i >= len(v) {
		return -1
	}
	return v[i]
}
