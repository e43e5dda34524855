package nnapi

import (
	"math"
	"sync"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
)

// Execution is an ANeuralNetworksExecution (section 5): memory bound to the inputs and outputs of a compiled model, and
// what is known of its last computation. It lives on when the compilation is freed. The program uses it from one thread
// at a time; a computation that it started has another.
type Execution struct {
	handle.Ref
	*compiled

	mu       sync.Mutex
	state    state
	freed    bool // by the program, while a computation was under way
	reusable bool
	measure  bool
	padding  bool
	timeout  uint64 // nanoseconds, 0: none
	loop     uint64 // nanoseconds of each WHILE
	inputs   []binding
	outputs  []binding
	touched  bool // an input or output was bound

	plan *plan         // core's
	key  []byte        // of the plan that readKey has read
	core *io.Execution // with everything bound, nil between computations that do not follow one another

	err       error // of the last computation
	durations [2]uint64
}

// state is how far an execution is.
type state uint8

const (
	preparing state = iota
	computing
	completed
)

// Limits of WHILE in nanoseconds.
const (
	defaultLoopTimeout = 2_000_000_000
	maximumLoopTimeout = 15_000_000_000
)

func executionCreate(c *Compilation) (*Execution, error) {
	result, err := c.use()
	if err != nil {
		return nil, err
	}
	e := &Execution{compiled: result, loop: defaultLoopTimeout, inputs: make([]binding, len(result.in)),
		outputs: make([]binding, len(result.out))}
	return e, nil
}

// executionFree lets a computation under way go on to its end, which its event tells.
func executionFree(e *Execution) error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.freed = true
	if e.state != computing {
		e.end()
	}
	return nil
}

// end lets go of everything. The caller holds e.mu, and the program has no handle any more.
func (e *Execution) end() {
	e.letGo()
	for _, list := range [][]binding{e.inputs, e.outputs} {
		for i := range list {
			list[i].release()
		}
	}
	e.compiled.release()
}

// open refuses a setting that comes after the first computation has begun.
func (e *Execution) open() error {
	if e.state != preparing {
		return badState("execution: its computation has begun: call this before, or make a new execution " +
			"[nnapi-execution-computation-begun]")
	}
	return nil
}

func executionEnableInputAndOutputPadding(e *Execution, enable bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(); err != nil {
		return err
	}
	if e.touched {
		return badState("execution: an input or output is set already: call this before [nnapi-execution-input-output]")
	}
	e.padding = enable
	return nil
}

func executionSetReusable(e *Execution, reusable bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(); err != nil {
		return err
	}
	e.reusable = reusable
	return nil
}

// executionSetMeasureTiming, like executionSetTimeout, judges the compilation before the state (section 0).
func executionSetMeasureTiming(e *Execution, measure bool) error {
	if err := e.compiled.single("the measuring of time"); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(); err != nil {
		return err
	}
	e.measure = measure
	return nil
}

func executionSetTimeout(e *Execution, duration uint64) error {
	if err := e.compiled.single("a time limit"); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(); err != nil {
		return err
	}
	e.timeout = duration
	return nil
}

// executionSetLoopTimeout takes more than the maximum as the maximum.
func executionSetLoopTimeout(e *Execution, duration uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(); err != nil {
		return err
	}
	e.loop = min(duration, maximumLoopTimeout)
	return nil
}

func getDefaultLoopTimeout() (uint64, error) { return defaultLoopTimeout, nil }

func getMaximumLoopTimeout() (uint64, error) { return maximumLoopTimeout, nil }

// deadline returns the end of duration from now on, the zero time for none.
func deadline(duration uint64) time.Time {
	if duration == 0 {
		return time.Time{}
	}
	return time.Now().Add(nanoseconds(duration))
}

// result returns output index after a computation that knows its dimensions.
func (e *Execution) result(index int32) (*binding, error) {
	switch {
	case e.state != completed:
		return nil, badState("execution: nothing is computed yet [nnapi-execution-nothing-computed]")
	case e.err != nil && status(e.err) != OutputInsufficientSize:
		return nil, badState("execution: its computation has failed: %v [nnapi-execution-computation-failed]", e.err)
	case uint64(uint32(index)) >= uint64(len(e.outputs)):
		return nil, badData("index: %d: the model has %d outputs [nnapi-index-model-outputs]", index, len(e.outputs))
	}
	return &e.outputs[index], nil
}

// insufficient is the answer for an output that was too small.
func (b *binding) insufficient(index int32) error {
	if !b.short {
		return nil
	}
	return shortOutput(index, b)
}

// executionGetOutputOperandRank gives the rank also of an output that was too small, with OUTPUT_INSUFFICIENT_SIZE.
func executionGetOutputOperandRank(e *Execution, index int32, rank *uint32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, err := e.result(index)
	if err != nil {
		return err
	}
	*rank = uint32(len(b.real))
	return b.insufficient(index)
}

// executionGetOutputOperandDimensions is executionGetOutputOperandRank for the dimensions.
func executionGetOutputOperandDimensions(e *Execution, index int32, p *uint32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, err := e.result(index)
	if err != nil {
		return err
	}
	if len(b.real) == 0 {
		return badData("index: output %d is a scalar and has no dimensions [nnapi-index-output-scalar]", index)
	}
	dims, err := elements(p, uint64(len(b.real)), "dimensions")
	if err != nil {
		return err
	}
	copy(dims, b.real)
	return b.insufficient(index)
}

// durationCodes are the values of DurationCode: on hardware and in the driver, then both from the last fence on.
const durationCodes = 4

// executionGetDuration tells the time of the last computation without that of waiting for fences, whichever code.
func executionGetDuration(e *Execution, code int32, duration *uint64) error {
	*duration = math.MaxUint64
	if code < 0 || code >= durationCodes {
		return badData("durationCode: %d: want 0 to %d [nnapi-duration-code]", code, durationCodes-1)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.state != completed:
		return badState("execution: nothing is computed yet [nnapi-execution-nothing-computed]")
	case e.err != nil:
		return badState("execution: its computation has failed: %v [nnapi-execution-computation-failed]", e.err)
	case !e.measure:
		return badState("execution: its time was not measured: call ANeuralNetworksExecution_setMeasureTiming " +
			"before [nnapi-execution-time-measured]")
	}
	*duration = e.durations[code%2]
	return nil
}

// binding is the memory of one input or output.
type binding struct {
	set    bool
	buf    mem.Buffer // nil: left out
	off    int64      // in buf
	length uint64     // bytes there are
	dims   []uint32   // as far as they are known before the computation; empty for a scalar and an unknown rank
	size   uint64     // bytes that dims take, 0: not known
	device *Memory    // that a device manages, nil: none

	// Of an output, after a computation.
	real  []uint32
	need  uint64 // bytes of the result
	short bool   // length was less
}

func (b *binding) release() {
	if b.buf != nil {
		b.buf.Release()
	}
	*b = binding{}
}

// letGo unbinds everything from the execution of core and gives it back. Only the thread that computes calls it, or one
// that holds e.mu while none does.
func (e *Execution) letGo() {
	if e.core == nil {
		return
	}
	e.core.Unbind()
	e.plan.give(e.core)
	e.plan.release()
	e.core, e.plan = nil, nil
}

// shortOutput is an ordinary answer: programs ask for dimensions this way.
func shortOutput(i int32, b *binding) error {
	return boundary.Note(refuse(OutputInsufficientSize, "execution: output %d has dimensions %v and takes %d bytes: it "+
		"was given %d [nnapi-execution-output-dimensions]", i, b.real, b.need, b.length))
}
