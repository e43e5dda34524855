package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// foldable reports the number of elements of a small result whose integer values inference carries along (see
// tensor.Fact.Ints).
func foldable(out tensor.Fact) (n int, ok bool) {
	if out.DType != tensor.Int32 && out.DType != tensor.Int64 && out.DType != tensor.Bool || out.Quant != nil {
		return 0, false
	}
	c, ok := out.Shape.Count()
	return int(c), ok && c <= tensor.MaxInts
}

// foldMap computes the values of a small integer result of the operands' broadcast shape element by element. f gets one
// Dim per operand, partly unknown, and returns the result's, AnyDim when it does not know. It returns nil when nothing
// is known. int32 results wrap around. uint64 operands are not followed, nor those that are repeated along some axes
// only: an operand has one element, or as many as the result, whose order is then the same.
func foldMap(out tensor.Fact, f func(v []tensor.Dim) tensor.Dim, in ...tensor.Fact) []tensor.Dim {
	n, ok := foldable(out)
	if !ok {
		return nil
	}
	vals := make([][]tensor.Dim, len(in))
	for i, x := range in {
		vals[i] = x.IntValues()
		if vals[i] == nil || len(vals[i]) != n && len(vals[i]) != 1 || x.Quant != nil || x.DType == tensor.Uint64 {
			return nil
		}
	}
	d := make([]tensor.Dim, n)
	arg := make([]tensor.Dim, len(in))
	some := n == 0
	for i := range d {
		for k, v := range vals {
			arg[k] = v[i%len(v)]
		}
		d[i] = f(arg)
		if d[i].Known() && out.DType == tensor.Int32 {
			d[i].N = int64(int32(d[i].N))
		}
		some = some || d[i].Sym != tensor.Unknown
	}
	if !some {
		return nil
	}
	return d
}

// foldUnary is foldMap for one operand whose element must be known.
func foldUnary(in []tensor.Fact, out tensor.Fact, f func(a int64) int64) []tensor.Dim {
	return foldMap(out, func(v []tensor.Dim) tensor.Dim {
		if !v[0].Known() {
			return tensor.AnyDim()
		}
		return tensor.D(f(v[0].N))
	}, in[0])
}

// foldInts is foldMap for two operands where both elements must be known; f's ok false means that the value stays
// unknown.
func foldInts(in []tensor.Fact, out tensor.Fact, f func(a, b int64) (int64, bool)) []tensor.Dim {
	return foldMap(out, func(v []tensor.Dim) tensor.Dim {
		if v[0].Known() && v[1].Known() {
			if r, ok := f(v[0].N, v[1].N); ok {
				return tensor.D(r)
			}
		}
		return tensor.AnyDim()
	}, in[0], in[1])
}

// foldNeutral is foldInts for an operator that returns one operand unchanged, symbol and all, when the other is
// neutral: x+0, x*1. right tells that only the second operand may be neutral: x-0, x/1.
func foldNeutral(in []tensor.Fact, out tensor.Fact, neutral int64, right bool,
	f func(a, b int64) (int64, bool)) []tensor.Dim {
	return foldMap(out, func(v []tensor.Dim) tensor.Dim {
		a, b := v[0], v[1]
		switch {
		case b.Known() && b.N == neutral:
			return a
		case !right && a.Known() && a.N == neutral:
			return b
		case a.Known() && b.Known():
			if r, ok := f(a.N, b.N); ok {
				return tensor.D(r)
			}
		}
		return tensor.AnyDim()
	}, in[0], in[1])
}

// foldBool is foldInts for a comparison.
func foldBool(in []tensor.Fact, out tensor.Fact, f func(a, b int64) bool) []tensor.Dim {
	return foldInts(in, out, func(a, b int64) (int64, bool) {
		if f(a, b) {
			return 1, true
		}
		return 0, true
	})
}

// strides returns how many elements lie between neighbours on each axis of a contiguous tensor whose sizes are known.
func strides(dims []tensor.Dim) []int {
	s, n := make([]int, len(dims)), 1
	for a := len(dims) - 1; a >= 0; a-- {
		s[a] = n
		n *= int(dims[a].N)
	}
	return s
}

// stepped returns the values of a box of the given sizes in row-major order: the first is v[first], and its neighbours
// on an axis lie step[axis] elements of v apart.
func stepped(v []tensor.Dim, first int, sizes []tensor.Dim, step []int) []tensor.Dim {
	out := []tensor.Dim{}
	if slices.Contains(sizes, tensor.D(0)) {
		return out
	}
	var visit func(at, axis int)
	visit = func(at, axis int) {
		if axis == len(sizes) {
			out = append(out, v[at])
			return
		}
		for i := range int(sizes[axis].N) {
			visit(at+i*step[axis], axis+1)
		}
	}
	visit(first, 0)
	return out
}

// foldSame carries the values of x, symbols included, to a result that holds the same numbers.
func foldSame(x, out tensor.Fact) []tensor.Dim {
	return foldMap(out, func(v []tensor.Dim) tensor.Dim { return v[0] }, x)
}
