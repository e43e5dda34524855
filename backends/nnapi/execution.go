package nnapi

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// execution makes an execution of the driver's for each run: before feature level 5 one computes once. A run cannot be
// stopped: one whose deadline passes, or that is cancelled, is given up. It ends for its caller, goes on for the
// driver, and keeps its memory for as long.
type execution struct {
	exec.Base
	prog  *program
	slots []slot // inputs, then outputs; of who holds the lane
	lane  driver.Lane
	holds atomic.Int32 // the execution's own, and one for a run
	done  bool         // a run has succeeded
	data  [][]byte     // of the unbound outputs of the last run
}

// New implements device.Program.
func (p *program) New(device.ExecOptions) (device.Execution, error) {
	if err := p.dev.alive(); err != nil {
		return nil, err
	}
	e := &execution{Base: exec.Base{Bound: exec.NewBindings(p.in, p.out)}, prog: p, lane: driver.NewLane()}
	e.Result = e.result
	e.holds.Store(1)
	for _, port := range slices.Concat(p.in, p.out) {
		size, _ := port.Type.ByteSize()
		e.slots = append(e.slots, slot{typ: port.Type, size: size})
	}
	p.Retain()
	return e, nil
}

// BindInput implements device.Execution.
func (e *execution) BindInput(i int, v mem.View) error {
	return e.Task.Do(func() error {
		if err := e.Bound.BindInput(i, v); err != nil {
			return err
		}
		e.forget(&e.slots[i], v)
		return nil
	})
}

// BindOutput implements device.Execution.
func (e *execution) BindOutput(i int, v mem.View) error {
	return e.Task.Do(func() error {
		if err := e.Bound.BindOutput(i, v); err != nil {
			return err
		}
		e.forget(&e.slots[len(e.prog.in)+i], v)
		return nil
	})
}

// forget ends memory of a buffer that is no longer bound, unless a run that was given up has it.
func (e *execution) forget(s *slot, v mem.View) {
	select {
	case e.lane <- struct{}{}:
		if s.given != nil && s.given.buf != v.Buf {
			s.drop(e.prog.dev)
		}
		<-e.lane
	default:
	}
}

// Start implements device.Execution.
func (e *execution) Start(r device.RunRequest) error {
	if err := e.prog.dev.alive(); err != nil {
		return err
	}
	return e.Task.Start(r, func() error {
		e.done = false
		return e.Bound.Ready()
	}, e.run)
}

func (e *execution) run(ctx context.Context) error {
	begin, life := time.Now(), e.prog.dev.life
	leave, err := e.lane.Enter(ctx, life)
	if err != nil {
		return err
	}
	defer func() { leave() }()
	if err := e.enter(); err != nil {
		return err
	}
	e.holds.Add(1)
	err = e.prog.dev.note(e.lane.Call(ctx, life, "ANeuralNetworksExecution_compute", e.compute, &leave, e.drop))
	if err == nil {
		err = e.deliver()
	}
	if err != nil {
		return err
	}
	e.Counts.Runs++
	e.Counts.LastRun = time.Since(begin)
	return nil
}

// compute is one execution of the driver's, from making it to freeing it.
func (e *execution) compute() error {
	d := e.prog.dev.driver
	var at uintptr
	code, err := d.ExecutionCreate(e.prog.made.at, unsafe.Pointer(&at))
	if err = made("ANeuralNetworksExecution_create", code, err, at); err != nil {
		return err
	}
	defer func() { _ = d.ExecutionFree(at) }() // nothing is left to do with an error
	for i := range e.slots {
		if err := e.hand(at, i); err != nil {
			return err
		}
	}
	code, err = d.ExecutionCompute(at)
	if err = call("ANeuralNetworksExecution_compute", code, err); err != nil {
		return err
	}
	for i := range e.prog.out {
		if err := e.shape(at, i); err != nil {
			return fault.Wrap(err, "output %d", i)
		}
	}
	return nil
}

