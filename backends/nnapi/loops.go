package nnapi

import (
	"math"
	"slices"
	"time"

	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

const setLoopTimeout = "ANeuralNetworksExecution_setLoopTimeout"

// loopsIn reports whether a model has a loop, also in the models that its operands refer to.
func loopsIn(m *spec.Model) bool {
	return slices.ContainsFunc(m.Operations, func(o spec.Operation) bool { return o.Code == spec.While }) ||
		slices.ContainsFunc(m.Operands, func(o spec.Operand) bool { return o.Sub != nil && loopsIn(o.Sub) })
}

// LimitLoops implements driver.Looped.
func (e *execution) LimitLoops(limit time.Duration) { e.loopLimit = limit }

// limitLoops tells an execution of the driver's how long loops may take. One without a limit of its own has the API's
// limit of 2 s, so that no limit is the longest time that can be said.
func (e *execution) limitLoops(at uintptr) error {
	d := e.prog.dev.driver
	if !e.prog.loops || !d.Has(setLoopTimeout) {
		return nil
	}
	limit := uint64(math.MaxUint64)
	if e.loopLimit > 0 {
		limit = uint64(e.loopLimit)
	}
	code, err := d.ExecutionSetLoopTimeout(at, limit)
	return call(setLoopTimeout, code, err)
}
