package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// StridedSlice slices with TensorFlow's rules: entry i of begin, end and strides describes the next dimension of x,
// read as x[b:e:s] in NumPy. Bit i of a mask changes entry i: BeginMask and EndMask leave that bound open, EllipsisMask
// (at most one bit) makes the entry stand for all dimensions that the others do not name, NewAxisMask inserts a
// dimension of size 1 and consumes none, ShrinkAxisMask takes the index begin[i] alone and drops the dimension.
// Ellipsis wins over new axis, new axis over shrink. Dimensions after the last entry are taken whole.
//
// Inputs: x of any type; begin, end, strides, integers [n]; strides are not 0, and positive where the dimension is
// dropped. Output: y of x's type. Source: TensorFlow's StridedSlice, as OH_NN_OPS_STRIDED_SLICE
// (docs/abi/ohnn.md, operators 6 and 8) and ANEURALNETWORKS_STRIDED_SLICE have it.
type StridedSlice struct {
	BeginMask, EndMask, EllipsisMask, NewAxisMask, ShrinkAxisMask int64
}

func init() {
	graph.Register[*StridedSlice]("strided_slice", graph.Traits{ShapeInputs: []int{1, 2, 3}, Moves: true})
}

// Infer returns the rank from the masks and the sizes from the values that are known.
func (o *StridedSlice) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 4, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	var lists [4][]tensor.Dim
	n := -1
	for i := 1; i < 4; i++ {
		v, known, err := vector(in, i)
		if err != nil {
			return nil, err
		}
		if known && n >= 0 && len(v) != n {
			return nil, fault.New(fault.Argument, "input %d: want %d elements, got %d", i, n, len(v))
		}
		if known {
			n, lists[i] = len(v), v
		}
	}
	x := in[0].Shape
	if n < 0 || !x.Ranked {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	for i := range lists {
		if lists[i] == nil {
			lists[i] = anyDims(n)
		}
	}
	cuts, err := o.Cuts(lists[1], lists[2], lists[3], x.Dims)
	if err != nil {
		return nil, err
	}
	dims := []tensor.Dim{}
	place := make([]int, x.Rank())
	for _, c := range cuts {
		if c.Axis >= 0 {
			place[c.Axis] = -1
			if c.Whole && !c.Drop {
				place[c.Axis] = len(dims)
			}
		}
		if !c.Drop {
			dims = append(dims, c.Count)
		}
	}
	out, err := movedOne(declared, in[0], tensor.OfDims(dims...), func(a int) int { return placeOf(place, a) })
	if err == nil && x.Rank() == 1 {
		carry(&out[0], cutValues(values(in[0]), cuts))
	}
	return out, err
}

// cutValues applies the cuts of a list to its known values.
func cutValues(v []tensor.Dim, cuts []Cut) []tensor.Dim {
	for _, c := range cuts {
		if c.Axis < 0 {
			continue
		}
		if v == nil || !c.Known || !c.Count.Known() {
			return nil
		}
		out := make([]tensor.Dim, c.Count.N)
		for i := range out {
			out[i] = v[c.First+int64(i)*c.Step]
		}
		v = out
	}
	return v
}

// Cut is the part of one dimension that StridedSlice takes, or a dimension it inserts.
type Cut struct {
	Axis        int // of x; -1: inserted
	First, Step int64
	Count       tensor.Dim
	Known       bool // First and Step are known
	Drop        bool // the dimension is not in the result
	Whole       bool // every index in order
}

// Cuts returns the dimensions in the order of the result, dropped ones in between. Every dimension of x occurs once.
func (o *StridedSlice) Cuts(begin, end, strides, x []tensor.Dim) ([]Cut, error) {
	n := len(begin)
	bit := func(mask int64, i int) bool { return i < 63 && mask>>i&1 != 0 }
	consumed, ellipsis := 0, -1
	for i := range n {
		switch {
		case bit(o.EllipsisMask, i) && ellipsis >= 0:
			return nil, fault.New(fault.Argument, "ellipsis mask %#x: want at most one bit", o.EllipsisMask)
		case bit(o.EllipsisMask, i):
			ellipsis = i
		case !bit(o.NewAxisMask, i):
			consumed++
		}
	}
	if consumed > len(x) {
		return nil, fault.New(fault.Shape, "input 1: %d entries, input 0 has %d dimensions", consumed, len(x))
	}
	var cuts []Cut
	axis := 0
	whole := func(count int) {
		for range count {
			cuts = append(cuts, Cut{Axis: axis, Step: 1, Count: x[axis], Known: true, Whole: true})
			axis++
		}
	}
	for i := range n {
		switch {
		case i == ellipsis:
			whole(len(x) - consumed)
			continue
		case bit(o.NewAxisMask, i):
			cuts = append(cuts, Cut{Axis: -1, Count: tensor.D(1), Known: true})
			continue
		}
		c, err := cutOne(begin[i], end[i], strides[i], x[axis], bit(o.BeginMask, i), bit(o.EndMask, i),
			bit(o.ShrinkAxisMask, i))
		if err != nil {
			return nil, fault.Wrap(err, "entry %d", i)
		}
		c.Axis = axis
		cuts = append(cuts, c)
		axis++
	}
	whole(len(x) - axis)
	return cuts, nil
}

func cutOne(begin, end, step, size tensor.Dim, openBegin, openEnd, drop bool) (Cut, error) {
	c := Cut{Count: tensor.AnyDim(), Drop: drop}
	if step.Known() && (step.N == 0 || drop && step.N < 0) {
		return c, fault.New(fault.Argument, "input 3: stride %d: want any other number", step.N)
	}
	switch {
	case drop:
		c.Step, c.Count = 1, tensor.D(1)
		if !begin.Known() || !size.Known() {
			return c, nil
		}
		if c.First = begin.N; c.First < 0 {
			c.First += size.N
		}
		if c.First < 0 || c.First >= size.N {
			return c, fault.New(fault.Argument, "input 1: index %d is outside a dimension of size %d", begin.N, size.N)
		}
		c.Known = true
		return c, nil
	case !step.Known():
		return c, nil
	case step.N == 1 && openEnd && (openBegin || begin.Known() && begin.N == 0):
		return Cut{Step: 1, Count: size, Known: true, Whole: true}, nil
	case !size.Known() || !openBegin && !begin.Known() || !openEnd && !end.Known():
		return c, nil
	}
	lo, hi := int64(0), size.N
	if step.N < 0 {
		lo, hi = -1, size.N-1
	}
	bound := func(v tensor.Dim, open bool, at int64) int64 {
		if open {
			return at
		}
		if v.N < 0 {
			v.N += size.N
		}
		return min(max(v.N, lo), hi)
	}
	var count int64
	var last int64
	if step.N > 0 {
		c.First, last = bound(begin, openBegin, lo), bound(end, openEnd, hi)
		if last > c.First {
			count = (last-c.First-1)/step.N + 1
		}
	} else {
		c.First, last = bound(begin, openBegin, hi), bound(end, openEnd, lo)
		if last < c.First {
			count = (c.First-last-1)/-max(step.N, -math.MaxInt64) + 1
		}
	}
	c.Step, c.Count, c.Known = step.N, tensor.D(count), true
	c.Whole = step.N == 1 && count == size.N
	return c, nil
}
