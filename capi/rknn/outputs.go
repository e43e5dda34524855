package rknn

import (
	"fmt"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// manyBuffers is how many buffers of rknn_outputs_get a program may have before it is warned.
const manyBuffers = 256

// outputsGet copies results of the last run (section 4), in NCHW or the model's order, as float32 or in the reported
// type. Buffers that the program did not bring stay its own until rknn_outputs_release or the context's end.
func outputsGet(c *Context, outputs []Output, extend *OutputExtend) (err error) {
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if len(outputs) == 0 || len(outputs) > len(c.out) {
		return invalid("n_outputs is %d: the model has %s "+
			"[rknn-n-outputs-model]", len(outputs), some(len(c.out), "output", "fetched"))
	}
	which, err := c.meant(outputs)
	if err != nil {
		return err
	}
	for k := range outputs {
		if err := c.judgeOutput(fmt.Sprintf("outputs[%d]", k), &outputs[k], which[k]); err != nil {
			return err
		}
	}
	if !c.valid {
		return failed("context has no results: rknn_run must succeed after rknn_init and after each change of shapes, " +
			"before rknn_outputs_get [rknn-context-no-results]")
	}
	var made []*Output
	defer func() {
		if err != nil {
			c.take(made)
		}
	}()
	err = guarded("outputs: memory of buf, or bound to an output,", func() error {
		for k := range outputs {
			if err := c.give(&outputs[k], which[k], &made); err != nil {
				return err
			}
		}
		if extend != nil {
			extend.frame = c.frame
		}
		return nil
	})
	return err
}

// meant returns the output that each entry stands for. Without is_prealloc a program need not set index, so indices are
// taken only where all are distinct and in range; otherwise entry i is output i.
func (c *Context) meant(outputs []Output) ([]int, error) {
	which, seen, clear := make([]int, len(outputs)), make([]bool, len(c.out)), true
	for k := range outputs {
		i := outputs[k].index
		if int64(i) >= int64(len(c.out)) {
			if outputs[k].isPrealloc != 0 {
				return nil, refuse(spec.ErrOutput, "outputs[%d].index is %d: the model has %s "+
					"[rknn-outputs-index-model]", k, i, indexed(len(c.out), "output"))
			}
			clear = false
			continue
		}
		if seen[i] {
			clear = false
		}
		seen[i], which[k] = true, int(i)
	}
	if clear {
		return which, nil
	}
	for k := range outputs {
		which[k] = k
		if o := &outputs[k]; o.isPrealloc != 0 && int(o.index) != k && !c.model.told.repeats.Swap(true) {
			caution("outputs[].index are not distinct numbers of outputs, so that entry i is output i "+
				"[rknn-outputs-index-distinct]", "function",
				"rknn_outputs_get",
				"entry", k, "index", o.index, "given", fmt.Sprintf("%q", c.model.out[k].Name))
		}
	}
	return which, nil
}

// wanted is the type in which output i is asked for, and its number of bytes with dimensions dims.
func (c *Context) wanted(o *Output, i int, dims []int64) (spec.Type, int64) {
	kind := c.model.out[i].kind
	if o.wantFloat != 0 {
		kind = spec.Float32
	}
	n, _ := tensor.Count(dims)
	return kind, n * kind.Size()
}

func (c *Context) judgeOutput(name string, o *Output, i int) error {
	if o.isPrealloc == 0 {
		return nil
	}
	kind, need := c.wanted(o, i, c.outDims(i))
	switch {
	case o.buf == 0:
		return refuse(spec.ErrOutput,
			"%s.buf is NULL: %s.is_prealloc is %d, so the program must bring a buffer of %d bytes; 0 "+
				"has the library make one [rknn-buf-null-prealloc]", name, name, o.isPrealloc, need)
	case int64(o.size) < need:
		return refuse(spec.ErrOutput, "%s.size is %d: output %q as %v, with %s.want_float %d, takes %d bytes "+
			"[rknn-size-output-float]", name, o.size,
			c.model.out[i].Name, kind, name, o.wantFloat, need)
	}
	if err := boundary.CheckRange(cPointer(o.buf), uint64(need)); err != nil {
		return fault.Wrap(err, "%s.buf", name)
	}
	return nil
}

// give fills one rknn_output with output i and adds it to made if its buffer is a new one. That has room for the
// largest shape, as RKNN_QUERY_OUTPUT_ATTR says: there are clients that read as much. size counts the result; the rest
// is zero.
func (c *Context) give(o *Output, i int, made *[]*Output) error {
	p, dims := c.model.out[i], c.outDims(i)
	src, free, err := c.result(i)
	if err != nil {
		return err
	}
	defer free()
	kind, size := c.wanted(o, i, dims)
	if o.isPrealloc == 0 {
		b := &boundary.Block{}
		_, room := c.wanted(o, i, c.model.shapes[c.model.largest].Out[i])
		if err := b.Reserve(int((max(size, room, 1) + 7) / 8 * 8)); err != nil {
			return fault.Wrap(err, "outputs[%d]: a buffer", i)
		}
		c.buffers[b.Addr()] = b
		if len(c.buffers) == manyBuffers {
			warn("buffers of rknn_outputs_get pile up: rknn_outputs_release gives them back "+
				"[rknn-buffers-outputs-get-pile]", "function", "rknn_outputs_get",
				"buffers", manyBuffers)
		}
		o.buf, o.size = b.Addr(), uint32(size)
		*made = append(*made, o)
	}
	dst := unsafe.Slice((*byte)(cPointer(o.buf)), int(size))
	if b := c.out[i].placed; b != nil && io.Overlaps(b.memory.buf, src, dst) {
		var err error
		if src, err = mem.Clone(src); err != nil {
			return err
		}
	}
	defer io.Converting()()
	p.Store(dst, convert.Arrange(dims, convert.Layout{}), kind.DType(), src, dims)
	return nil
}

// take frees buffers that were given out.
func (c *Context) take(outputs []*Output) {
	for _, o := range outputs {
		if b := c.buffers[o.buf]; b != nil {
			delete(c.buffers, o.buf)
			b.Free()
			o.buf = 0
		}
	}
}

// outputsRelease frees the buffers that rknn_outputs_get of this context made; others, also those freed before, are
// left alone.
func outputsRelease(c *Context, outputs []Output) error {
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if len(outputs) == 0 || len(outputs) > len(c.out) {
		return invalid("n_ouputs is %d: the model has %s "+
			"[rknn-n-ouputs-model]", len(outputs), some(len(c.out), "output", "released"))
	}
	for k := range outputs {
		if outputs[k].isPrealloc == 0 {
			c.take([]*Output{&outputs[k]})
		}
	}
	return nil
}
