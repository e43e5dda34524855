package rknn

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/model"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// Context is an rknn_context (section 2): a model and what its runs need. Safe for concurrent use: calls follow one
// another.
type Context struct {
	handle.Ref
	model *sharedModel
	flags uint32
	fd    int32 // of the program's memory with the model, -1: none

	thread  atomic.Int32  // that calls the program's functions, 0: none
	copying threadSet     // threads that duplicate the context
	cores   atomic.Uint32 // of rknn_set_core_mask
	jobs    chan job      // calls of them that a run asks for

	reg sync.RWMutex // guards what follows up to mu, together with mu: both are held to change it, one to read it

	run          *runnable // its program is retained
	registered   map[string]CustomOp
	states       map[int64]*opState
	skipped      map[int64]bool // replaced operators whose init left them to the library
	skippedTypes map[int64]string

	mu      sync.Mutex // guards what follows
	exec    *io.Execution
	core    uint32      // the cores that exec was made for
	set     int         // index into model.shapes
	sizes   model.Sizes // of the model's open dimensions
	in      []inputState
	out     []outputState
	frame   uint64                      // runs that have ended well
	valid   bool                        // the last run's results are there
	buffers map[uintptr]*boundary.Block // given out by rknn_outputs_get
	perf    boundary.Block              // text of RKNN_QUERY_PERF_DETAIL
}

// inputState is one input: where it comes from.
type inputState struct {
	given bool // rknn_inputs_set has filled the input's room
	bound *binding
}

// outputState is one output.
type outputState struct {
	bound  *binding
	placed *binding // memory that the last run wrote the result to in core's form, nil: the execution has it
}

// init_ loads a model: size bytes at model, or the file whose name is there when size is 0. The bytes are not kept. A
// model that is for a driver is left to it.
func init_(modelAt unsafe.Pointer, size, flags uint32, extend *InitExtend) (*Context, error) {
	if modelAt == nil {
		return nil, invalid("model is NULL: with size %d it is the bytes of a model, with size 0 the name of a file", size)
	}
	var source error // of the context whose weights are shared: it may be the driver's
	if flags&flagShareWeight != 0 {
		if extend == nil {
			return nil, invalid("extend is NULL: flag has RKNN_FLAG_SHARE_WEIGHT_MEM, which wants a context in extend->ctx")
		}
		if source = aliveContext("extend->ctx", extend.context); source != nil && !boundary.HasDriver("rknn") {
			return nil, source
		}
	}
	var data []byte
	var path string
	if size == 0 {
		var err error
		if path, err = cString(modelAt); err != nil {
			return nil, fault.Wrap(err, "model")
		}
		if path == "" {
			return nil, refuse(spec.ErrModel, "model is an empty string: with size 0 it is the name of a file")
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
					"has %d bytes", off, n, size)
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

// newContext takes over the caller's reference to m. r is what the context runs.
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

// priorities are the values of the two lowest flag bits.
var priorities = [4]device.Priority{device.PriorityHigh, device.PriorityMedium, device.PriorityLow, device.PriorityLow}

// useShapes makes a set of shapes the current one. What was set for another is forgotten; bindings stay if their memory
// is large enough.
func (c *Context) useShapes(set int) error {
	m := c.model
	for i := range m.in {
		if m.dynamic {
			if err := c.exec.SetShape(i, m.shapes[set].In[i]); err != nil {
				return err
			}
		}
		s := &c.in[i]
		if set != c.set {
			s.given = false
		}
	}
	if set != c.set {
		c.valid = false
	}
	c.set = set
	c.sizes = model.Sizes{}
	for i, p := range m.in {
		c.sizes.Learn(p.Shape, m.shapes[set].In[i])
	}
	return nil
}

// dims are the current dimensions of input or output i, in the model's order.
func (c *Context) inDims(i int) []int64  { return c.model.shapes[c.set].In[i] }
func (c *Context) outDims(i int) []int64 { return c.model.shapes[c.set].Out[i] }

// inPort is input i as core reads it.
func (c *Context) inPort(i int) *io.Port {
	return &io.Port{Tensor: &c.model.in[i].Tensor, At: i, Dims: c.inDims(i), Order: c.run.orders[i]}
}

// dupContext makes a context of the same model with inputs, outputs and runs of its own; flags are those of the source.
func dupContext(source *uintptr) (*Context, error) {
	h := *source
	c, err := handle.Hold[Context](h)
	if err != nil {
		return nil, refuseFor(spec.ErrContext, err, "context_in: %#x", h)
	}
	defer handle.Unhold(h)
	if c.inside() {
		return nil, failed("context_in: it is running, and this is a call from one of its operators")
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

// destroy waits for calls under way. Buffers that were not released are freed; memory made with rknn_create_mem stays.
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
					"has returned")
			}
			if err := c.notCopying("context"); err != nil {
				handle.Unhold(h)
				return err
			}
			c.mu.Lock() // until the call under way is done
			//lint:ignore SA2001 the lock is only waited for
			c.mu.Unlock()
			handle.Unhold(h)
		}
		runtime.Gosched()
	}
}

func (c *Context) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exec.Release()
	c.run.program.Release()
	c.destroyAll(c.states)
	if n := len(c.buffers); n > 0 {
		warn("buffers of rknn_outputs_get were never given back with rknn_outputs_release", "function", "rknn_destroy",
			"buffers", n)
	}
	for _, b := range c.buffers {
		b.Free()
	}
	c.perf.Free()
	c.model.release()
}

// setCoreMask asks the device for cores from the next run on, after a check against the board (section 7). A device
// that schedules its cores itself, as the CPU does, pays no heed.
func setCoreMask(c *Context, mask CoreMask) error {
	err := checkCoreMask(c.model.board, mask)
	if err == nil {
		c.cores.Store(uint32(mask))
	}
	return err
}

func checkCoreMask(b target, mask CoreMask) error {
	if !b.hasCores(mask) || b.cores == 1 && mask != 0 {
		return failed("core_mask is %#x: the board %s of ANYNPU_RKNN_TARGET has %s; the context stays as it was",
			uint32(mask), b.name, b.masks())
	}
	return nil
}

// move makes a new execution when the cores that it may use have changed. Results of the last one are gone then.
func (c *Context) move() error {
	mask := c.cores.Load()
	if mask == c.core {
		return nil
	}
	e, err := c.run.execution(c, mask)
	if err != nil {
		return refuseFor(runCode(err), err, "context: core_mask is %#x", mask)
	}
	c.exec.Renew(e)
	c.core = mask
	return nil
}

// setBatchCoreNum accepts 1 to 3 (section 11).
func setBatchCoreNum(_ *Context, n int32) error {
	if n < 1 || n > 3 {
		return invalid("core_num is %d: it can be 1 to 3", n)
	}
	return nil
}

// cString copies a NUL-terminated string of C memory.
func cString(p unsafe.Pointer) (string, error) {
	const page = 4096 // the smallest of any host
	for n := 0; ; n++ {
		at := unsafe.Add(p, n)
		if n == 0 || uintptr(at)%page == 0 {
			if err := boundary.CheckRange(at, 1); err != nil {
				return "", err
			}
		}
		if *(*byte)(at) == 0 {
			return boundary.CopyString(p)
		}
	}
}

// Placement returns where the nodes of the model run, as JSON. It serves anynpu_placement_report.
func (c *Context) Placement() []byte {
	c.reg.RLock()
	defer c.reg.RUnlock()
	return c.run.program.Placement().JSON()
}
