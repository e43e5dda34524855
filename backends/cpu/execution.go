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
	in, out []binding
	results []tensor.Tensor // of the last run, nil: none
	inputs  []tensor.Tensor // reused between runs
	offers  []tensor.Tensor
	stats   device.Stats
}

func newExecution(p *program, inst instance) *execution {
	e := &execution{prog: p, inst: inst, in: make([]binding, len(p.in)), out: make([]binding, len(p.out))}
	for i, port := range p.in {
		if dims, ok := port.Type.Shape.Ints(); ok {
			e.in[i].dims = dims
		}
	}
	e.inputs, e.offers = make([]tensor.Tensor, len(p.in)), make([]tensor.Tensor, len(p.out))
	return e
}

func checkIndex(what string, i, n int) error {
	if i < 0 || i >= n {
		return fault.New(fault.Argument, "%s %d of %d", what, i, n)
	}
	return nil
}

// SetShape implements device.Execution.
func (e *execution) SetShape(in int, dims []int64) error {
	return e.task.Do(func() error {
		if err := checkIndex("input", in, len(e.in)); err != nil {
			return err
		}
		return fault.Wrap(e.setDims(in, dims), "input %d", in)
	})
}

func (e *execution) setDims(in int, dims []int64) error {
	want := e.prog.in[in].Type
	if _, ok := want.Shape.Merge(tensor.Of(dims...)); !ok {
		return fault.New(fault.Shape, "want %v, got %v", want.Shape, dims)
	}
	if _, ok := tensor.T(want.DType, dims...).ByteSize(); !ok {
		return fault.New(fault.Shape, "%v%v has no size", want.DType, dims)
	}
	e.in[in].dims = slices.Clone(dims)
	return nil
}

// BindInput implements device.Execution.
func (e *execution) BindInput(i int, v mem.View) error {
	return e.task.Do(func() error {
		if err := checkIndex("input", i, len(e.in)); err != nil {
			return err
		}
		if v.Buf != nil {
			if err := checkView(e.prog.in[i], v); err != nil {
				return fault.Wrap(err, "bind input %d", i)
			}
			if dims, ok := v.Type.Shape.Ints(); ok {
				if err := e.setDims(i, dims); err != nil {
					return fault.Wrap(err, "bind input %d", i)
				}
			}
		}
		e.in[i].bind(v)
		return nil
	})
}

// BindOutput implements device.Execution.
func (e *execution) BindOutput(i int, v mem.View) error {
	return e.task.Do(func() error {
		if err := checkIndex("output", i, len(e.out)); err != nil {
			return err
		}
		if v.Buf != nil {
			if err := checkView(e.prog.out[i], v); err != nil {
				return fault.Wrap(err, "bind output %d", i)
			}
		}
		e.out[i].bind(v)
		return nil
	})
}

// Start implements device.Execution.
func (e *execution) Start(r device.RunRequest) error {
	return e.task.Start(r, e.ready, e.run)
}

// ready checks that all inputs are there and that equal symbols have equal sizes.
func (e *execution) ready() error {
	symbols := map[uint32]int64{}
	for i := range e.in {
		b, port := &e.in[i], e.prog.in[i]
		if b.dims == nil {
			return fault.New(fault.State, "input %d: %v has no sizes set", i, port.Type)
		}
		if b.view.Buf == nil {
			return fault.New(fault.State, "input %d is not bound", i)
		}
		for k, d := range port.Type.Shape.Dims {
			if d.Known() || d.Sym == tensor.Unknown {
				continue
			}
			if n, seen := symbols[d.Sym]; seen && n != b.dims[k] {
				return fault.New(fault.Shape, "input %d: dimension %d is %d, another input with the same unknown size has %d", i, k, b.dims[k], n)
			}
			symbols[d.Sym] = b.dims[k]
		}
	}
	e.results = nil
	return nil
}

func (e *execution) run(ctx context.Context) error {
	begin := time.Now()
	for i := range e.in {
		t, copied, err := e.in[i].input(e.prog.in[i])
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		e.inputs[i] = t
		e.stats.CopiedIn += copied
	}
	for i := range e.out {
		e.offers[i] = tensor.Tensor{Data: e.out[i].offer(e.prog.out[i], e.inputs)}
	}
	results, err := e.inst.run(ctx, e.inputs, e.offers)
	if err != nil {
		return err
	}
	for i := range e.out {
		if e.out[i].view.Buf == nil {
			if e.isInput(results[i].Data) {
				results[i].Data = slices.Clone(results[i].Data)
			}
			continue
		}
		copied, err := e.out[i].output(results[i], e.offers[i].Data)
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
		if overlap(data, e.inputs[i].Data) {
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
		if err := checkIndex("output", i, len(e.out)); err != nil {
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
		if err := checkIndex("output", i, len(e.out)); err != nil {
			return err
		}
		if e.results == nil || e.out[i].view.Buf != nil {
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
	for i := range e.in {
		e.in[i].release()
	}
	for i := range e.out {
		e.out[i].release()
	}
	e.inst.release()
	e.results = nil
	e.prog.Release()
}
