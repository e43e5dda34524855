package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// reduction infers a reduction of input 0 along the axes in input 1, which may be absent. An axis named twice counts
// once.
func reduction(in []tensor.Fact, declared []tensor.Type, what string, ok func(tensor.Type) bool, keepDims,
	emptyKeeps bool) ([]tensor.Fact, error) {
	if err := arity(in, 1, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, what, ok); err != nil {
		return nil, err
	}
	if present(in, 1) {
		if err := wantIndex(in, 1); err != nil {
			return nil, err
		}
		if err := wantVector(in, 1); err != nil {
			return nil, err
		}
	}
	x := in[0].Shape
	like := in[0]
	axes, known := reduceAxes(in)
	if !x.Ranked || !known {
		return []tensor.Fact{outType(declared[0], like, reducedOpen(in, keepDims, emptyKeeps))}, nil
	}
	mask, err := AxisMask(axes, x.Rank())
	if err != nil {
		return nil, fault.Wrap(err, "input 1")
	}
	if len(axes) == 0 && !emptyKeeps {
		for i := range mask {
			mask[i] = true
		}
	}
	return []tensor.Fact{outType(declared[0], like, reducedShape(x, mask, keepDims))}, nil
}

// reduceAxes returns the axes in input 1, none when it is absent; ok is false while they are unknown.
func reduceAxes(in []tensor.Fact) (axes []int64, ok bool) {
	if !present(in, 1) {
		return nil, true
	}
	if n, ok := in[1].Shape.Count(); ok && n == 0 {
		return nil, true
	}
	return in[1].KnownInts()
}

// reducedOpen is the shape as far as it is known before rank or axes are.
func reducedOpen(in []tensor.Fact, keepDims, emptyKeeps bool) tensor.Shape {
	x := in[0].Shape
	axes, known := reduceAxes(in)
	switch {
	case known && len(axes) == 0 && emptyKeeps:
		return x
	case known && len(axes) == 0 && !keepDims:
		return tensor.Of()
	case !x.Ranked:
		return tensor.AnyShape()
	case keepDims:
		return tensor.AnyOfRank(x.Rank())
	}
	if n, ok := in[1].Shape.Count(); ok && n == 1 && x.Rank() > 0 {
		return tensor.AnyOfRank(x.Rank() - 1)
	}
	return tensor.AnyShape()
}

// reducedShape returns shape x without the masked dimensions, or with size 1 there.
func reducedShape(x tensor.Shape, mask []bool, keepDims bool) tensor.Shape {
	dims := make([]tensor.Dim, 0, len(x.Dims))
	for i, d := range x.Dims {
		switch {
		case !mask[i]:
			dims = append(dims, d)
		case keepDims:
			dims = append(dims, tensor.D(1))
		}
	}
	return tensor.OfDims(dims...)
}

// AxisMask marks the axes of a tensor with rank dimensions; kind fault.Argument when one is outside [-rank, rank).
func AxisMask(axes []int64, rank int) ([]bool, error) {
	mask := make([]bool, rank)
	for _, a := range axes {
		i, err := Axis(a, rank)
		if err != nil {
			return nil, err
		}
		mask[i] = true
	}
	return mask, nil
}

// foldReduce computes the one element that a list of known small integers, all of them reduced, becomes.
func foldReduce(x, out tensor.Fact, f func(a, b int64) int64) []tensor.Dim {
	v, ok := x.KnownInts()
	n, small := foldable(out)
	if !ok || !small || n != 1 || len(v) == 0 || x.Quant != nil || x.Shape.Rank() > 1 || x.DType == tensor.Uint64 {
		return nil
	}
	if c, known := x.Shape.Count(); !known || c != int64(len(v)) {
		return nil
	}
	r := v[0]
	for _, b := range v[1:] {
		r = f(r, b)
	}
	if out.DType == tensor.Int32 {
		r = int64(int32(r))
	}
	return []tensor.Dim{tensor.D(r)}
}
