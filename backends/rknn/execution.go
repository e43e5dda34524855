package rknn

import (
	"slices"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// execution is a context of the driver's.
type execution struct {
	driver.Execution
	prog    *program
	context uintptr
	ports   []*port          // of the slots
	set     []*driver.Memory // what the context has for each slot
}

// New implements device.Program.
func (p *program) New(device.ExecOptions) (device.Execution, error) {
	if err := p.dev.Alive(); err != nil {
		return nil, err
	}
	context, err := p.duplicate()
	if err != nil {
		return nil, err
	}
	e := &execution{prog: p, context: context, ports: slices.Concat(p.in, p.out)}
	e.set = make([]*driver.Memory, len(e.ports))
	e.Begin(&p.dev.Device, &p.Program, "rknn_run", e)
	for i := range e.Slots {
		e.Slots[i].Form = e.ports[i]
	}
	return e, nil
}

// Enter implements driver.Calls: the context has the memory of the run, and the driver sees the inputs.
func (e *execution) Enter() error {
	for i := range e.Slots {
		s := &e.Slots[i]
		err := e.tell(i)
		if err == nil && !s.Output {
			err = e.prog.dev.sync(e.context, s.Set, spec.SyncToDevice)
		}
		if err != nil {
			return s.Wrap(err)
		}
	}
	return nil
}

// tell gives a context the memory of slot i if it has another.
func (e *execution) tell(i int) error {
	m := e.Slots[i].Set
	if e.set[i] == m {
		return nil
	}
	a := e.ports[i].attr
	code, err := e.prog.dev.driver.SetIoMem(e.context, driver.Pointer(m.At), unsafe.Pointer(&a))
	if err = call("rknn_set_io_mem", code, err); err != nil {
		return err
	}
	e.set[i] = m
	return nil
}

// Run implements driver.Calls.
func (e *execution) Run() error {
	code, err := e.prog.dev.driver.Run(e.context, nil)
	return call("rknn_run", code, err)
}

// Leave implements driver.Calls: the program sees the outputs.
func (e *execution) Leave() error {
	for i := range e.Slots {
		if s := &e.Slots[i]; s.Output {
			if err := e.prog.dev.sync(e.context, s.Set, spec.SyncFromDevice); err != nil {
				return s.Wrap(err)
			}
		}
	}
	return nil
}

// Took implements driver.Timed.
func (e *execution) Took() time.Duration {
	var microseconds int64
	code, err := e.prog.dev.driver.Query(e.context, uint32(spec.QueryPerfRun), unsafe.Pointer(&microseconds), 8)
	if err != nil || code != 0 || microseconds > longestRun.Microseconds() {
		return 0
	}
	return time.Duration(microseconds) * time.Microsecond
}

// longestRun is above every time that a driver can mean.
const longestRun = 24 * time.Hour

// End implements driver.Calls; the driver is asked only while it lives.
func (e *execution) End() {
	if e.prog.dev.Life.Alive() == nil {
		_, _ = e.prog.dev.driver.Destroy(e.context) // nothing is left to do with an error
	}
}
