package nnapi

import (
	"errors"
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sizes of results are the model's, or what the driver says of them after a run.

const getDimensions = "ANeuralNetworksExecution_getOutputOperandDimensions"

// errGrown says that outputs were too small, and are large enough now.
var errGrown = errors.New("outputs were too small")

// shape checks the sizes that the driver says a result has, and notes those that the run has found.
func (e *execution) shape(at uintptr, s *driver.Slot) error {
	dims, err := e.sizes(at, s, false)
	if err != nil || !s.Open() {
		return err
	}
	if !s.Found(dims) {
		return fault.New(fault.Device, "%s says %v, which are more than the %d bytes that it was given", getDimensions, dims,
			s.Room())
	}
	return nil
}

// grow gives each open result the memory that it needs, once the driver has said that there is one with too little. The
// error is errGrown, unless there is none.
func (e *execution) grow(at uintptr) error {
	grown := false
	for i := range e.Slots {
		s := &e.Slots[i]
		if !s.Open() {
			continue
		}
		dims, err := e.sizes(at, s, true)
		if err != nil {
			return s.Wrap(err)
		}
		n, ok := tensor.T(s.Type.DType, dims...).ByteSize()
		if !ok || n > math.MaxUint32 {
			return s.Wrap(fault.New(fault.Device, "%s says %v, which no operand has", getDimensions, dims))
		}
		if n > s.Room() {
			if err := s.Grow(e, n); err != nil {
				return s.Wrap(err)
			}
			grown = true
		}
	}
	if !grown {
		return fault.New(fault.Device, "the driver answers OUTPUT_INSUFFICIENT_SIZE, and no output is too small")
	}
	return errGrown
}

// sizes are those that the driver says a result has: of the model's rank, and of its sizes where it has some. short says
// that an output was too small, which is no error of the functions then.
func (e *execution) sizes(at uintptr, s *driver.Slot, short bool) ([]int64, error) {
	d, k := e.prog.dev.driver, int32(s.Index)
	told := func(function string, code int32, err error) error {
		if err == nil && short && spec.ResultCode(code) == spec.OutputInsufficientSize {
			return nil
		}
		return call(function, code, err)
	}
	var rank uint32
	code, err := d.ExecutionGetOutputOperandRank(at, k, unsafe.Pointer(&rank))
	if err = told("ANeuralNetworksExecution_getOutputOperandRank", code, err); err != nil {
		return nil, err
	}
	want := e.prog.sizes[s.Index]
	if int64(rank) != int64(len(want)) {
		return nil, fault.New(fault.Device, "ANeuralNetworksExecution_getOutputOperandRank says %d, the model has %d", rank,
			len(want))
	}
	dims := make([]uint32, rank)
	code, err = d.ExecutionGetOutputOperandDimensions(at, k, unsafe.Pointer(&dims[0]))
	if err = told(getDimensions, code, err); err != nil {
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