// hand tells an execution where an input or output is.
func (e *execution) hand(at uintptr, i int) error {
	d, s, k, size := e.prog.dev.driver, e.slots[i].set, int32(i), uint64(e.slots[i].size)
	if i < len(e.prog.in) {
		if s.at != 0 {
			code, err := d.ExecutionSetInputFromMemory(at, k, nil, s.at, uint64(s.begin), size)
			return call("ANeuralNetworksExecution_setInputFromMemory", code, err)
		}
		code, err := d.ExecutionSetInput(at, k, nil, unsafe.Pointer(&s.bytes[0]), size)
		return call("ANeuralNetworksExecution_setInput", code, err)
	}
	k -= int32(len(e.prog.in))
	if s.at != 0 {
		code, err := d.ExecutionSetOutputFromMemory(at, k, nil, s.at, uint64(s.begin), size)
		return call("ANeuralNetworksExecution_setOutputFromMemory", code, err)
	}
	code, err := d.ExecutionSetOutput(at, k, nil, unsafe.Pointer(&s.bytes[0]), size)
	return call("ANeuralNetworksExecution_setOutput", code, err)
}

// enter has the driver's memory filled with the inputs that are bound.
func (e *execution) enter() error {
	for i := range e.prog.in {
		s := &e.slots[i]
		v, err := e.Bound.In[i].Input()
		if err == nil {
			err = e.read(s, v)
		}
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
	}
	for i := range e.prog.out {
		s, v, err := &e.slots[len(e.prog.in)+i], mem.View{}, error(nil)
		if e.Bound.Out[i].View.Buf != nil {
			v, err = e.Bound.Out[i].Output(s.typ)
		}
		if err == nil {
			_, err = e.prog.dev.use(s, v)
		}
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
	}
	return nil
}

func (e *execution) read(s *slot, v mem.View) error {
	copied, err := e.prog.dev.use(s, v)
	switch {
	case err != nil:
		return err
	case !copied:
		return v.Buf.Sync(mem.ToDevice, v.Off, s.size)
	}
	e.Counts.CopiedIn += s.size
	return v.Load(s.set.bytes)
}

// deliver brings the results where they are wanted.
func (e *execution) deliver() error {
	data := make([][]byte, len(e.prog.out))
	for i := range e.prog.out {
		s := &e.slots[len(e.prog.in)+i]
		if s.set != s.own {
			if err := s.set.buf.Sync(mem.FromDevice, s.set.off, s.size); err != nil {
				return fault.Wrap(err, "output %d", i)
			}
			continue
		}
		if e.Bound.Out[i].View.Buf == nil { // the next run writes the same memory
			data[i] = slices.Clone(s.set.bytes)
			continue
		}
		v, err := e.Bound.Out[i].Output(s.typ)
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		views := []mem.View{v}
		mem.Begin(views)
		err = v.Store(s.set.bytes)
		mem.End(views)
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		e.Counts.CopiedOut += s.size
	}
	e.data, e.done = data, true
	return nil
}

// shape compares the sizes that the driver says a result has.
func (e *execution) shape(at uintptr, i int) error {
	d := e.prog.dev.driver
	var rank uint32
	code, err := d.ExecutionGetOutputOperandRank(at, int32(i), unsafe.Pointer(&rank))
	if err = call("ANeuralNetworksExecution_getOutputOperandRank", code, err); err != nil {
		return err
	}
	want := e.prog.sizes[i]
	if int64(rank) != int64(len(want)) {
		return fault.New(fault.Device, "ANeuralNetworksExecution_getOutputOperandRank says %d, the model has %d", rank,
			len(want))
	}
	dims := make([]uint32, rank)
	code, err = d.ExecutionGetOutputOperandDimensions(at, int32(i), unsafe.Pointer(&dims[0]))
	if err = call("ANeuralNetworksExecution_getOutputOperandDimensions", code, err); err != nil {
		return err
	}
	if !slices.Equal(dims, want) {
		return fault.New(fault.Device, "ANeuralNetworksExecution_getOutputOperandDimensions says %v, the model has %v", dims,
			want)
	}
	return nil
}

func (e *execution) result(i int) (t tensor.Type, data []byte, done bool) {
	if !e.done {
		return t, nil, false
	}
	return e.prog.out[i].Type, e.data[i], true
}

// Release implements device.Execution.
func (e *execution) Release() {
	if e.Close() {
		e.drop()
	}
}

// drop ends a hold; the last one ends what the driver has of the execution.
func (e *execution) drop() {
	if e.holds.Add(-1) > 0 {
		return
	}
	for i := range e.slots {
		e.prog.dev.free(e.slots[i].given)
		e.prog.dev.free(e.slots[i].own)
	}
	e.prog.Release()
}
