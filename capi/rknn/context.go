package rknn

import (
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/model"
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

	running  atomic.Pointer[io.Execution] // that computes now, nil: none
	canceled atomic.Bool                  // the run under way was ended, for the context is being destroyed

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
	sizes  []int64  // that the last run made of an output with a bound, nil: of any other
}

// priorities are the values of the two lowest flag bits. High is 0, which programs that ask for nothing pass: it is the
// level of the other APIs' defaults, and the lower ones are below it.
var priorities = [4]device.Priority{device.PriorityMedium, device.PriorityLow, device.PriorityLowest,
	device.PriorityLowest}

// useShapes makes a set of shapes the current one. Settings for another set are forgotten; bindings stay if their
// memory is large enough.
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
		return failed("core_mask is %#x: the board %s of ANYNPU_RKNN_TARGET has %s; the context stays as it was "+
			"[rknn-core-mask-board]",
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
		return refuseFor(runCode(err), err, "context: core_mask is %#x [rknn-context-core-mask]", mask)
	}
	c.exec.Renew(e)
	c.core = mask
	return nil
}

// setBatchCoreNum accepts 1 to 3 (section 11).
func setBatchCoreNum(_ *Context, n int32) error {
	if n < 1 || n > 3 {
		return invalid("core_num is %d: it can be 1 to 3 [rknn-core-num]", n)
	}
	return nil
}

// Placement returns where the nodes of the model run, as JSON. It serves anynpu_placement_report.
func (c *Context) Placement() []byte {
	c.reg.RLock()
	defer c.reg.RUnlock()
	return c.run.program.Placement().JSON()
}

// Compiled returns the program of the model. It serves anynpu_export.
func (c *Context) Compiled() (program device.Program, release func()) {
	c.reg.RLock()
	defer c.reg.RUnlock()
	p := c.run.program
	p.Retain()
	return p, p.Release
}

// execution makes an execution for a context on the given cores, with inputs of the context's shapes.
func (r *runnable) execution(c *Context, cores uint32) (device.Execution, error) {
	e, err := r.program.New(device.ExecOptions{Priority: priorities[c.flags&3], CoreMask: cores, Owner: c,
		Profiling: c.flags&flagCollectPerf != 0})
	if err != nil || !c.model.dynamic {
		return e, err
	}
	for i, d := range c.model.shapes[c.set].In {
		if err := e.SetShape(i, d); err != nil {
			e.Release()
			return nil, err
		}
	}
	return e, nil
}
