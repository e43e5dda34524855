package rknn

import (
	"errors"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
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
		return failed("context was opened with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY (0x100) in flag: it answers rknn_query only")
	}
	if c.flags&(flagFenceIn|flagFenceOut) != 0 {
		return failed("context was opened with RKNN_FLAG_FENCE_IN_OUTSIDE (0x40) or RKNN_FLAG_FENCE_OUT_OUTSIDE (0x80) in " +
			"flag: there are no fences, so it cannot run")
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
	defer c.unplace()
	for i := range c.in {
		if err := c.bindInput(i); err != nil {
			return err
		}
	}
	for i := range c.out {
		if err := c.bindOutput(i); err != nil {
			return err
		}
	}
	if err := c.compute(); err != nil {
		return refuseFor(runCode(err), err, "context")
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

// runCode is the code of a failed run.
func runCode(err error) spec.Code {
	if errors.Is(err, mem.ErrExhausted) {
		return spec.ErrMalloc
	}
	return spec.ErrFail
}

// compute runs and waits, and makes the calls of the program's functions that the run asks for.
func (c *Context) compute() error {
	ended := make(chan error, 1)
	here := len(c.registered) == 0 // none of its functions would wait for this thread
	if err := c.exec.Start(device.RunRequest{Here: here, Done: func(err error) { ended <- err }}); err != nil {
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
				"rknn_set_io_mem before rknn_run", p.Name)
		case !s.given:
			return failed("context has no data for input %q: rknn_inputs_set or rknn_set_io_mem must give it before rknn_run",
				p.Name)
		}
	}
	for i := range c.out {
		s, p := &c.out[i], c.model.out[i]
		if s.bound == nil && outside {
			return failed("context has no memory for output %q: it was opened with RKNN_FLAG_MEM_ALLOC_OUTSIDE, which wants "+
				"rknn_set_io_mem before rknn_run", p.Name)
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

// bindInput gives core input i: bound memory itself if it holds the elements as core wants them, else converted to
// memory of the context.
func (c *Context) bindInput(i int) error {
	s, p, dims := &c.in[i], c.model.in[i], c.inDims(i)
	if s.bound != nil {
		src, a, done, err := s.bound.open(p, dims)
		if err != nil {
			s.bound = nil
			return err
		}
		defer done()
		s.given = false
		given := p.source(s.bound.kind, a, s.bound.raw)
		if p.Place(c.run.own(i, dims), &given) {
			return c.bindView(i, s.bound.memory.buf, c.run.orders[i])
		}
		data, err := c.room(i)
		if err != nil {
			return err
		}
		c.fill(i, data, src, &given)
	}
	if _, err := c.room(i); err != nil {
		return err
	}
	return c.bindView(i, s.buf, s.order)
}

// bindView binds core input i to memory whose elements lie in an order of its dimensions.
func (c *Context) bindView(i int, b mem.Buffer, order []int) error {
	p := c.model.in[i]
	v := mem.View{Buf: b, Type: p.coreType(c.inDims(i))}
	return fault.Wrap(c.exec.BindInput(i, v.In(order)), "input %q", p.Name)
}

// bindOutput lets core write output i straight to bound memory that takes the elements as core has them and that
// nothing else is bound to.
func (c *Context) bindOutput(i int) error {
	s, p, dims := &c.out[i], c.model.out[i], c.outDims(i)
	s.placed = nil
	if s.bound == nil || s.bound.kind.DType() != p.Type || c.shared(i) {
		return nil
	}
	_, a, done, err := s.bound.open(p, dims)
	if err != nil {
		s.bound = nil
		return err
	}
	defer done()
	if !a.Dense() {
		return nil
	}
	s.placed = s.bound
	return fault.Wrap(c.exec.BindOutput(i, mem.View{Buf: s.bound.memory.buf, Type: p.coreType(dims)}), "output %q", p.Name)
}

// shared says whether the memory of output i is also that of another tensor, even at another address.
func (c *Context) shared(i int) bool {
	mine := c.out[i].bound.memory.buf
	same := func(b *binding) bool {
		return b != nil && mem.Aliases(mine, 0, mine.Size(), b.memory.buf, 0, b.memory.buf.Size())
	}
	for k := range c.in {
		if same(c.in[k].bound) {
			return true
		}
	}
	for k := range c.out {
		if k != i && same(c.out[k].bound) {
			return true
		}
	}
	return false
}

// unplace lets go of bound memory after a run, which the program may end then.
func (c *Context) unplace() {
	for i := range c.in {
		if c.in[i].bound != nil {
			_ = c.exec.BindInput(i, mem.View{}) // nothing is refused between runs
		}
	}
	for i := range c.out {
		_ = c.exec.BindOutput(i, mem.View{})
	}
}

// deliver writes output i to bound memory, unless core has done that.
func (c *Context) deliver(i int) error {
	s, p, dims := &c.out[i], c.model.out[i], c.outDims(i)
	if s.placed != nil {
		return nil
	}
	src, free, err := c.result(i)
	if err != nil {
		return err
	}
	defer free()
	if s.bound == nil {
		return nil
	}
	dst, a, done, err := s.bound.open(p, dims)
	if err != nil {
		return err
	}
	defer done()
	p.Store(dst, a, s.bound.kind.DType(), src, dims)
	return nil
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
	data, err = c.exec.OutputData(i)
	if err != nil {
		return nil, nil, fault.Wrap(err, "output %q", p.Name)
	}
	if want := p.coreBytes(dims); int64(len(data)) != want {
		return nil, nil, failed("context: output %q has %d bytes, want %d for the shape %v", p.Name, len(data), want, dims)
	}
	return data, func() {}, nil
}

// wait returns at once: a run has ended when rknn_run returns.
func wait(c *Context, extend *RunExtend) error {
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if c.frame == 0 {
		return failed("context has run nothing: rknn_run must succeed before rknn_wait")
	}
	if extend != nil {
		extend.frame = c.frame
	}
	return nil
}
