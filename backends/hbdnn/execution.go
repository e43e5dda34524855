package hbdnn

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// call is what hbDNNInfer takes: the variable of the task, the address of the outputs, the control values, a memory to
// flush, and the tensors.
type call struct {
	*arguments
	control, flushed int
	tensors          []int // where those of the inputs begin, then of the outputs
	inputs, outputs  int   // where the first of each begins
}

func newCall(p *program, o device.ExecOptions) (*call, error) {
	c := &call{control: 16, flushed: 16 + sizeControl}
	at, size := c.flushed+sizeMemory, sizeSlots+p.dev.generation.size()
	c.inputs = at
	for range p.in {
		c.tensors, at = append(c.tensors, at), at+size
	}
	c.outputs = at
	for range p.out {
		c.tensors, at = append(c.tensors, at), at+size
	}
	var err error
	if c.arguments, err = newArguments(int64(at + size)); err != nil { // room for one more: the first input of none
		return nil, err
	}
	for i, one := range append(append([]*port{}, p.in...), p.out...) {
		copy(c.data[c.tensors[i]+sizeSlots:], one.raw)
	}
	c.setWord(c.control+8, priorities[o.Priority])
	return c, nil
}

// priorities are those of tasks, of which 255 would interrupt others.
var priorities = [4]int32{device.PriorityMedium: 100, device.PriorityHigh: 200}

// execution runs tasks of a model, one at a time. A run cannot be stopped: one whose deadline passes, or that is
// cancelled, is given up. It ends for its caller, goes on for the driver, and keeps its memory for as long.
type execution struct {
	exec.Base
	prog  *program
	call  *call
	slots []slot // inputs, then outputs; of who holds the lane
	lane  driver.Lane
	holds atomic.Int32  // the execution's own, and one for a run
	types []tensor.Type // of the outputs of the last run, nil: none
	data  [][]byte      // of the unbound outputs of the last run
}

// Start implements device.Execution.
func (e *execution) Start(r device.RunRequest) error {
	if err := e.prog.dev.Alive(); err != nil {
		return err
	}
	return e.Task.Start(r, func() error {
		e.types = nil
		return e.Bound.Ready()
	}, e.run)
}

func (e *execution) run(ctx context.Context) error {
	begin := time.Now()
	leave, err := e.lane.Enter(ctx, e.prog.dev.Life)
	if err != nil {
		return err
	}
	defer func() { leave() }()
	if err := e.enter(); err != nil {
		return err
	}
	select {
	case e.prog.dev.runs <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-e.prog.dev.Done():
		return e.prog.dev.Alive()
	}
	e.holds.Add(1)
	err = e.lane.Call(ctx, e.prog.dev.Life, "hbDNNWaitTaskDone", e.infer, &leave, func() {
		<-e.prog.dev.runs
		e.drop()
	})
	if err != nil {
		return err
	}
	err = e.deliver()
	for i := range e.slots {
		e.let(&e.slots[i])
	}
	if err != nil {
		return err
	}
	e.Counts.Runs++
	e.Counts.LastRun = time.Since(begin)
	return nil
}

// infer runs a task and waits for its end, however long it takes.
func (e *execution) infer() error {
	c, d := e.call, e.prog.dev.driver
	c.setAddress(0, 0)
	c.setAddress(8, uintptr(c.at(c.outputs)))
	code, err := d.DnnInfer(c.at(0), c.at(8), c.at(c.inputs), e.prog.model, c.at(c.control))
	if err = refused("hbDNNInfer", code, err); err != nil {
		return err
	}
	task := c.address(0)
	if task == 0 {
		return fault.New(fault.Device, "hbDNNInfer succeeds without a task")
	}
	code, err = d.DnnWaitTaskDone(task, 0)
	err = refused("hbDNNWaitTaskDone", code, err)
	code, released := d.DnnReleaseTask(task)
	if err == nil {
		err = refused("hbDNNReleaseTask", code, released)
	}
	return err
}

// enter gives the task its memory, with the inputs that are bound.
func (e *execution) enter() error {
	for i := range e.slots {
		s, at := &e.slots[i], i-len(e.prog.in)
		var err error
		if at < 0 {
			var v mem.View
			if v, err = e.Bound.In[i].Input(); err == nil {
				err = e.read(s, v)
			}
			err = fault.Wrap(err, "input %d", i)
		} else {
			var v mem.View
			if e.Bound.Out[at].View.Buf != nil {
				v, err = e.Bound.Out[at].Output(s.Type)
			}
			if err == nil {
				_, err = e.use(s, v)
			}
			err = fault.Wrap(err, "output %d", at)
		}
		if err != nil {
			return err
		}
		*e.call.memory(e.call.tensors[i]) = s.at
	}
	return nil
}

func (e *execution) read(s *slot, v mem.View) error {
	copied, err := e.use(s, v)
	if err != nil {
		return err
	}
	switch {
	case !copied:
		err = v.Buf.Sync(mem.ToDevice, v.Off, s.bytes)
	case s.dense && s.Native == nil:
		e.Counts.CopiedIn += s.bytes
		var to []byte
		if to, err = s.own.Map(); err == nil {
			err = v.Load(to[:s.bytes])
		}
	default:
		e.Counts.CopiedIn += s.bytes
		elements := make([]byte, s.bytes)
		if err = v.Load(elements); err == nil {
			err = s.view(s.own, 0).Store(elements)
		}
	}
	if err != nil {
		return err
	}
	return e.flush(s, flushClean)
}

// deliver brings the results where they are wanted.
func (e *execution) deliver() error {
	types, data := make([]tensor.Type, len(e.prog.out)), make([][]byte, len(e.prog.out))
	for i := range e.prog.out {
		s := &e.slots[len(e.prog.in)+i]
		types[i] = s.Type
		err := e.flush(s, flushInvalidate)
		if err == nil && s.set == s.own {
			elements := make([]byte, s.bytes)
			if err = s.view(s.own, 0).Load(elements); err == nil {
				data[i], err = e.give(i, s, elements)
			}
		}
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
	}
	e.types, e.data = types, data
	return nil
}

// give writes the elements of output i where they are bound to; those of one that is not are left.
func (e *execution) give(i int, s *slot, elements []byte) (left []byte, err error) {
	if e.Bound.Out[i].View.Buf == nil {
		return elements, nil
	}
	v, err := e.Bound.Out[i].Output(s.Type)
	if err != nil {
		return nil, err
	}
	views := []mem.View{v}
	mem.Begin(views)
	defer mem.End(views)
	e.Counts.CopiedOut += s.bytes
	return nil, v.Store(elements)
}

func (e *execution) result(i int) (t tensor.Type, data []byte, done bool) {
	if e.types == nil {
		return t, nil, false
	}
	return e.types[i], e.data[i], true
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
		s := &e.slots[i]
		e.let(s)
		if s.own != nil {
			s.own.Release()
		}
	}
	e.call.release()
	e.prog.Release()
}
