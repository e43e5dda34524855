package nnapi

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// fenceFunctions are those by which a driver waits for fences.
var fenceFunctions = []string{"ANeuralNetworksEvent_createFromSyncFenceFd", "ANeuralNetworksEvent_free",
	"ANeuralNetworksEvent_wait", startWithDependencies}

const startWithDependencies = "ANeuralNetworksExecution_startComputeWithDependencies"

// maxFenced bounds the runs of a device that wait for fences in the driver, each of which has a thread there.
const maxFenced = 64

// TakesFences implements device.FenceTaker. Behind fences the API computes outputs of known sizes alone.
func (p *program) TakesFences() bool {
	return !p.open && p.dev.level >= spec.Level4 && p.dev.driver.Needs(fenceFunctions) == nil
}

// Hand implements driver.Fenced. A descriptor that is no sync file, or that the driver refuses for another reason, is
// waited for here.
func (e *execution) Hand(fds []int) (function string) {
	dev := e.prog.dev
	if !e.prog.TakesFences() {
		return ""
	}
	select {
	case dev.fenced <- struct{}{}:
	default:
		return ""
	}
	for _, fd := range fds {
		var at uintptr
		code, err := dev.driver.EventCreateFromSyncFenceFd(int32(fd), unsafe.Pointer(&at))
		if made("ANeuralNetworksEvent_createFromSyncFenceFd", code, err, at) != nil {
			e.dropFences()
			return ""
		}
		e.fences = append(e.fences, at)
	}
	return startWithDependencies
}

// dropFences ends what Hand has made.
func (e *execution) dropFences() {
	for _, at := range e.fences {
		_ = e.prog.dev.driver.EventFree(at) // nothing is left to do with an error
	}
	e.fences = e.fences[:0]
	<-e.prog.dev.fenced
}

// computeAfter has the driver compute after the fences that it was given.
func (e *execution) computeAfter(at uintptr) error {
	d := e.prog.dev.driver
	var event uintptr
	code, err := d.ExecutionStartComputeWithDependencies(at, unsafe.Pointer(&e.fences[0]), uint32(len(e.fences)), 0,
		unsafe.Pointer(&event))
	if err = made(startWithDependencies, code, err, event); err != nil {
		return err
	}
	defer func() { _ = d.EventFree(event) }() // nothing is left to do with an error
	code, err = d.EventWait(event)
	if err == nil && spec.ResultCode(code) == spec.OpFailed {
		return fault.New(fault.Data, "ANeuralNetworksEvent_wait: the driver answers OP_FAILED: a fence has failed, or the "+
			"computation after it")
	}
	return call("ANeuralNetworksEvent_wait", code, err)
}
