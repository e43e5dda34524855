package nnapi

import (
	"slices"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// execution makes an execution of the driver's for each run: before feature level 5 one computes once.
type execution struct {
	driver.Execution
	prog      *program
	fences    []uintptr     // the driver's events that the next run waits for
	loopLimit time.Duration // of the next run, 0: none
}

// New implements device.Program.
func (p *program) New(device.ExecOptions) (device.Execution, error) {
	if err := p.dev.Alive(); err != nil {
		return nil, err
	}
	e := &execution{prog: p}
	e.Begin(&p.dev.Device, &p.Program, "ANeuralNetworksExecution_compute", e)
	return e, nil
}

// Enter, Leave and End implement driver.Calls: Run does all.
func (e *execution) Enter() error { return nil }
func (e *execution) Leave() error { return nil }
func (e *execution) End()         {}

// Run implements driver.Calls: one execution of the driver's, from making it to freeing it.
func (e *execution) Run() error {
	if len(e.fences) > 0 {
		defer e.dropFences()
	}
	d := e.prog.dev.driver
	var at uintptr
	code, err := d.ExecutionCreate(e.prog.made.at, unsafe.Pointer(&at))
	if err = made("ANeuralNetworksExecution_create", code, err, at); err != nil {
		return err
	}
	defer func() { _ = d.ExecutionFree(at) }() // nothing is left to do with an error
	if err := e.limitLoops(at); err != nil {
		return err
	}
	for i := range e.Slots {
		if err := e.hand(at, &e.Slots[i]); err != nil {
			return err
		}
	}
	if err := e.compute(at); err != nil {
		return err
	}
	for i := range e.Slots {
		if s := &e.Slots[i]; s.Output {
			if err := e.shape(at, s); err != nil {
				return s.Wrap(err)
			}
		}
	}
	return nil
}

// compute has the driver compute.
func (e *execution) compute(at uintptr) error {
	if len(e.fences) > 0 {
		return e.computeAfter(at)
	}
	code, err := e.prog.dev.driver.ExecutionCompute(at)
	return call("ANeuralNetworksExecution_compute", code, err)
}

// hand tells an execution where an input or output is.
func (e *execution) hand(at uintptr, s *driver.Slot) error {
	d, m, k, size := e.prog.dev.driver, s.Set, int32(s.Index), uint64(s.Size)
	switch {
	case m.At == 0 && s.Output:
		code, err := d.ExecutionSetOutput(at, k, nil, unsafe.Pointer(&m.Bytes[0]), size)
		return call("ANeuralNetworksExecution_setOutput", code, err)
	case m.At == 0:
		code, err := d.ExecutionSetInput(at, k, nil, unsafe.Pointer(&m.Bytes[0]), size)
		return call("ANeuralNetworksExecution_setInput", code, err)
	}
	_, base, _ := m.Buf.FD()
	begin := uint64(base + m.Off) // in the file
	if s.Output {
		code, err := d.ExecutionSetOutputFromMemory(at, k, nil, m.At, begin, size)
		return call("ANeuralNetworksExecution_setOutputFromMemory", code, err)
	}
	code, err := d.ExecutionSetInputFromMemory(at, k, nil, m.At, begin, size)
	return call("ANeuralNetworksExecution_setInputFromMemory", code, err)
}

// shape compares the sizes that the driver says a result has.
func (e *execution) shape(at uintptr, s *driver.Slot) error {
	d, k := e.prog.dev.driver, int32(s.Index)
	var rank uint32
	code, err := d.ExecutionGetOutputOperandRank(at, k, unsafe.Pointer(&rank))
	if err = call("ANeuralNetworksExecution_getOutputOperandRank", code, err); err != nil {
		return err
	}
	want := e.prog.sizes[s.Index]
	if int64(rank) != int64(len(want)) {
		return fault.New(fault.Device, "ANeuralNetworksExecution_getOutputOperandRank says %d, the model has %d", rank,
			len(want))
	}
	dims := make([]uint32, rank)
	code, err = d.ExecutionGetOutputOperandDimensions(at, k, unsafe.Pointer(&dims[0]))
	if err = call("ANeuralNetworksExecution_getOutputOperandDimensions", code, err); err != nil {
		return err
	}
	if !slices.Equal(dims, want) {
		return fault.New(fault.Device, "ANeuralNetworksExecution_getOutputOperandDimensions says %v, the model has %v", dims,
			want)
	}
	return nil
}
