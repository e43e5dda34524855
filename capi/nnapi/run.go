package nnapi

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// begin makes the execution one that computes. A failure of complete counts as a computation that has failed.
func (e *Execution) begin() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.state == computing:
		return badState("execution: it is being computed [nnapi-execution-being-computed]")
	case e.state == completed && !e.reusable:
		return badState("execution: it was computed already: make a new one, or call " +
			"ANeuralNetworksExecution_setReusable before the first computation [nnapi-execution-computed-already]")
	}
	e.state = computing
	if err := e.complete(); err != nil {
		e.state, e.err = completed, err
		return err
	}
	return nil
}

// complete refuses a computation for which an input or output is missing.
func (e *Execution) complete() error {
	for i := range e.inputs {
		if !e.inputs[i].set {
			return badData("execution: input %d is not set: call ANeuralNetworksExecution_setInput before "+
				"[nnapi-execution-input-set]", i)
		}
	}
	for i := range e.outputs {
		if !e.outputs[i].set {
			return badData("execution: output %d is not set: call ANeuralNetworksExecution_setOutput before "+
				"[nnapi-execution-output-set]", i)
		}
	}
	return nil
}

// finish notes how the computation has ended, and returns err.
func (e *Execution) finish(err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state, e.err = completed, err
	if !e.reusable || e.freed {
		e.letGo()
	}
	for i := range e.outputs {
		if m := e.outputs[i].device; m != nil {
			m.setState(e.outputs[i].real, err == nil)
		}
	}
	if e.freed {
		e.end()
	}
	return err
}

// bind takes an execution of core of the plan for the bound shapes, and binds the operands to it. An output whose size
// is not known before stays with the device. A plan that has to be made is made until then.
func (e *Execution) bind(until time.Time) error {
	if err := e.choose(until); err != nil {
		return err
	}
	ex, err := e.plan.take(device.ExecOptions{Priority: e.priority})
	if err != nil {
		e.plan.release()
		e.plan = nil
		return err
	}
	e.core = ex
	for k, i := range e.plan.feeds {
		b := &e.inputs[i]
		if b.changes(&e.in[i]) {
			continue
		}
		if err := ex.Input(k, b.view(&e.in[i], b.dims)); err != nil {
			return err
		}
	}
	for i := range e.outputs {
		b := &e.outputs[i]
		if b.buf == nil || b.size == 0 {
			continue
		}
		if err := ex.Output(i, b.view(&e.out[i], b.dims)); err != nil {
			return err
		}
	}
	return nil
}

// bindAnew binds the inputs that each computation finds in another state.
func (e *Execution) bindAnew() error {
	for k, i := range e.plan.feeds {
		b, p := &e.inputs[i], &e.in[i]
		if !b.changes(p) {
			continue
		}
		dims, err := b.held()
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		v := b.view(p, dims)
		if p.core.DType == tensor.Bool {
			err = feedBooleans(e.core, k, v)
		} else {
			err = e.core.Input(k, v)
		}
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
	}
	return nil
}

// compute computes as is asked, but for the execution's own settings, and writes the outputs.
func (e *Execution) compute(r device.RunRequest) error {
	err := e.perform(r)
	if err == nil {
		return e.outcome()
	}
	if _, told := boundary.Prescribed[ResultCode](err); told {
		return err
	}
	return refuseFor(runCode(err), err, "execution")
}

func (e *Execution) perform(r device.RunRequest) error {
	if e.core != nil && len(e.values) > 0 {
		outdated, err := e.outdated()
		if err != nil {
			return err
		}
		if outdated {
			e.letGo()
		}
	}
	if e.core == nil {
		if err := e.bind(r.Deadline); err != nil {
			e.letGo()
			return err
		}
	}
	if err := e.bindAnew(); err != nil {
		return err
	}
	r.LoopLimit = e.loopLimit()
	if err := e.core.Run(r); err != nil {
		return err
	}
	for i := range e.outputs {
		if err := e.store(i); err != nil {
			return fault.Wrap(err, "output %d", i)
		}
	}
	if e.measure {
		took := uint64(e.core.Stats().LastRun)
		e.durations = [2]uint64{took, took}
	}
	return nil
}

// loopLimit is the limit of loops as core has it, to which 0 is none: the API's 0 lets no loop begin a trip.
func (e *Execution) loopLimit() time.Duration { return max(nanoseconds(e.loop), 1) }

// store notes the dimensions of output i, and copies it where it was left with the device.
func (e *Execution) store(i int) error {
	b := &e.outputs[i]
	if b.size > 0 && b.buf != nil {
		b.real, b.need = b.dims, b.size
		return nil
	}
	t, err := e.core.OutputType(i)
	if err != nil {
		return err
	}
	if b.real, b.need, err = realSize(b, &e.out[i], t); err != nil {
		return err
	}
	if b.short = b.buf != nil && b.need > b.length; b.short || b.buf == nil || b.need == 0 {
		return nil
	}
	data, err := e.core.OutputData(i)
	if err != nil {
		return err
	}
	return guarded("the memory", func() error { return mem.Write(b.buf, b.off, data) })
}

// realSize reads a result's dimensions, which agree with those known before, and its bytes.
func realSize(b *binding, p *port, t tensor.Type) ([]uint32, uint64, error) {
	sizes, ok := t.Shape.Ints()
	n, sized := t.ByteSize()
	if !ok || !sized || t.DType != p.core.DType {
		return nil, 0, fault.New(fault.Device, "the device reports %v for %v [nnapi-device-reports]", t, p.core)
	}
	dims := make([]uint32, len(sizes))
	for i, s := range sizes {
		dims[i] = uint32(s)
	}
	if len(b.dims) > 0 && !agree(b.dims, dims) {
		return nil, 0, fault.New(fault.Shape, "it has dimensions %v: those declared are %v "+
			"[nnapi-dimensions-those-declared]", dims, b.dims)
	}
	return dims, uint64(n), nil
}

