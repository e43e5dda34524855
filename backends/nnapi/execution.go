package nnapi

import (
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
)

const computeAlone = "ANeuralNetworksExecution_compute"

// execution makes an execution of the driver's for each run: before feature level 5 one computes once.
type execution struct {
	driver.Execution
	prog      *program
	fences    []uintptr     // the driver's events that the next run waits for
	loopLimit time.Duration // of the next run, 0: none
	burst     *burst        // that the next run is part of; nil: none
}

// New implements device.Program.
func (p *program) New(device.ExecOptions) (device.Execution, error) {
	if err := p.dev.Alive(); err != nil {
		return nil, err
	}
	e := &execution{prog: p}
	e.Begin(&p.dev.Device, &p.Program, computeAlone, e)
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
	joined := e.burst
	if e.burst = nil; joined != nil {
		defer e.prog.leave(joined)
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
	if err := e.compute(at, joined); err != nil {
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

// compute has the driver compute, in a burst unless that is nil or refused.
func (e *execution) compute(at uintptr, x *burst) error {
	if len(e.fences) > 0 {
		return e.computeAfter(at)
	}
	d, function := e.prog.dev.driver, computeAlone
	var code int32
	in, err := e.prog.make(x)
	switch {
	case err != nil:
		return err
	case in != 0:
		function = burstCompute
		code, err = d.ExecutionBurstCompute(at, in)
	default:
		code, err = d.ExecutionCompute(at)
	}
	return call(function, code, err)
}

// hand tells an execution where an input or output is.
func (e *execution) hand(at uintptr, s *driver.Slot) error {
	d, m, k, size := e.prog.dev.driver, s.Set, int32(s.Index), uint64(s.Room())
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
