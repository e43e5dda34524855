package rknn

import (
	"runtime/debug"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// run computes and waits (section 4): inputs from bound memory or as rknn_inputs_set left them, outputs to bound memory and for
// rknn_outputs_get. extend receives the number of the run; what else it asks for has no effect.
func run(c *Context, extend *RunExtend) error {
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if c.flags&flagInfoOnly != 0 {
		return failed("context: it was opened with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY: it answers queries only")
	}
	if c.flags&(flagFenceIn|flagFenceOut) != 0 {
		return failed("context: it was opened with a RKNN_FLAG_FENCE flag, which the CPU device has no fences for")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := c.ready(); err != nil {
		return err
	}
	c.valid = false
	for i := range c.in {
		if err := c.bindInput(i); err != nil {
			return err
		}
	}
	if err := c.compute(); err != nil {
		return refuseFor(errFail, err, "context")
	}
	for i := range c.out {
		if err := c.deliver(i); err != nil {
			return err
		}
	}
	c.valid = true
	c.frame++
	if extend != nil {
		extend.frame = c.frame
	}
	return nil
}

// compute runs and waits, and makes the calls of the program's functions that the run asks for.
func (c *Context) compute() error {
	ended := make(chan error, 1)
	if err := c.exec.Start(device.RunRequest{Done: func(err error) { ended <- err }}); err != nil {
		return err
	}
	for {
		select {
		case j := <-c.jobs:
			var err error
			c.calling(func() { err = j.f() })
			j.done <- err
		case err := <-ended:
			return err
		}
	}
}

// ready checks that every input has data and every tensor that must have memory has it.
func (c *Context) ready() error {
	outside := c.flags&flagMemAllocOutside != 0
	for i := range c.in {
		s, p := &c.in[i], c.model.in[i]
		switch {
		case s.bound != nil:
		case outside:
			return failed("context: input %q has no memory: RKNN_FLAG_MEM_ALLOC_OUTSIDE wants rknn_set_io_mem first", p.name)
		case !s.given:
			return failed("context: input %q was not set: call rknn_inputs_set or rknn_set_io_mem first", p.name)
		}
	}
	for i := range c.out {
		s, p := &c.out[i], c.model.out[i]
		if s.bound == nil && outside {
			return failed("context: output %q has no memory: RKNN_FLAG_MEM_ALLOC_OUTSIDE wants rknn_set_io_mem first", p.name)
		}
		if s.bound == nil {
			continue
		}
		if _, _, done, err := s.bound.open(p, c.outDims(i)); err != nil {
			s.bound = nil
			return err
		} else {
			done()
		}
	}
	return nil
}

// bindInput gives core input i, converted from bound memory where there is some.
func (c *Context) bindInput(i int) error {
	s, p, dims := &c.in[i], c.model.in[i], c.inDims(i)
	data, err := c.room(i)
	if err != nil {
		return err
	}
	if s.bound != nil {
		src, a, done, err := s.bound.open(p, dims)
		if err != nil {
			s.bound = nil
			return err
		}
		defer done()
		p.load(data, dims, src, s.bound.kind, a, s.bound.raw)
		s.given = false
	}
	return fault.Wrap(c.exec.BindInput(i, mem.View{Buf: s.buf, Type: p.coreType(dims)}), "input %q", p.name)
}

// deliver writes output i to bound memory.
func (c *Context) deliver(i int) error {
	s, p, dims := &c.out[i], c.model.out[i], c.outDims(i)
	src, err := c.result(i)
	if err != nil || s.bound == nil {
		return err
	}
	dst, a, done, err := s.bound.open(p, dims)
	if err != nil {
		return err
	}
	defer done()
	p.store(dst, a, s.bound.kind, src, dims)
	return nil
}

// result returns the bytes of output i after a run, of the size that its shape says.
func (c *Context) result(i int) ([]byte, error) {
	p, dims := c.model.out[i], c.outDims(i)
	data, err := c.exec.OutputData(i)
	if err != nil {
		return nil, fault.Wrap(err, "output %q", p.name)
	}
	if want := p.coreBytes(dims); int64(len(data)) != want {
		return nil, failed("context: output %q has %d bytes, want %d for the shape %v", p.name, len(data), want, dims)
	}
	return data, nil
}

// wait returns at once: a run has ended when rknn_run returns.
func wait(c *Context, extend *RunExtend) error {
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if c.frame == 0 {
		return failed("context: nothing was run: call rknn_run first")
	}
	if extend != nil {
		extend.frame = c.frame
	}
	return nil
}
