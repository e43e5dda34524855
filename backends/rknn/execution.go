package rknn

import (
	"context"
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

// execution is a context of the driver's. A run cannot be stopped: one whose deadline passes, or that is cancelled, is
// given up. It ends for its caller, goes on for the driver, and keeps context and memory for as long.
type execution struct {
	exec.Base
	prog    *program
	context uintptr
	slots   []slot // inputs, then outputs; of who holds the lane
	lane    driver.Lane
	holds   atomic.Int32  // the execution's own, and one for a run
	types   []tensor.Type // of the outputs of the last run, nil: none
	data    [][]byte      // of the unbound outputs of the last run
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

// Start implements device.Execution.
func (e *execution) Start(r device.RunRequest) error {
	if err := e.prog.dev.life.Alive(); err != nil {
		return err
	}
	return e.Task.Start(r, func() error {
		e.types = nil
		return e.Bound.Ready()
	}, e.run)
}

func (e *execution) run(ctx context.Context) error {
	begin := time.Now()
	leave, err := e.lane.Enter(ctx, e.prog.dev.life)
	if err != nil {
		return err
	}
	defer func() { leave() }()
	if err := e.enter(); err != nil {
		return err
	}
	e.holds.Add(1)
	err = e.lane.Call(ctx, e.prog.dev.life, "rknn_run", func() error {
		code, err := e.prog.dev.driver.Run(e.context, nil)
		return call("rknn_run", code, err)
	}, &leave, e.drop)
	if err != nil {
		return err
	}
	if err := e.deliver(); err != nil {
		return err
	}
	e.Counts.Runs++
	e.Counts.LastRun = e.took(time.Since(begin))
	return nil
}

// enter has the driver read the inputs that are bound, and write the outputs.
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
			v, err = e.Bound.Out[i].Output(s.Type)
		}
		if err == nil {
			_, err = e.use(s, v)
		}
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
	}
	return nil
}

func (e *execution) read(s *slot, v mem.View) error {
	copied, err := e.use(s, v)
	if err != nil {
		return err
	}
	if copied {
		e.Counts.CopiedIn += s.bytes
		if s.line == 0 {
			err = s.as(v).Load(s.set.bytes[:s.bytes])
		} else {
			dense := make([]byte, s.bytes)
			if err = s.as(v).Load(dense); err == nil {
				s.spread(s.set.bytes, dense)
			}
		}
	} else {
		err = v.Buf.Sync(mem.ToDevice, v.Off, s.bytes)
	}
	if err != nil {
		return err
	}
	return e.prog.dev.sync(e.context, s.set, syncToDevice)
}

// deliver brings the results where they are wanted.
func (e *execution) deliver() error {
	types, data := make([]tensor.Type, len(e.prog.out)), make([][]byte, len(e.prog.out))
	for i := range e.prog.out {
		s := &e.slots[len(e.prog.in)+i]
		types[i] = s.Type
		if err := e.prog.dev.sync(e.context, s.set, syncFromDevice); err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		if s.set != s.own {
			if err := s.set.buf.Sync(mem.FromDevice, s.set.off, s.bytes); err != nil {
				return fault.Wrap(err, "output %d", i)
			}
			continue
		}
		dense := s.set.bytes[:s.bytes]
		bound := e.Bound.Out[i].View.Buf != nil
		if s.line != 0 || !bound { // memory of the driver's is written by the next run
			dense = make([]byte, s.bytes)
			s.gather(dense, s.set.bytes)
		}
		if !bound {
			data[i] = s.rows(dense)
			continue
		}
		v, err := e.Bound.Out[i].Output(s.Type)
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		views := []mem.View{v}
		mem.Begin(views)
		err = s.as(v).Store(dense)
		mem.End(views)
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		e.Counts.CopiedOut += s.bytes
	}
	e.types, e.data = types, data
	return nil
}

// took is the time of the last run: the driver's own where it says one that can be.
func (e *execution) took(measured time.Duration) time.Duration {
	var microseconds int64
	code, err := e.prog.dev.driver.Query(e.context, queryPerfRun, unsafe.Pointer(&microseconds), 8)
	t := time.Duration(microseconds) * time.Microsecond
	if err != nil || code != 0 || microseconds <= 0 || microseconds > measured.Microseconds() {
		return measured
	}
	return t
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
		e.prog.dev.destroy(e.context, e.slots[i].given)
		e.prog.dev.destroy(e.context, e.slots[i].own)
	}
	if e.prog.dev.life.Alive() == nil {
		_, _ = e.prog.dev.driver.Destroy(e.context) // nothing is left to do with an error
	}
	e.prog.Release()
}
