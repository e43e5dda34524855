package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Split cuts x along an axis into as many pieces as the node has outputs.
//
// Inputs: x of any type; sizes?, integers [outputs]: the size of each piece, one of which may be -1 for the rest.
// Absent: equal pieces. Outputs: the pieces, of x's type. Source: ONNX Split-18, OH_NN_OPS_SPLIT,
// ANEURALNETWORKS_SPLIT.
type Split struct {
	Axis   int64 // negative counts from the end
	Ragged bool  // without sizes, a last piece that is smaller than the others is allowed
}

func init() {
	graph.Register[*Split]("split", graph.Traits{ShapeInputs: []int{1}, Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer returns the shapes of the pieces.
func (o *Split) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 2, declared, 1, math.MaxInt32); err != nil {
		return nil, err
	}
	x := in[0].Shape
	n := len(declared)
	out := make([]tensor.Fact, n)
	axis, known, err := axisOf(in, 0, o.Axis)
	if err != nil {
		return nil, err
	}
	size := tensor.AnyDim()
	if known {
		size = x.Dims[axis]
	}
	pieces, err := o.pieces(in, size, n)
	if err != nil {
		return nil, err
	}
	vals := values(in[0])
	at := int64(0)
	for i := range out {
		s := tensor.AnyShape()
		if known {
			s = x.Clone()
			s.Dims[axis] = pieces[i]
		}
		keep := sameAxis(axis)
		if n == 1 {
			keep = sameAxis()
		}
		if out[i], err = moved(declared[i], in[0], s, keep); err != nil {
			return nil, err
		}
		if !pieces[i].Known() {
			vals = nil
		} else if end := at + pieces[i].N; vals != nil && known && end >= at && end <= size.N {
			step := strides(x.Dims)
			carry(&out[i], stepped(vals, int(at)*step[axis], s.Dims, step))
			at = end
		}
	}
	return out, nil
}

// pieces returns the size of each of n pieces of a dimension.
func (o *Split) pieces(in []tensor.Fact, size tensor.Dim, n int) ([]tensor.Dim, error) {
	if present(in, 1) {
		v, known, err := vector(in, 1)
		if err != nil {
			return nil, err
		}
		if !known {
			return anyDims(n), nil
		}
		if len(v) != n {
			return nil, fault.New(fault.Argument, "input 1: %d sizes for %d outputs", len(v), n)
		}
		return givenPieces(v, size)
	}
	d := anyDims(n)
	switch {
	case n == 1:
		d[0] = size
	case size.Known():
		each := (size.N + int64(n) - 1) / int64(n)
		last := size.N - each*int64(n-1)
		if last < 0 || last != each && !o.Ragged {
			return nil, fault.New(fault.Shape, "input 0: a dimension of size %d does not split into %d equal pieces", size.N, n)
		}
		for i := range d {
			d[i] = tensor.D(each)
		}
		d[n-1] = tensor.D(last)
	}
	return d, nil
}

func givenPieces(v []tensor.Dim, size tensor.Dim) ([]tensor.Dim, error) {
	d := append([]tensor.Dim(nil), v...)
	rest, sum, open := -1, int64(0), false
	for i, x := range v {
		switch {
		case !x.Known():
			open = true
		case x.N == -1 && rest < 0:
			rest = i
		case x.N < 0 || x.N > math.MaxInt64-sum:
			return nil, fault.New(fault.Argument, "input 1: size %d is %d: want 0 or more, or -1 once", i, x.N)
		default:
			sum += x.N
		}
	}
	switch {
	case rest >= 0 && (open || !size.Known()):
		d[rest] = tensor.AnyDim()
	case rest >= 0:
		d[rest] = tensor.D(size.N - sum)
	}
	if size.Known() && !open && (sum > size.N || rest < 0 && sum != size.N) {
		return nil, fault.New(fault.Shape, "input 1: sizes %v do not add up to the dimension of size %d", tensor.OfDims(v...),
			size.N)
	}
	return d, nil
}
