package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// moved is the fact of an output that holds elements of input x in shape s. axis maps a dimension of x to the dimension
// of the result that has the same steps, -1 when there is none; nil maps none. It decides what becomes of a
// quantization per axis: where nothing carries the scales over, the output must declare its own.
func moved(declared tensor.Type, x tensor.Fact, s tensor.Shape, axis func(a int) int) (tensor.Fact, error) {
	if declared.Quant != nil && x.Quant == nil && x.DType != tensor.Invalid {
		return tensor.Fact{}, fault.New(fault.Type, "input 0: %v is not quantized, the declared output is", x.Type)
	}
	if declared.Quant != nil || x.Quant == nil || x.Quant.IsPerTensor() {
		return outType(declared, x, s), nil
	}
	if a, r := x.Quant.Axis, x.Shape.Rank(); a < 0 || r >= 0 && a >= r {
		return tensor.Fact{}, fault.New(fault.Argument, "input 0: quantization axis %d of %v", a, x.Type)
	}
	a := -1
	if axis != nil {
		a = axis(x.Quant.Axis)
	}
	if a < 0 || a != x.Quant.Axis && x.Quant.Block > 0 {
		return tensor.Fact{}, fault.New(fault.Unsupported, "input 0: scales along axis %d of %v do not carry over: the "+
			"output must declare its quantization", x.Quant.Axis, x.Shape)
	}
	out := outType(declared, x, s)
	if a != x.Quant.Axis {
		q := *x.Quant
		q.Axis = a
		out.Quant = &q
	}
	return out, nil
}

// sameAxis keeps every axis in its place but those in changed, whose steps are no longer the input's.
func sameAxis(changed ...int) func(a int) int {
	return func(a int) int {
		for _, c := range changed {
			if c == a {
				return -1
			}
		}
		return a
	}
}

// vector reads input i as a list of integers, of which some or all values may be unknown. known is false while not even
// their number is.
func vector(in []tensor.Fact, i int) (v []tensor.Dim, known bool, err error) {
	if err := wantVector(in, i); err != nil {
		return nil, false, err
	}
	return list(in, i)
}

// list is vector for a tensor of any rank, read in row-major order.
func list(in []tensor.Fact, i int) (v []tensor.Dim, known bool, err error) {
	if err := wantIndex(in, i); err != nil {
		return nil, false, err
	}
	n, ok := in[i].Shape.Count()
	if !ok {
		return nil, false, nil
	}
	if n > tensor.MaxInts {
		return nil, false, fault.New(fault.Unsupported, "input %d: want at most %d elements, got %v", i, tensor.MaxInts,
			in[i].Shape)
	}
	if v = in[i].IntValues(); int64(len(v)) == n {
		return v, true, nil
	}
	return anyDims(int(n)), true, nil
}

// single reads input i as one integer, AnyDim while it is unknown.
func single(in []tensor.Fact, i int) (tensor.Dim, error) {
	if err := wantIndex(in, i); err != nil {
		return tensor.Dim{}, err
	}
	if err := wantScalar(in, i); err != nil {
		return tensor.Dim{}, err
	}
	if v := in[i].IntValues(); len(v) == 1 {
		return v[0], nil
	}
	return tensor.AnyDim(), nil
}

// knownAll returns the numbers in v when all are known.
func knownAll(v []tensor.Dim) (n []int64, ok bool) {
	n = make([]int64, len(v))
	for i, d := range v {
		if !d.Known() {
			return nil, false
		}
		n[i] = d.N
	}
	return n, true
}

// anyDims returns n dimensions about which nothing is known.
func anyDims(n int) []tensor.Dim { return tensor.AnyOfRank(n).Dims }

// axesOf resolves a list of axes of a tensor of the given rank; none may occur twice.
func axesOf(v []int64, rank int) ([]int, error) {
	axes := make([]int, len(v))
	seen := make([]bool, rank)
	for i, x := range v {
		a, err := Axis(x, rank)
		if err != nil {
			return nil, err
		}
		if seen[a] {
			return nil, fault.New(fault.Argument, "axis %d is given twice", x)
		}
		seen[a] = true
		axes[i] = a
	}
	return axes, nil
}

// values returns the elements of a small integer tensor as far as inference knows them, with unknown ones where only
// their number is known; nil when the fact is not of the kind that carries values.
func values(f tensor.Fact) []tensor.Dim {
	n, ok := foldable(f)
	if !ok {
		return nil
	}
	if v := f.IntValues(); len(v) == n && v != nil {
		return v
	}
	return anyDims(n)
}

// carry sets the known values of a small integer result, unless nothing is known of them.
func carry(out *tensor.Fact, v []tensor.Dim) {
	n, ok := foldable(*out)
	if !ok || len(v) != n {
		return
	}
	for _, d := range v {
		if d.Sym != tensor.Unknown {
			out.Ints = v
			return
		}
	}
	if n == 0 {
		out.Ints = v
	}
}

// timesDims multiplies sizes. A symbol survives a product with ones, a zero wins over everything. A product that does
// not fit fails.
func timesDims(dims ...tensor.Dim) (tensor.Dim, error) {
	known := make([]int64, 0, len(dims))
	var open []tensor.Dim
	for _, d := range dims {
		if d.Known() {
			known = append(known, d.N)
		} else {
			open = append(open, d)
		}
	}
	n, ok := tensor.Count(known)
	switch {
	case !ok:
		return tensor.Dim{}, fault.New(fault.Memory, "a product of sizes %v is too large", tensor.OfDims(dims...))
	case n == 0 || len(open) == 0:
		return tensor.D(n), nil
	case n == 1 && len(open) == 1:
		return open[0], nil
	}
	return tensor.AnyDim(), nil
}

// plusDims adds sizes. A symbol survives a sum with zeros. A sum that does not fit fails.
func plusDims(dims ...tensor.Dim) (tensor.Dim, error) {
	sum := tensor.D(0)
	for _, d := range dims {
		switch {
		case d.Known() && sum.Known():
			if d.N > 0 && sum.N > math.MaxInt64-d.N || d.N < 0 && sum.N < math.MinInt64-d.N {
				return sum, fault.New(fault.Memory, "a sum of sizes %v is too large", tensor.OfDims(dims...))
			}
			sum.N += d.N
		case d.Known() && d.N == 0:
		case sum.Known() && sum.N == 0:
			sum = d
		default:
			sum = tensor.AnyDim()
		}
	}
	return sum, nil
}

// meet returns what is known of a size that two inputs share; ok is false when they contradict each other.
func meet(a, b tensor.Dim) (d tensor.Dim, ok bool) {
	switch {
	case a.Known() && b.Known():
		return a, a.N == b.N
	case b.Known() || a.Sym == tensor.Unknown:
		return b, true
	}
	return a, true
}

// wantDims checks that no known size of a shape that a program gives is negative, and returns the shape.
func wantDims(v []tensor.Dim) (tensor.Shape, error) {
	for i, d := range v {
		if d.Known() && d.N < 0 {
			return tensor.Shape{}, fault.New(fault.Argument, "size %d is %d: want 0 or more", i, d.N)
		}
	}
	return tensor.OfDims(append([]tensor.Dim(nil), v...)...), nil
}
