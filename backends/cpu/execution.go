package cpu

import (
	"context"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// execution is one run at a time of a program. Its fields are touched inside task.Do or by the run under way only.
type execution struct {
	task    exec.Task
	prog    *program
	inst    instance
	bound   *exec.Bindings
	stage   []staging       // per input
	results []tensor.Tensor // of the last run, nil: none
	inputs  []tensor.Tensor // reused between runs
	offers  []tensor.Tensor
	stats   device.Stats
	prepare func() error // what Start needs, made once
	work    func(ctx context.Context) error
}

func newExecution(p *program, inst instance) *execution {
	e := &execution{
		prog: p, inst: inst, bound: exec.NewBindings(p.in, p.out), stage: make([]staging, len(p.in)),
		inputs: make([]tensor.Tensor, len(p.in)), offers: make([]tensor.Tensor, len(p.out)),
	}
	e.prepare, e.work = e.begin, e.run
	return e
}

// begin checks that a run may begin.
func (e *execution) begin() error {
	if err := e.bound.Ready(); err != nil {
		return err
	}
	e.results = nil
	return nil
}

// SetShape implements device.Execution.
func (e *execution) SetShape(in int, dims []int64) error {
	return e.task.Do(func() error { return e.bound.SetShape(in, dims) })
}

// BindInput implements device.Execution.
func (e *execution) BindInput(i int, v mem.View) error {
	return e.task.Do(func() error { return e.bound.BindInput(i, v) })
}

// BindOutput implements device.Execution.
func (e *execution) BindOutput(i int, v mem.View) error {
	return e.task.Do(func() error { return e.bound.BindOutput(i, v) })
}

// Start implements device.Execution.
func (e *execution) Start(r device.RunRequest) error {
	return e.task.Start(r, e.prepare, e.work)
}

func (e *execution) run(ctx context.Context) error {
	begin := time.Now()
	for i := range e.inputs {
		t, copied, err := e.stage[i].input(&e.bound.In[i])
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		e.inputs[i] = t
		e.stats.CopiedIn += copied
	}
	for i := range e.offers {
		e.offers[i] = tensor.Tensor{Data: offer(&e.bound.Out[i], e.inputs)}
	}
	results, err := e.inst.run(ctx, e.inputs, e.offers)
	if err != nil {
		return err
	}
	for i := range e.bound.Out {
		if e.bound.Out[i].View.Buf == nil {
			if e.isInput(results[i].Data) {
				results[i].Data = slices.Clone(results[i].Data)
			}
			continue
		}
		copied, err := output(&e.bound.Out[i], results[i], e.offers[i].Data)
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		e.stats.CopiedOut += copied
	}
	e.results = results
	e.stats.Runs++
	e.stats.LastRun = time.Since(begin)
	e.stats.Nodes, e.stats.PeakMemory = e.inst.profile()
	for i := range e.stats.Nodes {
		e.stats.Nodes[i].Device = e.prog.dev.info.ID
	}
	return nil
}

// isInput reports whether data lies in the memory of an input, which is the caller's again when the run has ended.
func (e *execution) isInput(data []byte) bool {
	for i := range e.inputs {
		if mem.Overlap(data, e.inputs[i].Data) {
			return true
		}
	}
	return false
}

// Cancel implements device.Execution.
func (e *execution) Cancel() { e.task.Cancel() }

// OutputType implements device.Execution.
func (e *execution) OutputType(i int) (t tensor.Type, err error) {
	err = e.task.Do(func() error {
		if err := exec.CheckIndex("output", i, len(e.bound.Out)); err != nil {
			return err
		}
		if t = e.prog.out[i].Type; e.results != nil {
			t = e.results[i].Type()
		}
		return nil
	})
	return t, err
}

// OutputData implements device.Execution.
func (e *execution) OutputData(i int) (data []byte, err error) {
	err = e.task.Do(func() error {
		if err := exec.CheckIndex("output", i, len(e.bound.Out)); err != nil {
			return err
		}
		if e.results == nil || e.bound.Out[i].View.Buf != nil {
			return fault.New(fault.State, "output %d: bound, or no run has succeeded", i)
		}
		data = e.results[i].Data
		return nil
	})
	return data, err
}

// Stats implements device.Execution; after Release it returns the zero Stats.
func (e *execution) Stats() (s device.Stats) {
	_ = e.task.Do(func() error { s = e.stats; return nil })
	return s
}

// Release implements device.Execution.
func (e *execution) Release() {
	if !e.task.Close() {
		return
	}
	e.bound.Release()
	for i := range e.stage {
		e.stage[i].release()
	}
	e.inst.release()
	e.results = nil
	e.prog.Release()
}
