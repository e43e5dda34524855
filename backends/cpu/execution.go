package cpu

import (
	"context"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// execution is one run at a time of a program. Its fields are touched inside task.Do or by the run under way only.
type execution struct {
	exec.Base
	prog    *program
	inst    instance
	stage   []staging       // per input
	results []tensor.Tensor // of the last run, nil: none
	inputs  []tensor.Tensor // reused between runs
	offers  []tensor.Tensor
	copies  [][]byte     // of inputs that are results, per output
	prepare func() error // what Start needs, made once
	work    func(ctx context.Context) error
}

func newExecution(p *program, inst instance) *execution {
	e := &execution{
		Base: exec.Base{Bound: exec.NewBindings(p.in, p.out)}, prog: p, inst: inst, stage: make([]staging, len(p.in)),
		inputs: make([]tensor.Tensor, len(p.in)), offers: make([]tensor.Tensor, len(p.out)),
		copies: make([][]byte, len(p.out)),
	}
	e.prepare, e.work, e.Result = e.begin, e.run, e.result
	e.Task.Sleeps, e.Task.Parting = inst.sleeps, inst.end
	return e
}

// begin checks that a run may begin.
func (e *execution) begin() error {
	if err := e.Bound.Ready(); err != nil {
		return err
	}
	e.results = nil
	return nil
}

// Start implements device.Execution. A run that has to wait long for a thread is computed on a goroutine of its own: one
// that comes from C can go on only on its program's thread, which takes long to wake, and a thread of the pool would be
// idle until then. The program's thread is woken when the run has ended, beside the next run.
func (e *execution) Start(r device.RunRequest) error { return e.Task.Start(r, e.prepare, e.work) }

func (e *execution) run(ctx context.Context) error {
	begin := time.Now()
	for i := range e.inputs {
		var copied int64
		t, apart := rowsApart(&e.Bound.In[i], e.prog.plan.imageRow(i))
		if e.prog.plan.imageRow(i) > 0 {
			e.inst.setApart(i, int(apart))
		}
		if apart == 0 {
			var err error
			if t, copied, err = e.stage[i].input(&e.Bound.In[i]); err != nil {
				return fault.Wrap(err, "input %d", i)
			}
		}
		e.inputs[i] = t
		e.Counts.CopiedIn += copied
	}
	aliases := false
	for i := range e.offers {
		data, aliased := offer(e.Bound.In, e.Bound.Out, i)
		e.offers[i] = tensor.Tensor{Data: data}
		aliases = aliases || aliased
	}
	results, err := e.inst.run(ctx, e.inputs, e.offers)
	if err != nil {
		return err
	}
	for i := range e.Bound.Out {
		// An input that is a result as it is: the caller may change it after the run, and storing another result where it
		// lies does now.
		if (e.Bound.Out[i].View.Buf == nil || aliases) && e.isInput(results[i].Data) {
			n := len(results[i].Data)
			if len(e.copies[i]) < n {
				own, err := mem.Make[byte](n)
				if err != nil {
					return fault.Wrap(err, "output %d", i)
				}
				e.copies[i] = own
			}
			kernel.Copy(e.copies[i], results[i].Data)
			results[i].Data = e.copies[i][:n:n]
		}
	}
	for i := range e.Bound.Out {
		if e.Bound.Out[i].View.Buf == nil {
			continue
		}
		copied, err := output(&e.Bound.Out[i], results[i], e.offers[i].Data)
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		e.Counts.CopiedOut += copied
		results[i].Data = nil
	}
	e.results = results
	e.Counts.Runs++
	e.Counts.LastRun = time.Since(begin)
	e.Counts.Nodes, e.Counts.PeakMemory = e.inst.profile()
	for i := range e.Counts.Nodes {
		e.Counts.Nodes[i].Device = e.prog.dev.info.ID
	}
	return nil
}

func (e *execution) result(i int) (t tensor.Type, data []byte, done bool) {
	if e.results == nil {
		return t, nil, false
	}
	return e.results[i].Type(), e.results[i].Data, true
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

// Release implements device.Execution.
func (e *execution) Release() {
	if !e.Close() {
		return
	}
	for i := range e.stage {
		e.stage[i].release()
	}
	e.inst.release()
	e.results, e.copies = nil, nil
	e.prog.Release()
}
