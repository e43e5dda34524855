package rknn

import (
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// run computes and waits (section 4): inputs from bound memory or as rknn_inputs_set left them, outputs to bound memory
// and for rknn_outputs_get. extend receives the number of the run; what else it asks for has no effect.
func run(c *Context, extend *RunExtend) error {
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if c.flags&flagInfoOnly != 0 {
		return failed("context was opened with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY (0x100) in flag: it answers " +
			"rknn_query only [rknn-context-opened-flag]")
	}
	if c.flags&(flagFenceIn|flagFenceOut) != 0 {
		return failed("context was opened with RKNN_FLAG_FENCE_IN_OUTSIDE (0x40) or RKNN_FLAG_FENCE_OUT_OUTSIDE (0x80) in " +
			"flag: there are no fences, so it cannot run [rknn-context-opened-flag-fence]")
	}
	return guarded("context: memory bound to an input or output", func() error { return c.perform(extend) })
}

// perform is a run; the lock is held.
func (c *Context) perform(extend *RunExtend) error {
	if err := c.ready(); err != nil {
		return err
	}
	c.valid = false
	if err := c.move(); err != nil {
		return err
	}
	defer c.exec.Unbind()
	for i := range c.in {
		if err := c.feed(i); err != nil {
			return err
		}
	}
	for i := range c.out {
		if err := c.takeOutput(i); err != nil {
			return err
		}
	}
	for i := range c.out {
		if err := c.place(i); err != nil {
			return err
		}
	}
	if err := c.compute(); err != nil {
		if c.canceled.Load() {
			return refuseFor(runCode(err), err, "context: it was destroyed during the run [rknn-context-destroyed-run]")
		}
		return refuseFor(runCode(err), err, "context")
	}
	if err := c.measure(); err != nil {
		return refuseFor(spec.ErrFail, err, "context")
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
	c.running.Store(c.exec)
	defer c.running.Store(nil)
	if len(c.registered) == 0 { // none of its functions would wait for this thread
		return c.exec.Run(device.RunRequest{})
	}
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
			return failed("context has no memory for input %q: it was opened with RKNN_FLAG_MEM_ALLOC_OUTSIDE, which wants "+
				"rknn_set_io_mem before rknn_run [rknn-context-no-memory]", p.Name)
		case !s.given:
			return failed("context has no data for input %q: rknn_inputs_set or rknn_set_io_mem must give it "+
				"before rknn_run [rknn-context-no-data]",
				p.Name)
		}
	}
	for i := range c.out {
		s, p := &c.out[i], c.model.out[i]
		if s.bound == nil && outside {
			return failed("context has no memory for output %q: it was opened with RKNN_FLAG_MEM_ALLOC_OUTSIDE, which wants "+
				"rknn_set_io_mem before rknn_run [rknn-context-no-memory-output]", p.Name)
		}
		if s.bound == nil {
			continue
		}
		if _, _, done, err := s.bound.open(p, c.outDims(i)); err != nil {
			return unbind(&s.bound, err)
		} else {
			done()
		}
	}
	return nil
}

// feed gives core input i: bound memory, or what rknn_inputs_set has left.
func (c *Context) feed(i int) error {
	s, p := &c.in[i], c.model.in[i]
	if s.bound == nil {
		return c.exec.FeedStaged(c.inPort(i))
	}
	_, a, done, err := s.bound.open(p, c.inDims(i))
	if err != nil {
		return unbind(&s.bound, err)
	}
	defer done()
	s.given = false
	given := p.source(s.bound.kind, a, s.bound.raw)
	return c.exec.Feed(c.inPort(i), &io.Operand{View: mem.View{Buf: s.bound.memory.buf}, As: given})
}

// takeOutput notes the memory that is bound to output i.
func (c *Context) takeOutput(i int) error {
	s, p, dims := &c.out[i], c.model.out[i], c.outDims(i)
	s.placed = nil
	if s.bound == nil {
		return nil
	}
	_, a, done, err := s.bound.open(p, dims)
	if err != nil {
		return unbind(&s.bound, err)
	}
	defer done()
	o := s.bound.operand(p, dims, a)
	c.exec.Take(&io.Port{Tensor: &p.Tensor, At: i, Dims: dims}, &o)
	return nil
}

// place has core write output i straight to bound memory where it can.
func (c *Context) place(i int) error {
	placed, err := c.exec.Place(i)
	if placed {
		c.out[i].placed = c.out[i].bound
	}
	return fault.Wrap(err, "output %q", c.model.out[i].Name)
}

// deliver writes output i to bound memory, which may have been destroyed by now, unless core has done that.
func (c *Context) deliver(i int) error {
	s := &c.out[i]
	if s.placed != nil {
		return nil
	}
	if _, err := c.computed(i); err != nil || s.bound == nil {
		return err
	}
	_, _, done, err := s.bound.open(c.model.out[i], c.outDims(i))
	if err != nil {
		return err
	}
	defer done()
	return c.exec.Deliver(i)
}

// result returns the bytes of output i after a run, of the size that its shape says. Those that core wrote to bound
// memory are read there, as they are now; free lets go of it.
func (c *Context) result(i int) (data []byte, free func(), err error) {
	p, dims := c.model.out[i], c.outDims(i)
	if b := c.out[i].placed; b != nil {
		data, _, free, err := b.open(p, dims)
		if err != nil {
			return nil, nil, err
		}
		return data[:p.coreBytes(dims)], free, nil
	}
	data, err = c.computed(i)
	return data, func() {}, err
}

// computed returns the bytes of an output that the execution has.
func (c *Context) computed(i int) ([]byte, error) {
	p, dims := c.model.out[i], c.outDims(i)
	data, err := c.exec.OutputData(i)
	if err != nil {
		return nil, fault.Wrap(err, "output %q", p.Name)
	}
	if want := p.coreBytes(dims); int64(len(data)) != want {
		return nil, failed("context: output %q has %d bytes, want %d for the shape %v "+
			"[rknn-context-output-bytes]", p.Name, len(data), want, dims)
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
		return failed("context has run nothing: rknn_run must succeed before rknn_wait [rknn-context-run-nothing]")
	}
	if extend != nil {
		extend.frame = c.frame
	}
	return nil
}
