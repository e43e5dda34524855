package hbdnn

import (
	"sync"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/io"
)

// executions are those of a model's program. Tasks take one and give it back.
type executions struct {
	program *compile.Program
	timed   bool // for a profile

	mu   sync.Mutex
	idle []*runner // that no task has
}

// A runner is an execution with what a task needs besides.
type runner struct {
	of    *executions
	core  int32
	exec  *io.Execution
	sizes [][]int64 // of the outputs of the last run
	// the time that the inputs of the last run took, for a profile
	prepared time.Duration
}

// borrow returns a runner that no other task has.
func (x *executions) borrow(core int32) (*runner, error) {
	x.mu.Lock()
	for i := len(x.idle) - 1; i >= 0; i-- {
		if r := x.idle[i]; r.core == core {
			x.idle = append(x.idle[:i], x.idle[i+1:]...)
			x.mu.Unlock()
			return r, nil
		}
	}
	x.mu.Unlock()
	o := options(core)
	o.Profiling = x.timed
	e, err := x.program.New(o)
	if err != nil {
		return nil, err
	}
	in, out := x.program.Ports()
	return &runner{of: x, core: core, exec: io.New(e, len(in), len(out))}, nil
}

// giveBack lets other tasks have the runner. One that failed is not used again.
func (r *runner) giveBack(failed bool) {
	if failed {
		r.free()
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.idle = append(r.of.idle, r)
}

func (r *runner) free() { r.exec.Release() }

// options are those of every execution: the queue of tasks has ordered them already.
func options(core int32) device.ExecOptions { return device.ExecOptions{CoreMask: uint32(core)} }

// release ends the program, of which no task has an execution.
func (x *executions) release() {
	for _, r := range x.idle {
		r.free()
	}
	x.idle = nil
	if x.program != nil {
		x.program.Release()
	}
}
