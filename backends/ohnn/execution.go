package ohnn

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// execution is an executor of the driver's. A run cannot be stopped: one whose deadline passes, or that is cancelled,
// is given up. It ends for its caller, goes on for the driver, and keeps executor and memory for as long.
type execution struct {
	exec.Base
	prog     *program
	executor uintptr
	slots    []slot // inputs, then outputs; of who holds the lane
	lane     driver.Lane
	holds    atomic.Int32 // the execution's own, and one for a run
	done     bool         // a run has succeeded
	data     [][]byte     // of the unbound outputs of the last run
}

// New implements device.Program.
func (p *program) New(device.ExecOptions) (device.Execution, error) {
	d := p.dev
	leave, err := d.building.Enter(context.Background(), d.life)
	if err != nil {
		return nil, err
	}
	defer leave()
	at, err := d.driver.ExecutorConstruct(p.compilation)
	if err = made("OH_NNExecutor_Construct", at, err); err != nil {
		return nil, err
	}
	e := &execution{Base: exec.Base{Bound: exec.NewBindings(p.in, p.out)}, prog: p, executor: at, lane: driver.NewLane()}
	if err := e.check(); err != nil {
		e.end()
		return nil, err
	}
	e.Result = e.result
	e.holds.Store(1)
	for _, port := range slices.Concat(p.in, p.out) {
		size, _ := port.Type.ByteSize()
		e.slots = append(e.slots, slot{typ: port.Type, size: size})
	}
	p.Retain()
	return e, nil
}

// check compares what the driver says of an executor with the model.
func (e *execution) check() error {
	d := e.prog.dev.driver
	for _, side := range []struct {
		function string
		ask      func(uintptr, unsafe.Pointer) (uint32, error)
		want     int
	}{
		{"OH_NNExecutor_GetInputCount", d.ExecutorGetInputCount, len(e.prog.in)},
		{"OH_NNExecutor_GetOutputCount", d.ExecutorGetOutputCount, len(e.prog.out)},
	} {
		var n uint64
		code, err := side.ask(e.executor, unsafe.Pointer(&n))
		if err = call(side.function, code, err); err != nil {
			return err
		}
		if n != uint64(side.want) {
			return fault.New(fault.Device, "%s says %d, the model has %d", side.function, n, side.want)
		}
	}
	return nil
}

// end ends the executor; the driver is asked only while it lives.
func (e *execution) end() {
	if e.prog.dev.life.Alive() == nil {
		_ = e.prog.dev.driver.ExecutorDestroy(unsafe.Pointer(&e.executor)) // nothing is left to do with an error
	}
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
	if err := e.prog.dev.life.Alive(); err != nil {
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
	in, out := make([]uintptr, len(e.prog.in)+1), make([]uintptr, len(e.prog.out)+1) // one more: neither is empty
	for i := range e.slots {
		if i < len(e.prog.in) {
			in[i] = e.slots[i].set.at
		} else {
			out[i-len(e.prog.in)] = e.slots[i].set.at
		}
	}
	e.holds.Add(1)
	err = e.lane.Call(ctx, life, "OH_NNExecutor_RunSync", func() error {
		code, err := e.prog.dev.driver.ExecutorRunSync(e.executor, unsafe.Pointer(&in[0]), uint64(len(in)-1),
			unsafe.Pointer(&out[0]), uint64(len(out)-1))
		return call("OH_NNExecutor_RunSync", code, err)
	}, &leave, e.drop)
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
		if err := e.shape(i, s); err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		if s.set != s.own {
			if err := s.set.buf.Sync(mem.FromDevice, s.set.off, s.size); err != nil {
				return fault.Wrap(err, "output %d", i)
			}
			continue
		}
		if e.Bound.Out[i].View.Buf == nil { // memory of the driver's is written by the next run
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
func (e *execution) shape(i int, s *slot) error {
	var at uintptr
	var n uint32
	code, err := e.prog.dev.driver.ExecutorGetOutputShape(e.executor, uint32(i), unsafe.Pointer(&at), unsafe.Pointer(&n))
	if err = call("OH_NNExecutor_GetOutputShape", code, err); err != nil {
		return err
	}
	if n > spec.MaxRank {
		return fault.New(fault.Device, "OH_NNExecutor_GetOutputShape says that it has %d dimensions", n)
	}
	data, err := driver.Peek(at, int(4*n))
	if err != nil {
		return fault.Wrap(err, "OH_NNExecutor_GetOutputShape")
	}
	dims := make([]int64, n)
	for k := range dims {
		dims[k] = int64(int32(binary.LittleEndian.Uint32(data[4*k:])))
	}
	if want, _ := s.typ.Shape.Ints(); !slices.Equal(dims, want) {
		return fault.New(fault.Device, "OH_NNExecutor_GetOutputShape says %v, the model has %v", dims, want)
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
		e.prog.dev.destroy(e.slots[i].given)
		e.prog.dev.destroy(e.slots[i].own)
	}
	e.end()
	e.prog.Release()
}
