package ref

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.Einsum, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if in[0].Quant == nil && in[0].DType.IsInt() {
			y := like(out[0])
			err := einsum(o, in, integersOf, func(i int, v int64) {
				if out[0].DType.Bits() == 64 {
					view[int64](y)[i] = v
				} else {
					view[int32](y)[i] = int32(v)
				}
			})
			return []tensor.Tensor{y}, err
		}
		return computeReal(func(_ graph.Op, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
			y, put := realStore(out[0])
			return []tensor.Tensor{y}, einsum(o, in, reals, put)
		}, o, in, out)
	})
}

// integersOf returns the elements of a 32- or 64-bit integer tensor as int64, wrapping.
func integersOf(t tensor.Tensor) []int64 {
	v, _ := readInts(t.DType, t.Data, t.Count())
	return v
}

// labelled is an operand with a label for each dimension.
type labelled[T summable] struct {
	labels []int
	dims   []int64
	data   []T
}

func einsum[T summable](o *op.Einsum, in []tensor.Tensor, read func(tensor.Tensor) []T, put func(i int, v T)) error {
	ranks := make([]int, len(in))
	for i, t := range in {
		ranks[i] = len(t.Dims)
	}
	terms, out, err := o.Terms(ranks)
	if err != nil {
		return err
	}
	one := labelled[T]{data: []T{1}}
	acc := one
	for i, t := range in {
		later := slices.Clone(out)
		for _, labels := range terms[i+1:] {
			later = append(later, labels...)
		}
		// Labels that only this operand has are summed first, then those that only it and the product so far have.
		next, err := contract(labelled[T]{terms[i], t.Dims, read(t)}, one, append(slices.Clone(acc.labels), later...), nil)
		if err != nil {
			return err
		}
		var order []int
		if i == len(in)-1 {
			order = out
		}
		if acc, err = contract(acc, next, later, order); err != nil {
			return err
		}
	}
	for i, v := range acc.data {
		tick()
		put(i, v)
	}
	return nil
}

// contract multiplies two operands and sums over the labels that are not in keep. The result has the labels of order,
// or when that is nil the kept ones as they come; a size 1 broadcasts.
func contract[T summable](a, b labelled[T], keep, order []int) (labelled[T], error) {
	size := map[int]int64{}
	var kept, summed []int
	for _, x := range []labelled[T]{a, b} {
		for k, l := range x.labels {
			d, seen := size[l]
			if !seen || d == 1 {
				size[l] = x.dims[k]
			}
			switch {
			case seen:
			case slices.Contains(keep, l):
				kept = append(kept, l)
			default:
				summed = append(summed, l)
			}
		}
	}
	if order != nil {
		kept = order
	}
	sizes := func(labels []int) []int64 {
		d := make([]int64, len(labels))
		for i, l := range labels {
			d[i] = size[l]
		}
		return d
	}
	y := labelled[T]{labels: kept, dims: sizes(kept)}
	n, ok := tensor.Count(y.dims)
	if !ok || n > maxElements {
		return y, fault.As(fault.Memory, mem.ErrExhausted, "an intermediate product of %v is too large", y.dims)
	}
	y.data = alloc[T](n)
	inner := sizes(summed)
	if m, _ := tensor.Count(inner); m == 0 {
		return y, nil
	}
	outerA, outerB, innerA, innerB := a.strides(kept), b.strides(kept), a.strides(summed), b.strides(summed)
	eachIndex(y.dims, func(idx []int64, i int) {
		fromA, fromB := a.data[dot(idx, outerA):], b.data[dot(idx, outerB):]
		var s T
		eachIndex(inner, func(k []int64, _ int) { s += fromA[dot(k, innerA)] * fromB[dot(k, innerB)] })
		y.data[i] = s
	})
	return y, nil
}

// strides returns the distance between neighbours on each label, the sum of the distances where a label repeats, 0 for
// absent labels and sizes of 1.
func (x labelled[T]) strides(labels []int) []int64 {
	own := tensor.RowMajor(x.dims)
	s := make([]int64, len(labels))
	for i, l := range labels {
		for k, m := range x.labels {
			if m == l && x.dims[k] != 1 {
				s[i] += own[k]
			}
		}
	}
	return s
}
