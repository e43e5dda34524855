package io

import (
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
)

// Execution is an execution with a program's memory at its ports. It is used by one goroutine at a time, but for Cancel
// and Release; between New and Release a run is: Feed or Input for every input, Take, Place or Output for the outputs
// that have memory, Run, Deliver, Unbind.
type Execution struct {
	device.Execution
	done  func(error) // ends a run; made once, so that a run allocates nothing
	stage atomic.Int32
	err   error         // of the run, from its end on
	wake  chan struct{} // for a caller that was there before the end

	rooms               []room       // of the inputs
	in                  []bool       // inputs that a program's memory is bound to
	out                 []result     // by output
	used                []mem.Buffer // all memory of the program in this run
	copiedIn, copiedOut int64        // bytes converted or copied here, over all runs

	codes []byte // of the output that is being delivered
	reals []float32
}

// Stages of a run. Most runs end on the caller's thread, who then finds the end instead of waiting for it.
const (
	running = iota
	waiting
	ended
)

// room is memory of ours for an input's elements, kept from run to run.
type room struct {
	buf   mem.Buffer // nil: not wanted so far
	order []int      // of the dimensions in it
}

// result says where an output goes.
type result struct {
	port  Port
	to    Operand // Buf nil: the result stays with the execution
	bound bool    // the execution writes it there
}

// New takes over an execution with that many inputs and outputs.
func New(e device.Execution, inputs, outputs int) *Execution {
	x := &Execution{Execution: e, wake: make(chan struct{}, 1), rooms: make([]room, inputs), in: make([]bool, inputs),
		out: make([]result, outputs)}
	x.done = func(err error) {
		x.err = err
		if x.stage.Swap(ended) == waiting {
			x.wake <- struct{}{}
		}
	}
	return x
}

// Renew releases the execution and takes over another of the same ports. Rooms stay.
func (x *Execution) Renew(e device.Execution) {
	x.Execution.Release()
	x.Execution = e
}

// Stats adds the bytes that were copied here, on the way to a room and from a result that was not written in place.
func (x *Execution) Stats() device.Stats {
	s := x.Execution.Stats()
	s.CopiedIn += x.copiedIn
	s.CopiedOut += x.copiedOut
	return s
}

// Input binds memory to an input as it lies.
func (x *Execution) Input(i int, v mem.View) error {
	x.in[i] = true
	return x.BindInput(i, v)
}

// Output binds memory to an output as it lies.
func (x *Execution) Output(i int, v mem.View) error {
	x.out[i].bound = true
	return x.BindOutput(i, v)
}

// Run runs and waits for the end, on the caller's thread where the device can.
func (x *Execution) Run(r device.RunRequest) error {
	r.Here, r.Done = true, x.done
	x.stage.Store(running)
	if err := x.Start(r); err != nil {
		return err
	}
	if x.stage.CompareAndSwap(running, waiting) {
		<-x.wake
	}
	return x.err
}

// Unbind lets go of all memory of the program. It fails only for an execution that was released, which holds nothing.
func (x *Execution) Unbind() {
	for i, bound := range x.in {
		if bound {
			_ = x.BindInput(i, mem.View{})
			x.in[i] = false
		}
	}
	for i := range x.out {
		if x.out[i].bound {
			_ = x.BindOutput(i, mem.View{})
		}
		x.out[i] = result{}
	}
	for _, b := range x.used {
		b.Release()
	}
	clear(x.used)
	x.used = x.used[:0]
}

// Release ends the execution, and a run under way.
func (x *Execution) Release() {
	x.Execution.Release()
	for i := range x.rooms {
		if b := x.rooms[i].buf; b != nil {
			b.Release()
		}
		x.rooms[i] = room{}
	}
}
