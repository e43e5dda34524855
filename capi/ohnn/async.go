package ohnn

/*
#include <stdint.h>

#include "../boundary/boundary.h"

static void run_done(uintptr_t f, uintptr_t user, uint32_t code, uintptr_t outputs, int32_t n)
{
	int inside = anynpu_out();
	((void (*)(void *, uint32_t, void **, int32_t))f)((void *)user, code, (void **)outputs, n);
	anynpu_back(inside);
}

static void service_died(uintptr_t f, uintptr_t user)
{
	int inside = anynpu_out();
	((void (*)(void *))f)((void *)user);
	anynpu_back(inside);
}
*/
import "C"

import (
	"fmt"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// executorSetOnRunDone sets what asynchronous runs call when they end. The reference implementation refuses it.
func executorSetOnRunDone(e *Executor, f uintptr) error {
	return e.setCallback(&e.async.onRunDone, f)
}

// executorSetOnServiceDied sets what is called, before the run-done function, when the device dies during an
// asynchronous run.
func executorSetOnServiceDied(e *Executor, f uintptr) error {
	return e.setCallback(&e.async.onServiceDied, f)
}

func (e *Executor) setCallback(where *uintptr, f uintptr) error {
	if settings().reference {
		return forbidden("executor: the reference implementation has no asynchronous runs " +
			"[ohnn-executor-reference-implementation]")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	*where = f
	return nil
}

// executorRunAsync starts a run and returns. The callback gets user, the code and, on success, the same array of
// outputs. timeout counts from this call, in milliseconds; 0 stands for no limit. The array of outputs stays the
// program's, which keeps it until the callback.
func executorRunAsync(e *Executor, inputs unsafe.Pointer, nIn uint64, outputs unsafe.Pointer, nOut uint64,
	timeout int32, user uintptr) error {
	started := time.Now()
	for _, a := range []struct {
		name string
		p    unsafe.Pointer
		n    uint64
	}{{"input", inputs, nIn}, {"output", outputs, nOut}} {
		if a.p == nil {
			return invalid("%sTensor: NULL [ohnn-tensor-null]", a.name)
		}
		if a.n == 0 || a.n > maxIndices {
			return invalid("%sCount: %d: want 1 to %d [ohnn-tensor-count]", a.name, a.n, maxIndices)
		}
	}
	if settings().reference {
		return forbidden("executor: the reference implementation has no asynchronous runs " +
			"[ohnn-executor-reference-implementation]")
	}
	if timeout < 0 {
		return invalid("timeout: %d: want milliseconds, 0 for no limit [ohnn-timeout]", timeout)
	}
	if err := e.takesInputs(nIn); err != nil {
		return err
	}
	if err := e.takesOutputs(nOut); err != nil {
		return err
	}
	r := &asyncRun{array: uintptr(outputs), user: user}
	in, err := r.hold("inputTensor", inputs, nIn)
	if err == nil {
		r.to, err = r.hold("outputTensor", outputs, nOut)
	}
	if err == nil {
		r.job, err = e.tensorJob(in, r.to)
	}
	if err == nil {
		if timeout > 0 {
			r.limit = started.Add(time.Duration(timeout) * time.Millisecond)
		}
		err = e.enqueue(r)
	}
	if err != nil {
		r.letGo()
	}
	return err
}

// hold keeps the tensors of an array from being destroyed; NULL elements stay nil.
func (r *asyncRun) hold(name string, p unsafe.Pointer, n uint64) ([]*Tensor, error) {
	if err := boundary.CheckRange(p, 8*n); err != nil {
		return nil, refuseFor(InvalidParameter, err, "%s", name)
	}
	out := make([]*Tensor, n)
	for i, h := range unsafe.Slice((*uintptr)(p), n) {
		if h == 0 {
			continue
		}
		t, err := handle.Hold[Tensor](h)
		if err != nil {
			return nil, refuseFor(InvalidParameter, err, "%s", fmt.Sprintf("%s[%d]: %#x", name, i, h))
		}
		r.held = append(r.held, h)
		out[i] = t
	}
	return out, nil
}

func (r *asyncRun) letGo() {
	for _, h := range r.held {
		handle.Unhold(h)
	}
	r.held = nil
}

func (e *Executor) enqueue(r *asyncRun) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := &e.async
	if a.onRunDone == 0 {
		return forbidden("executor: nothing would tell when the run has ended: call OH_NNExecutor_SetOnRunDone " +
			"first [ohnn-no-run-done]")
	}
	if a.closed {
		return forbidden("executor: it is being destroyed [ohnn-executor-being-destroyed]")
	}
	a.queue = append(a.queue, r)
	if !a.working {
		a.working = true
		go e.work()
	}
	return nil
}

// work runs what is queued until nothing is.
func (e *Executor) work() {
	a := &e.async
	e.mu.Lock()
	for len(a.queue) > 0 {
		r := a.queue[0]
		a.queue = a.queue[1:]
		closed := a.closed
		e.mu.Unlock()
		e.finish(r, closed)
		e.mu.Lock()
	}
	a.working = false
	if a.idle != nil {
		a.idle.Broadcast()
	}
	e.mu.Unlock()
}

// finish runs r, unless the executor is being destroyed, and calls the program back. The tensors are free by then.
func (e *Executor) finish(r *asyncRun, closed bool) {
	err := fault.New(fault.Canceled, "the executor was destroyed [ohnn-executor-destroyed]")
	if !closed {
		// The destruction of the executor releases what the run uses, wherever the run is.
		if failure := e.runQueued(r); failure == nil {
			err = nil
		} else if !e.closing() {
			err = failure
		}
	}
	code := Success
	if err != nil {
		code = runCode(err)
		level := boundary.LevelError
		if fault.KindOf(err) == fault.Canceled {
			level = boundary.LevelInfo
		}
		boundary.Log(level, "ohnn", "asynchronous run failed "+
			"[ohnn-asynchronous-run-failed]", "device", e.npu.name, "result", uint32(code), "error", err)
	}
	r.letGo()
	e.mu.Lock()
	done, gone := e.async.onRunDone, e.async.onServiceDied
	e.mu.Unlock()
	if died(err) && gone != 0 {
		e.call(func() { C.service_died(C.uintptr_t(gone), C.uintptr_t(r.user)) })
	}
	e.call(func() {
		if code == Success {
			C.run_done(C.uintptr_t(done), C.uintptr_t(r.user), C.uint32_t(code), C.uintptr_t(r.array), C.int32_t(len(r.to)))
		} else {
			C.run_done(C.uintptr_t(done), C.uintptr_t(r.user), C.uint32_t(code), 0, 0)
		}
	})
}

// runQueued runs r when the runs before it have ended.
func (e *Executor) runQueued(r *asyncRun) error {
	e.run.Lock()
	defer e.run.Unlock()
	shapes, err := e.do(r.job)
	if err != nil {
		return err
	}
	if !r.limit.IsZero() && time.Now().After(r.limit) { // within its last step, which a device does not leave
		return fault.New(fault.Timeout, "it has ended after its time [ohnn-ended-time]")
	}
	return setShapes(r.to, shapes)
}

// closing reports whether the executor is being destroyed.
func (e *Executor) closing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.async.closed
}

// call calls into the program and remembers on which thread: a callback may destroy the executor and must not wait for
// itself.
func (e *Executor) call(f func()) {
	boundary.InProgram(func() {
		e.setThread(unix.Gettid())
		defer e.setThread(0)
		f()
	})
}

func (e *Executor) setThread(id int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.async.thread = id
}

// stopAsync lets no run begin any more, ends the one under way, and waits until the program was called back for all of
// them, except in a callback of this executor.
func (e *Executor) stopAsync() {
	a := &e.async
	e.mu.Lock()
	a.closed = true
	e.mu.Unlock()
	devices.Ended("ohnn", e.exec.Stats())
	e.exec.Release()
	e.mu.Lock()
	defer e.mu.Unlock()
	a.idle = sync.NewCond(&e.mu)
	for a.working && a.thread != unix.Gettid() {
		a.idle.Wait()
	}
}
