package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// ranking returns the function that tells whether element i of x ranks strictly before element j: the larger one first,
// or the smaller one. NaN is greater than every number; with nanFirst it ranks first in either direction.
func ranking(x tensor.Tensor, largest, nanFirst bool) (func(i, j int) bool, error) {
	switch x.DType {
	case tensor.Float32:
		return rankingOf[float32](x, largest, nanFirst), nil
	case tensor.Float64:
		return rankingOf[float64](x, largest, nanFirst), nil
	case tensor.Int8:
		return rankingOf[int8](x, largest, nanFirst), nil
	case tensor.Int16:
		return rankingOf[int16](x, largest, nanFirst), nil
	case tensor.Int32:
		return rankingOf[int32](x, largest, nanFirst), nil
	case tensor.Int64:
		return rankingOf[int64](x, largest, nanFirst), nil
	case tensor.Uint8, tensor.Bool:
		return rankingOf[uint8](x, largest, nanFirst), nil
	case tensor.Uint16:
		return rankingOf[uint16](x, largest, nanFirst), nil
	case tensor.Uint32:
		return rankingOf[uint32](x, largest, nanFirst), nil
	case tensor.Uint64:
		return rankingOf[uint64](x, largest, nanFirst), nil
	}
	return nil, fault.New(fault.Type, "no order of %v", x.DType)
}

func rankingOf[T elem](x tensor.Tensor, largest, nanFirst bool) func(i, j int) bool {
	v := view[T](x)
	return func(i, j int) bool {
		a, b := v[i], v[j]
		switch {
		case b != b: // NaN
			return a == a && !largest && !nanFirst
		case a != a:
			return largest || nanFirst
		case largest:
			return a > b
		}
		return a < b
	}
}

// lines visits every line of a tensor of shape dims along axis: start is the position of its first element, step the
// distance between neighbours. A tensor without elements has no lines, but one whose axis alone is empty does.
func lines(dims []int64, axis int, visit func(line, start, step int)) {
	step, outer := 1, 1
	for _, d := range dims[axis+1:] {
		step *= int(d)
	}
	for _, d := range dims[:axis] {
		outer *= int(d)
	}
	for o := range outer {
		for i := range step {
			tick()
			visit(o*step+i, o*step*int(dims[axis])+i, step)
		}
	}
}
