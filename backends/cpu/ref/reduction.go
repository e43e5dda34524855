package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// reduceIndex returns, for the axes in input 1, the function from an element of input 0 to its element of the result,
// and how many elements go into one of the result.
func reduceIndex(in []tensor.Tensor, keepDims, emptyKeeps bool) (index func(i int) int, group int, err error) {
	x := in[0]
	var axes []int64
	if len(in) > 1 && !in[1].Absent() {
		if axes, err = readInts(in[1].DType, in[1].Data, in[1].Count()); err != nil {
			return nil, 0, fault.As(fault.Type, err, "input 1")
		}
	}
	mask, err := op.AxisMask(axes, len(x.Dims))
	if err != nil {
		return nil, 0, fault.Wrap(err, "input 1")
	}
	group = 1
	kept := make([]int64, len(x.Dims))
	for i, d := range x.Dims {
		if len(axes) == 0 && !emptyKeeps {
			mask[i] = true
		}
		kept[i] = d
		if mask[i] {
			kept[i] = 1
			group *= int(d)
		}
	}
	return broadcastIndex(kept, x.Dims), group, nil
}

// accumulator is a reduction as a fold. Integers are folded in 64 bits and wrapped to the element type.
type accumulator struct {
	start   float64
	real    func(acc, x float64) float64
	int     func(acc, x int64) int64
	endReal func(acc float64, n int) float64 // what becomes of the fold of n elements; nil: nothing
}

// reduceNumbers folds floats in float64, rounding once at the end, and integers in 64 bits.
func reduceNumbers(in []tensor.Tensor, keepDims, emptyKeeps bool, out tensor.Type, a accumulator) ([]tensor.Tensor,
	error) {
	x := in[0]
	if x.DType.IsFloat() {
		return reduceReals(in, keepDims, emptyKeeps, out, a)
	}
	index, _, err := reduceIndex(in, keepDims, emptyKeeps)
	if err != nil {
		return nil, err
	}
	acc := alloc[int64](count(out))
	for i := range acc {
		acc[i] = int64(a.start)
	}
	for i, m := 0, x.Count(); i < m; i++ {
		tick()
		k := index(i)
		acc[k] = a.int(acc[k], tensor.IntAt(x.DType, x.Data, i))
	}
	dims, _ := out.Shape.Ints()
	y := newTensor(out.DType, dims...)
	for i, v := range acc {
		tick()
		tensor.PutInt(y.DType, y.Data, i, v)
	}
	return []tensor.Tensor{y}, nil
}

// reduceIntMeans is the mean of integers without its fraction. Quotients and remainders are added apart: sums of 64-bit
// integers overflow.
func reduceIntMeans(in []tensor.Tensor, keepDims, emptyKeeps bool, out tensor.Type) ([]tensor.Tensor, error) {
	x := in[0]
	index, group, err := reduceIndex(in, keepDims, emptyKeeps)
	if err != nil {
		return nil, err
	}
	total := count(out)
	if group == 0 && total > 0 {
		return nil, fault.New(fault.Data, "no elements of %v to reduce", x.DType)
	}
	n := int64(group)
	quotient, rest := alloc[int64](total), alloc[int64](total)
	for i, m := 0, x.Count(); i < m; i++ {
		tick()
		k, v := index(i), tensor.IntAt(x.DType, x.Data, i)
		q, r := v/n, v%n
		if x.DType.IsUnsigned() {
			q, r = int64(uint64(v)/uint64(n)), int64(uint64(v)%uint64(n))
		}
		quotient[k] += q
		if rest[k] += r; rest[k] >= n || rest[k] <= -n {
			quotient[k] += rest[k] / n
			rest[k] %= n
		}
	}
	dims, _ := out.Shape.Ints()
	y := newTensor(out.DType, dims...)
	for i, q := range quotient {
		tick()
		switch { // a rest of the other sign takes the fraction's direction back towards zero
		case q < 0 && rest[i] > 0 && !x.DType.IsUnsigned():
			q++
		case q > 0 && rest[i] < 0:
			q--
		}
		tensor.PutInt(y.DType, y.Data, i, q)
	}
	return []tensor.Tensor{y}, nil
}

// reduceReals folds in float64 whatever the element type is; integer results drop the fraction and saturate.
func reduceReals(in []tensor.Tensor, keepDims, emptyKeeps bool, out tensor.Type, a accumulator) ([]tensor.Tensor,
	error) {
	x := in[0]
	index, group, err := reduceIndex(in, keepDims, emptyKeeps)
	if err != nil {
		return nil, err
	}
	acc := alloc[float64](count(out))
	for i := range acc {
		acc[i] = a.start
	}
	for i, m := 0, x.Count(); i < m; i++ {
		tick()
		k := index(i)
		acc[k] = a.real(acc[k], scalarAt(x, i).float())
	}
	dims, _ := out.Shape.Ints()
	y := newTensor(out.DType, dims...)
	for i, v := range acc {
		tick()
		if a.endReal != nil {
			v = a.endReal(v, group)
		}
		scalar{f: v}.put(y, i, true, true)
	}
	return []tensor.Tensor{y}, nil
}

// reduceExtreme finds the largest or the smallest element; NaN wins.
func reduceExtreme(in []tensor.Tensor, keepDims, emptyKeeps bool, out tensor.Type, largest bool) ([]tensor.Tensor,
	error) {
	x := in[0]
	index, _, err := reduceIndex(in, keepDims, emptyKeeps)
	if err != nil {
		return nil, err
	}
	better, err := ranking(x, largest, true)
	if err != nil {
		return nil, err
	}
	best := alloc[int](count(out))
	for i := range best {
		best[i] = -1
	}
	for i, m := 0, x.Count(); i < m; i++ {
		tick()
		if k := index(i); best[k] < 0 || better(i, best[k]) {
			best[k] = i
		}
	}
	dims, _ := out.Shape.Ints()
	y := newTensor(out.DType, dims...)
	move := mover(y, x)
	for i, j := range best {
		tick()
		if j >= 0 {
			move(i, j)
			continue
		}
		s := scalar{f: math.Inf(1)}
		if largest {
			s.f = math.Inf(-1)
		}
		s.put(y, i, true, false)
		if y.DType == tensor.Bool {
			y.Data[i] = bit(!largest)
		}
	}
	return []tensor.Tensor{y}, nil
}

// reduceTruth is the logical and (all) or the logical or of elements that are true unless they are 0.
func reduceTruth(in []tensor.Tensor, keepDims, emptyKeeps bool, out tensor.Type, all bool) ([]tensor.Tensor, error) {
	x, err := truth(in[0])
	if err != nil {
		return nil, err
	}
	index, _, err := reduceIndex(in, keepDims, emptyKeeps)
	if err != nil {
		return nil, err
	}
	t, y := newLike[uint8](out)
	for i := range y {
		y[i] = bit(all)
	}
	for i, v := range x.Data {
		tick()
		if (v != 0) != all {
			y[index(i)] = bit(!all)
		}
	}
	return []tensor.Tensor{t}, nil
}