// outcome is the answer of a computation that has not failed.
func (e *Execution) outcome() error {
	for i := range e.outputs {
		if e.outputs[i].short {
			return shortOutput(int32(i), &e.outputs[i])
		}
	}
	return nil
}

func executionCompute(e *Execution) error { return e.computeNow(nil) }

// computeNow computes and waits for the end; burst is nil where the computation is part of none.
func (e *Execution) computeNow(burst *device.Burst) error {
	if err := e.begin(); err != nil {
		return err
	}
	return e.finish(e.compute(device.RunRequest{Deadline: deadline(e.timeout), Burst: burst}))
}

// executionStartCompute reports what is wrong with the call, the event what is wrong with the computation.
func executionStartCompute(e *Execution) (*Event, error) {
	if err := e.begin(); err != nil {
		return nil, err
	}
	ev := newEvent()
	limit := deadline(e.timeout)
	go func() { ev.set(e.finish(e.compute(device.RunRequest{Deadline: limit}))) }()
	return ev, nil
}

// executionStartComputeWithDependencies waits for the events on a goroutine, not on a thread. The time limit of the
// execution counts from now on, duration from the last event. An event that ends with an error ends the computation
// with OP_FAILED: the reference implementation ignores some of them.
func executionStartComputeWithDependencies(e *Execution, p unsafe.Pointer, n uint32, duration uint64) (*Event, error) {
	waits, err := dependencies(p, n)
	if err == nil && duration > 0 {
		err = e.compiled.single("a duration")
	}
	if err == nil {
		err = e.specified()
	}
	if err == nil {
		err = e.begin()
	}
	if err != nil {
		letGo(waits)
		return nil, err
	}
	ev := newEvent()
	limit := deadline(e.timeout)
	go func() { ev.set(e.finish(e.computeAfter(waits, limit, duration))) }()
	return ev, nil
}

// specified refuses outputs whose dimensions are not known before the computation.
func (e *Execution) specified() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.outputs {
		if b := &e.outputs[i]; b.set && b.buf != nil && b.size == 0 {
			return badData("execution: output %d has dimensions %v: after dependencies all of them must be known "+
				"[nnapi-execution-output-dimensions-dependencies]", i, b.dims)
		}
	}
	return nil
}

// dependencies reads an array of events, whose fences the caller lets go, also of those before an error.
func dependencies(p unsafe.Pointer, n uint32) (waits []*Event, err error) {
	if p == nil && n > 0 {
		return nil, null("dependencies")
	}
	given, err := elements((*uintptr)(p), uint64(n), "dependencies")
	if err != nil {
		return nil, err
	}
	for i, h := range given {
		name := fmt.Sprintf("dependencies[%d]", i)
		if h == 0 {
			return waits, null(name)
		}
		ev, err := handle.Hold[Event](h)
		if err != nil {
			return waits, refuseFor(BadData, err, "%s: %#x", name, h)
		}
		if ev.fence != nil {
			ev.fence.retain()
		}
		handle.Unhold(h) // the event lives on in waits, whatever the program does with its handle
		waits = append(waits, ev)
	}
	return waits, nil
}

// letGo ends what dependencies holds.
func letGo(waits []*Event) {
	for _, ev := range waits {
		if ev.fence != nil {
			ev.fence.release()
		}
	}
}

// dependency is a fence that core waits for, or hands on.
type dependency struct {
	*fence
	failed func(err error) error
}

// Wait implements device.Fence.
func (d dependency) Wait(ctx context.Context) error {
	err := d.wait(ctx)
	if err != nil && ctx.Err() == nil {
		return d.failed(err)
	}
	return err
}

// FD implements device.Fence.
func (d dependency) FD() (fd int, ok bool) { return d.fd, true }

// hands reports whether fences may go to the device that computes. Inputs that are read before each computation must be
// there by then, and a time that is measured does not have the wait in it.
func (e *Execution) hands() bool {
	if e.measure || e.whole == nil || !device.TakesFences(e.whole.program) {
		return false
	}
	for i := range e.inputs {
		if e.inputs[i].buf == nil || e.inputs[i].changes(&e.in[i]) {
			return false
		}
	}
	return true
}

// computeAfter waits for events here, but for fences without a time limit where core can hand them on.
func (e *Execution) computeAfter(waits []*Event, limit time.Time, duration uint64) error {
	defer letGo(waits)
	hands, left := limit.IsZero() && duration == 0 && e.hands(), []device.Fence(nil)
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if !limit.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, limit)
	}
	defer cancel()
	for i, ev := range waits {
		failed := func(err error) error {
			return boundary.RefuseFor(OpFailed, err, "execution: dependency %d of %d has failed "+
				"[nnapi-execution-dependency-failed]", i, len(waits))
		}
		if ev.fence != nil && hands {
			left = append(left, dependency{ev.fence, failed})
			continue
		}
		if err := ev.wait(ctx); err != nil {
			if ctx.Err() != nil {
				return refuse(MissedDeadlineTransient, "execution: dependency %d of %d has not come in time "+
					"[nnapi-execution-dependency-come]", i, len(waits))
			}
			return failed(err)
		}
	}
	if own := deadline(duration); limit.IsZero() || !own.IsZero() && own.Before(limit) {
		limit = own
	}
	return e.compute(device.RunRequest{Deadline: limit, Fences: left})
}
