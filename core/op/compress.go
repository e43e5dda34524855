package op

import (
	"errors"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Compress keeps the slices of x along an axis whose entry in cond is true.
//
// Inputs: x of any type; cond, bool [n], n at most the size of the axis: slices without an entry are dropped. Output: y
// of x's type; with Flatten x is first flattened and y is a list. An entry that is true beyond the axis fails the run
// with fault.Data. Source: ONNX Compress-11.
type Compress struct {
	Axis    int64 // negative counts from the end; unused with Flatten
	Flatten bool
}

func init() { graph.Register[*Compress]("compress", graph.Traits{DataDependent: true, Moves: true}) }

// Infer returns the rank, and the sizes off the axis.
func (o *Compress) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantType(in, 1, "bool", func(d tensor.DType) bool { return d == tensor.Bool }); err != nil {
		return nil, err
	}
	if err := wantRank(in, 1, 1); err != nil {
		return nil, err
	}
	if o.Flatten {
		return movedOne(declared, in[0], tensor.AnyOfRank(1), nil)
	}
	a, known, err := axisOf(in, 0, o.Axis)
	if err != nil || !known {
		out, err2 := movedOne(declared, in[0], tensor.AnyShape(), nil)
		return out, errors.Join(err, err2)
	}
	s := in[0].Shape.Clone()
	s.Dims[a] = tensor.AnyDim()
	if n, ok := o.count(in[1], in[0].Shape.Dims[a]); ok {
		s.Dims[a] = tensor.D(n)
	}
	return movedOne(declared, in[0], s, sameAxis(a))
}

// count is the number of entries of a constant that are true, ok false when one is beyond the axis.
func (o *Compress) count(cond tensor.Fact, size tensor.Dim) (n int64, ok bool) {
	if cond.Const == nil || !size.Known() {
		return 0, false
	}
	for k, b := range cond.Const.Data {
		if b == 0 {
			continue
		}
		if int64(k) >= size.N {
			return 0, false
		}
		n++
	}
	return n, true
}
