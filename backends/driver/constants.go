package driver

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Constants reads what APIs want to know of a node before the run. Inputs that say it are constants.
type Constants struct {
	G *graph.Graph
	N *graph.Node
}

// Given reports whether input k is there.
func (c *Constants) Given(k int) bool { return k < len(c.N.In) && c.N.In[k] != graph.None }

// Ints are the integers of input k; otherwise when it is not given.
func (c *Constants) Ints(k int, otherwise []int64) ([]int64, bool) {
	if !c.Given(k) {
		return otherwise, true
	}
	return c.G.Fact(c.N.In[k]).KnownInts()
}

// Number is the number that input k is, of one element.
func (c *Constants) Number(k int) (float32, bool) {
	f := c.G.Fact(c.N.In[k])
	if f.Const == nil || f.Quant != nil || !f.DType.IsFloat() {
		return 0, false
	}
	v, err := tensor.ReadFloats(f.DType, f.Const.Data, 1)
	if err != nil || math.IsNaN(v[0]) {
		return 0, false
	}
	return float32(v[0]), true
}

// Order is the order of dimensions that a Transpose of rank dimensions gives its result.
func (c *Constants) Order(rank int) (order []int64, err error) {
	backwards := make([]int64, rank)
	for i := range backwards {
		backwards[i] = int64(rank - 1 - i)
	}
	order, ok := c.Ints(1, backwards)
	if !ok {
		return nil, refuse("the order is not known before the run")
	}
	return fromFront(order, rank)
}

// Axes are the axes that input 1 names of rank dimensions.
func (c *Constants) Axes(rank int) (axes []int64, err error) {
	axes, ok := c.Ints(1, nil)
	if !ok || len(axes) == 0 {
		return nil, refuse("the axes are not named before the run")
	}
	return fromFront(axes, rank)
}

// fromFront counts axes from the front. It returns the list that it is given.
func fromFront(axes []int64, rank int) (list []int64, err error) {
	for i, a := range axes {
		axis, err := op.Axis(a, rank)
		if err != nil {
			return nil, refuse("%v", err)
		}
		axes[i] = int64(axis)
	}
	return axes, nil
}

// Slice says where a Slice of sizes dims begins in each dimension, within the dimension, and its steps.
func (c *Constants) Slice(dims []int64) (begin, steps []int64, err error) {
	starts, ok1 := c.Ints(1, nil)
	axes, ok2 := c.Ints(3, nil)
	strides, ok3 := c.Ints(4, nil)
	if !ok1 || !ok2 || !ok3 {
		return nil, nil, refuse("the bounds are not known before the run")
	}
	begin, steps = make([]int64, len(dims)), slices.Repeat([]int64{1}, len(dims))
	for i, s := range starts {
		axis := i
		if axes != nil {
			var err error
			if axis, err = op.Axis(axes[i], len(dims)); err != nil {
				return nil, nil, refuse("%v", err)
			}
		}
		size := dims[axis]
		if s < 0 {
			s += size
		}
		begin[axis] = min(max(s, 0), size)
		if strides != nil && strides[i] != 1 {
			steps[axis] = strides[i]
			begin[axis] = min(begin[axis], size-1)
		}
	}
	return begin, steps, nil
}

// Pads returns the elements that a Pad of rank dimensions adds, before and after each in turn.
func (c *Constants) Pads(rank int) (pairs []int64, err error) {
	pads, ok1 := c.Ints(1, nil)
	axes, ok2 := c.Ints(3, nil)
	if !ok1 || !ok2 || len(pads) == 0 || slices.Min(pads) < 0 {
		return nil, refuse("the pads are not known before the run, or cut off")
	}
	pairs = make([]int64, 2*rank)
	for i := range len(pads) / 2 {
		axis := i
		if axes != nil {
			var err error
			if axis, err = op.Axis(axes[i], rank); err != nil {
				return nil, refuse("%v", err)
			}
		}
		pairs[2*axis], pairs[2*axis+1] = pads[i], pads[len(pads)/2+i]
	}
	return pairs, nil
}

// Repeats says how often each dimension of x is there in y, which has as many.
func Repeats(x, y []int64) []int64 {
	times := make([]int64, len(x))
	for i, d := range x {
		times[i] = y[i] / d
	}
	return times
}
