package hbdnn

import (
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
)

// call holds the arguments of hbDNNInfer: the variable of the task, the address of the outputs, the control values, a
// memory to flush, and the tensors.
type call struct {
	*arguments
	control, flushed int
	tensors          []int // where those of the inputs begin, then of the outputs
	inputs, outputs  int   // where the first of each begins
}

func newCall(p *program, o device.ExecOptions) (*call, error) {
	c := &call{control: 16, flushed: 16 + sizeControl}
	g := p.dev.generation
	at, size := c.flushed+sizeMemory, g.slots()+g.size()
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
	for i, one := range slices.Concat(p.in, p.out) {
		copy(c.data[c.tensors[i]+g.slots():], one.raw)
	}
	p.dev.driver.prepare(c, priorities[o.Priority])
	return c, nil
}

// priorities are the priorities of tasks; 255 would interrupt others.
var priorities = [4]int32{device.PriorityMedium: 100, device.PriorityHigh: 200}

// execution runs tasks of a model, one at a time.
type execution struct {
	driver.Execution
	prog *program
	call *call
}

// New implements device.Program.
func (p *program) New(o device.ExecOptions) (device.Execution, error) {
	if err := p.dev.Alive(); err != nil {
		return nil, err
	}
	c, err := newCall(p, o)
	if err != nil {
		return nil, err
	}
	e := &execution{prog: p, call: c}
	e.Begin(&p.dev.Device, &p.Program, p.dev.driver.words().wait, e)
	e.Limit = p.dev.runs
	for i, one := range slices.Concat(p.in, p.out) {
		e.Slots[i].Form = one
	}
	return e, nil
}

// Enter implements driver.Calls: the task has its memory, and the driver sees the inputs.
func (e *execution) Enter() error {
	for i := range e.Slots {
		s := &e.Slots[i]
		*e.call.memory(e.call.tensors[i]) = e.place(s)
		if !s.Output {
			if err := e.flush(s, flushClean); err != nil {
				return s.Wrap(err)
			}
		}
	}
	return nil
}

// place is the memory of a slot as the driver knows it.
func (e *execution) place(s *driver.Slot) sysMem {
	at, _ := e.prog.dev.blocks.of(uintptr(unsafe.Pointer(&s.Set.Bytes[0])), s.Form.(*port).room)
	return at
}

// Run implements driver.Calls: a task and the wait for its end, however long it takes.
func (e *execution) Run() error {
	c, d := e.call, e.prog.dev.driver
	c.setAddress(0, 0)
	if err := d.start(c, e.prog.model); err != nil {
		return err
	}
	return d.finish(c.address(0))
}

// Leave implements driver.Calls: the program sees the outputs.
func (e *execution) Leave() error {
	for i := range e.Slots {
		if s := &e.Slots[i]; s.Output {
			if err := e.flush(s, flushInvalidate); err != nil {
				return s.Wrap(err)
			}
		}
	}
	return nil
}

// flush makes bytes visible to the other side.
func (e *execution) flush(s *driver.Slot, flag int32) error {
	*e.call.memory(e.call.flushed) = e.place(s)
	d := e.prog.dev.driver
	code, err := d.flush(e.call.at(e.call.flushed), flag)
	return refused(d.words().flush, code, err)
}

// End implements driver.Calls.
func (e *execution) End() { e.call.release() }
