package rknn

import (
	"errors"
	"math"
	"runtime"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// init_ loads a model: size bytes at model, or the file whose name is there when size is 0. The bytes are not kept. A
// model that is for a driver is left to it.
func init_(modelAt unsafe.Pointer, size, flags uint32, extend *InitExtend) (*Context, error) {
	if modelAt == nil && size == 0 {
		return nil, invalid("model is NULL: with size 0 it is the name of a file [rknn-model-null-size]")
	}
	if modelAt == nil {
		return nil, invalid("model is NULL: size says that it is a model of %d bytes "+
			"[rknn-model-null-size-model]", size)
	}
	var source error // of the context whose weights are shared: it may be the driver's
	if flags&flagShareWeight != 0 {
		if extend == nil {
			return nil, invalid("extend is NULL: flag has RKNN_FLAG_SHARE_WEIGHT_MEM, which wants a context in " +
				"extend->ctx [rknn-extend-null-flag]")
		}
		if source = aliveContext("extend->ctx", extend.context); source != nil && !boundary.HasDriver("rknn") {
			return nil, source
		}
	}
	var data []byte
	var path string
	if size == 0 {
		var err error
		if path, err = boundary.CString(modelAt); err != nil {
			return nil, fault.Wrap(err, "model")
		}
		if path == "" {
			return nil, refuse(spec.ErrModel, "model is an empty string: with size 0 it is the name of a file "+
				"[rknn-model-empty-string]")
		}
	} else {
		if err := boundary.CheckRange(modelAt, uint64(size)); err != nil {
			return nil, fault.Wrap(err, "model")
		}
		data = unsafe.Slice((*byte)(modelAt), int(size))
		if flags&flagZeroCopyModel != 0 && extend != nil && extend.modelSize != 0 {
			off, n := int64(extend.modelOffset), int64(extend.modelSize)
			if off < 0 || off+n > int64(size) {
				return nil, invalid("extend->real_model_offset is %d and extend->real_model_size %d: size says that the buffer "+
					"has %d bytes [rknn-extend-real-model]", off, n, size)
			}
			data = data[off : off+n]
		}
	}
	if forDriver(data, path, flags, extend) {
		return nil, boundary.ErrPassOn
	}
	if source != nil {
		return nil, source
	}
	m, err := load(data, path, flags)
	if err != nil {
		return nil, err
	}
	if path != "" && extend != nil && flags&flagShareWeight == 0 {
		extend.modelOffset, extend.modelSize = 0, uint32(min(m.size, math.MaxUint32))
	}
	c, err := newContext(m, flags, m.run)
	if err != nil {
		m.release()
		return nil, err
	}
	if path == "" && flags&flagZeroCopyModel != 0 && extend != nil {
		c.fd = extend.modelFD
	}
	return c, nil
}

// newContext takes over the caller's reference to m. The context runs r.
func newContext(m *sharedModel, flags uint32, r *runnable) (*Context, error) {
	c := &Context{model: m, flags: flags, fd: -1, run: r, jobs: make(chan job), buffers: map[uintptr]*boundary.Block{},
		in: make([]inputState, len(m.in)), out: make([]outputState, len(m.out))}
	e, err := r.execution(c, 0)
	if err != nil {
		return nil, err
	}
	c.exec = io.New(e, len(m.in), len(m.out))
	if err := c.useShapes(m.largest); err != nil {
		c.exec.Release()
		return nil, err
	}
	r.program.Retain()
	return c, nil
}

// dupContext makes a context of the same model with inputs, outputs and runs of its own; flags come from the source.
func dupContext(source *uintptr) (*Context, error) {
	h := *source
	c, err := handle.Hold[Context](h)
	if err != nil {
		return nil, refuseFor(spec.ErrContext, err, "context_in: %#x", h)
	}
	defer handle.Unhold(h)
	if c.inside() {
		return nil, failed("context_in: it is running, and this is a call from one of its operators " +
			"[rknn-context-running-operators-dup-context]")
	}
	if err := c.notCopying("context_in"); err != nil {
		return nil, err
	}
	defer c.copying.enter()()
	c.reg.RLock()
	defer c.reg.RUnlock()
	c.model.retain()
	d, err := newContext(c.model, c.flags, c.run)
	if err != nil {
		c.model.release()
		return nil, err
	}
	d.fd = c.fd
	if err := d.inherit(c); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// destroy waits for calls under way, and ends a run that takes long. Buffers that were not released are freed; memory
// made with rknn_create_mem stays.
func destroy(h uintptr) error {
	if h == 0 {
		return fault.Wrap(handle.ErrNull, "context")
	}
	for {
		c, err := handle.Close[Context](h)
		if err == nil {
			c.release()
			handle.Drop(c)
			return nil
		}
		if !errors.Is(err, handle.ErrBusy) {
			return fault.Wrap(err, "context: %#x", h)
		}
		if c, err := handle.Hold[Context](h); err == nil {
			if c.inside() {
				handle.Unhold(h)
				return failed("context: it is running, and this is a call from one of its operators: destroy it when rknn_run " +
					"has returned [rknn-context-running-operators-destroy]")
			}
			if err := c.notCopying("context"); err != nil {
				handle.Unhold(h)
				return err
			}
			await(&c.mu, c.cancel)
			handle.Unhold(h)
		}
		runtime.Gosched()
	}
}

// cancel ends the run under way, if there is one.
func (c *Context) cancel() {
	if e := c.running.Load(); e != nil {
		c.canceled.Store(true)
		e.Cancel()
	}
}

func (c *Context) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	devices.Ended("rknn", c.exec.Stats())
	c.exec.Release()
	c.run.program.Release()
	c.destroyAll(c.states)
	if n := len(c.buffers); n > 0 {
		warn("buffers of rknn_outputs_get were never given back with rknn_outputs_release "+
			"[rknn-buffers-outputs-get]", "function", "rknn_destroy",
			"buffers", n)
	}
	for _, b := range c.buffers {
		b.Free()
	}
	c.perf.Free()
	c.model.release()
}
