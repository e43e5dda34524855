package rknn

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// measure learns from a run that has ended which sizes the outputs have whose metadata give a bound.
func (c *Context) measure() error {
	for i, p := range c.model.out {
		c.out[i].sizes = nil
		if p.Bound == nil {
			continue
		}
		sizes, err := p.Sizes(c.exec)
		if err != nil {
			return err
		}
		c.out[i].sizes = sizes
		boundary.Log(boundary.LevelInfo, "rknn", "output of open size", "output", p.Name, "shape", sizes, "within", p.Bound)
	}
	return nil
}

// currentAttr is a description of output i with the sizes that the last run made, if only a run tells them. Elements
// lie at their places in the largest shape, whose width w_stride has where it is another.
func (c *Context) currentAttr(i uint32, describe func(index uint32, dims []int64) spec.TensorAttr) spec.TensorAttr {
	p, sizes := c.model.out[i], c.out[i].sizes
	if sizes == nil || !c.valid {
		return describe(i, c.outDims(int(i)))
	}
	a := describe(i, sizes)
	if last := len(sizes) - 1; sizes[last] != p.Bound[last] {
		a.WStride = uint32(p.Bound[last])
	}
	return a
}

// OutputShape returns the sizes of output i of the last run. It serves anynpu_output_shape.
func (c *Context) OutputShape(i int) ([]int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case i < 0 || i >= len(c.out):
		return nil, fault.New(fault.Argument, "output is %d: the model has %s "+
			"[rknn-output-model]", i, indexed(len(c.out), "output"))
	case !c.valid:
		return nil, fault.New(fault.State, "handle: the context has no results: rknn_run must succeed before "+
			"[rknn-handle-context-no]")
	case c.out[i].sizes != nil:
		return c.out[i].sizes, nil
	}
	return c.outDims(i), nil
}
