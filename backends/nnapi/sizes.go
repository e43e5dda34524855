package nnapi

import (
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
)

// Sizes of results are the model's, or what the driver says of them after a run.

const getDimensions = "ANeuralNetworksExecution_getOutputOperandDimensions"

// shape checks the sizes that the driver says a result has, and notes those that the run has found.
func (e *execution) shape(at uintptr, s *driver.Slot) error {
	dims, err := e.sizes(at, s)
	if err != nil || !s.Open() {
		return err
	}
	if !s.Found(dims) {
		return fault.New(fault.Device, "%s says %v, which are more than the %d bytes that it was given", getDimensions, dims,
			s.Room())
	}
	return nil
}

// sizes returns the driver's sizes of a result: of the model's rank, and equal to its sizes where it has some.
func (e *execution) sizes(at uintptr, s *driver.Slot) ([]int64, error) {
	d, k := e.prog.dev.driver, int32(s.Index)
	var rank uint32
	code, err := d.ExecutionGetOutputOperandRank(at, k, unsafe.Pointer(&rank))
	if err = call("ANeuralNetworksExecution_getOutputOperandRank", code, err); err != nil {
		return nil, err
	}
	want := e.prog.sizes[s.Index]
	if int64(rank) != int64(len(want)) {
		return nil, fault.New(fault.Device, "ANeuralNetworksExecution_getOutputOperandRank says %d, the model has %d", rank,
			len(want))
	}
	dims := make([]uint32, rank)
	code, err = d.ExecutionGetOutputOperandDimensions(at, k, unsafe.Pointer(&dims[0]))
	if err = call(getDimensions, code, err); err != nil {
		return nil, err
	}
	out := make([]int64, rank)
	for i, n := range dims {
		if out[i] = int64(n); want[i] != 0 && n != want[i] {
			return nil, fault.New(fault.Device, "%s says %v, the model has %v", getDimensions, dims, want)
		}
	}
	return out, nil
}
