package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Slice cuts a box with steps out of x: on each axis the indices start, start+step, ... before end. Negative starts and
// ends count from the end of the dimension and are then clamped, with a positive step to [0, size], with a negative
// step to [0, size-1] and [-1, size-1]; so an end below -size lets a negative step reach index 0. With Inside nothing
// is clamped and no bound counts from the end: 0 <= start <= end <= size, where an end of math.MaxInt64 stands for the
// size, and any other bound is fault.Argument.
//
// Inputs: x of any type; starts, ends, integers [n]; axes?, integers [n] (absent: 0..n-1); steps?, integers [n], not 0
// (absent: 1). Output: y of x's type. Source: ONNX Slice-13; OH_NN_OPS_SLICE and ANEURALNETWORKS_SLICE lower to it.
type Slice struct{ Inside bool }

func init() {
	graph.Register[*Slice]("slice",
		graph.Traits{ShapeInputs: []int{1, 2, 3, 4}, Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer returns the sizes that are known; a dimension that is taken whole keeps its symbol.
func (o *Slice) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 5, declared, 1, 1); err != nil {
		return nil, err
	}
	x := in[0].Shape
	var lists [5][]tensor.Dim
	n, open := -1, false
	for i := 1; i < len(in); i++ {
		if !present(in, i) {
			continue
		}
		v, known, err := vector(in, i)
		if err != nil {
			return nil, err
		}
		if known && n >= 0 && len(v) != n {
			return nil, fault.New(fault.Argument, "input %d: want %d elements, got %d", i, n, len(v))
		}
		if known {
			n = len(v)
		}
		open = open || !known
		lists[i] = v
	}
	if !x.Ranked {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	if n > x.Rank() {
		return nil, fault.New(fault.Shape, "input 1: %d starts for rank %d", n, x.Rank())
	}
	axesKnown := true
	var axes []int
	if present(in, 3) {
		v, ok := knownAll(lists[3])
		if axesKnown = ok && lists[3] != nil; axesKnown {
			var err error
			if axes, err = axesOf(v, x.Rank()); err != nil {
				return nil, fault.Wrap(err, "input 3")
			}
		}
	} else if n >= 0 {
		axes, _ = axesOf(iota64(n), x.Rank())
	}
	if open || !axesKnown {
		return movedOne(declared, in[0], tensor.AnyOfRank(x.Rank()), nil)
	}
	s := x.Clone()
	var changed []int
	for i, a := range axes {
		step := tensor.D(1)
		if lists[4] != nil {
			step = lists[4][i]
		}
		if step.Known() && step.N == 0 {
			return nil, fault.New(fault.Argument, "input 4: step %d is 0", i)
		}
		if o.Inside {
			if err := inside(lists[1][i], lists[2][i], x.Dims[a]); err != nil {
				return nil, fault.Wrap(err, "input 0: dimension %d of %v", a, x)
			}
		}
		s.Dims[a] = sliceSize(lists[1][i], lists[2][i], step, x.Dims[a])
		if !s.Dims[a].Same(x.Dims[a]) || !step.Known() || step.N != 1 {
			changed = append(changed, a)
		}
	}
	out, err := movedOne(declared, in[0], s, sameAxis(changed...))
	if err == nil {
		carry(&out[0], sliceValues(in[0], axes, lists))
	}
	return out, err
}

// inside checks the bounds of a slice as far as they are known.
func inside(start, end, size tensor.Dim) error {
	if end.Known() && end.N == math.MaxInt64 {
		end = size
	}
	bad := start.Known() && start.N < 0 || end.Known() && end.N < 0 || start.Known() && end.Known() && start.N > end.N ||
		size.Known() && (start.Known() && start.N > size.N || end.Known() && end.N > size.N)
	if bad {
		return fault.New(fault.Argument, "the slice from %v to %v lies outside", start, end)
	}
	return nil
}

// sliceValues cuts the known values of x on the given axes.
func sliceValues(x tensor.Fact, axes []int, lists [5][]tensor.Dim) []tensor.Dim {
	v := values(x)
	if v == nil {
		return nil
	}
	first, step, sizes := 0, strides(x.Shape.Dims), x.Shape.Clone().Dims
	for i, a := range axes {
		start, end, by := lists[1][i], lists[2][i], tensor.D(1)
		if lists[4] != nil {
			by = lists[4][i]
		}
		if !start.Known() || !end.Known() || !by.Known() {
			return nil
		}
		at, count := SliceRange(start.N, end.N, by.N, sizes[a].N)
		first += int(at) * step[a]
		step[a] *= int(by.N)
		sizes[a] = tensor.D(count)
	}
	return stepped(v, first, sizes, step)
}

// sliceSize returns the size of one sliced dimension as far as it is known.
func sliceSize(start, end, step, size tensor.Dim) tensor.Dim {
	if !start.Known() || !end.Known() || !step.Known() {
		return tensor.AnyDim()
	}
	if size.Known() {
		_, n := SliceRange(start.N, end.N, step.N, size.N)
		return tensor.D(n)
	}
	forward := step.N == 1 && start.N == 0 && end.N >= math.MaxInt32
	backward := step.N == -1 && (start.N == -1 || start.N >= math.MaxInt32) && end.N <= math.MinInt32
	if forward || backward {
		return size
	}
	return tensor.AnyDim()
}

// SliceRange returns the first index and the number of indices that a slice with these bounds takes of a dimension;
// step is not 0.
func SliceRange(start, end, step, size int64) (first, count int64) {
	if start < 0 {
		start += size
	}
	if end < 0 {
		end += size
	}
	if step > 0 {
		start, end = min(max(start, 0), size), min(max(end, 0), size)
		if end <= start {
			return start, 0
		}
		return start, (end-start-1)/step + 1
	}
	start, end = min(max(start, 0), size-1), min(max(end, -1), size-1)
	if end >= start {
		return max(start, 0), 0
	}
	return start, (start-end-1)/-max(step, -math.MaxInt64) + 1
}

// movedOne is moved for an operator with one output.
func movedOne(declared []tensor.Type, x tensor.Fact, s tensor.Shape, axis func(a int) int) ([]tensor.Fact, error) {
	out, err := moved(declared[0], x, s, axis)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{out}, nil
}

// iota64 returns 0..n-1.
func iota64(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i)
	}
	return v
}
