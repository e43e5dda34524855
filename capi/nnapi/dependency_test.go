package nnapi

import (
	"math"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
)

// taker is a program whose runs take fences. It notes how many each of them got.
type taker struct {
	device.Program
	got []int
}

func (p *taker) TakesFences() bool { return true }

func (p *taker) New(o device.ExecOptions) (device.Execution, error) {
	e, err := p.Program.New(o)
	return &taking{e, p}, err
}

type taking struct {
	device.Execution
	p *taker
}

func (e *taking) Start(r device.RunRequest) error {
	e.p.got = append(e.p.got, len(r.Fences))
	for _, f := range r.Fences {
		if _, ok := f.FD(); !ok {
			panic("a fence without a descriptor")
		}
	}
	return e.Execution.Start(r)
}

// TestExecution_handsFencesOn: fences of the program go to a program that takes them, unless there is a time limit or
// the time is measured; events that are no fences are waited for here.
func TestExecution_handsFencesOn(t *testing.T) {
	c := compiledFor(t, sumOfProducts(t, 3), withGuises(t, "")[:1], true)
	p := &taker{Program: c.result.whole.program}
	c.result.whole.program = p
	for _, k := range []struct {
		name     string
		set      func(e *Execution) error
		duration uint64
		want     int
	}{{"no limit", nil, 0, 1}, {"a duration", nil, math.MaxInt64, 0},
		{"a time limit", func(e *Execution) error { return executionSetTimeout(e, math.MaxInt64) }, 0, 0},
		{"time is measured", func(e *Execution) error { return executionSetMeasureTiming(e, true) }, 0, 0}} {
		t.Run(k.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			fence, err := eventCreateFromSyncFenceFd(int32(r.Fd()))
			require.NoError(t, err)
			x, y, z := []float32{1, 2, 3}, []float32{4, 5, 6}, make([]float32, 3)
			before := bound(t, c, x, y, make([]float32, 3))
			ended, err := executionStartCompute(before)
			require.NoError(t, err)
			require.NoError(t, eventWait(ended))
			e := bound(t, c, x, y, z)
			if k.set != nil {
				require.NoError(t, k.set(e))
			}
			start := func() *Event {
				var h [2]uintptr
				for i, o := range []*Event{ended, fence} {
					var err error
					h[i], err = handle.Of(o)
					require.NoError(t, err)
					defer handle.Drop(o)
				}
				ev, err := executionStartComputeWithDependencies(e, unsafe.Pointer(&h[0]), 2, k.duration)
				require.NoError(t, err)
				return ev
			}
			p.got = nil
			ev := start()
			_, err = w.Write([]byte{1})
			require.NoError(t, err)
			require.NoError(t, eventWait(ev))
			assert.Equal(t, []int{k.want}, p.got)
			assert.Equal(t, []float32{5, 12, 21}, z)

			// A fence that fails is OP_FAILED in either case.
			require.NoError(t, eventFree(fence))
			lost, closed, err := os.Pipe()
			require.NoError(t, err)
			defer lost.Close()
			fence, err = eventCreateFromSyncFenceFd(int32(lost.Fd()))
			require.NoError(t, err)
			ev = start()
			closed.Close()
			err = eventWait(ev)
			assert.Equal(t, OpFailed, status(err))
			assert.ErrorContains(t, err, "dependency 1 of 2 has failed: fence: the other side has closed it")
			require.NoError(t, eventFree(fence))
			w.Close()
			for _, e := range []*Execution{before, e} {
				require.NoError(t, executionFree(e))
			}
		})
	}
}
