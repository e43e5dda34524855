package ref

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.Compress, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, cond := in[0], in[1]
		dims, a := x.Dims, 0
		if o.Flatten {
			dims = []int64{int64(x.Count())}
		} else {
			var err error
			if a, err = op.Axis(o.Axis, len(dims)); err != nil {
				return nil, err
			}
		}
		outer, size, inner := around(dims, a)
		var kept []int
		for i, c := range cond.Data[:cond.Count()] {
			tick()
			if c != 0 {
				if i >= size {
					return nil, fault.New(fault.Data, "input 1: element %d is true, the axis has size %d", i, size)
				}
				kept = append(kept, i)
			}
		}
		return pick(x, out[0], dims, a, outer, size, inner, kept)
	})
	register(Real, func(_ *op.NonZero, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		rank := len(x.Dims)
		found := whereTrue(x)
		n := len(found)
		y := newTensor(tensor.Int64, int64(rank), int64(n))
		places := mem.Elements[int64](y.Data)
		inner := 1
		for d := rank - 1; d >= 0; d-- {
			size := int(x.Dims[d])
			inStretches(n, func(from, to int) {
				for i := from; i < to; i++ {
					places[d*n+i] = int64(found[i] / inner % size)
				}
			})
			inner *= size
		}
		return []tensor.Tensor{y}, nil
	})
}

// whereTrue lists the elements that are not 0.
func whereTrue(x tensor.Tensor) []int {
	size := x.DType.Bits()
	switch {
	case size == 8 && !x.DType.IsFloat():
		return whereBits[uint8](x, math.MaxUint8)
	case x.DType == tensor.Float16 || x.DType == tensor.BFloat16:
		return whereBits[uint16](x, math.MaxInt16) // the sign says nothing
	case x.DType == tensor.Float32:
		return whereBits[uint32](x, math.MaxInt32)
	case x.DType == tensor.Float64:
		return whereBits[uint64](x, math.MaxInt64)
	case size == 16:
		return whereBits[uint16](x, math.MaxUint16)
	case size == 32:
		return whereBits[uint32](x, math.MaxUint32)
	case size == 64:
		return whereBits[uint64](x, math.MaxUint64)
	}
	count := 0
	for i := range x.Count() {
		tick()
		if scalarAt(x, i).isTrue() {
			count++
		}
	}
	found := alloc[int](count)[:0]
	for i := range x.Count() {
		tick()
		if scalarAt(x, i).isTrue() {
			found = append(found, i)
		}
	}
	return found
}

// whereBits lists the elements some of whose bits are 1.
func whereBits[T uint8 | uint16 | uint32 | uint64](x tensor.Tensor, mask T) []int {
	v, count := mem.Elements[T](x.Data)[:x.Count()], 0
	inStretches(len(v), func(from, to int) {
		for _, b := range v[from:to] {
			if b&mask != 0 {
				count++
			}
		}
	})
	found := alloc[int](count)[:0]
	inStretches(len(v), func(from, to int) {
		for i, b := range v[from:to] {
			if b&mask != 0 {
				found = append(found, from+i)
			}
		}
	})
	return found
}

// pick copies the steps kept along axis a of x, seen with sizes dims.
func pick(x tensor.Tensor, out tensor.Type, dims []int64, a, outer, size, inner int, kept []int) ([]tensor.Tensor,
	error) {
	dims = slices.Clone(dims)
	dims[a] = int64(len(kept))
	y, err := sized(out, dims...)
	if err != nil {
		return nil, err
	}
	for i := range outer {
		for k, from := range kept {
			tick()
			move(y, (i*len(kept)+k)*inner, x, (i*size+from)*inner, inner)
		}
	}
	return []tensor.Tensor{y}, nil
}
