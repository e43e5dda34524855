package hb

import (
	"sync"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/io"
)

// Executions belong to a model's program. Tasks take one and give it back.
type Executions struct {
	Program *compile.Program
	Timed   bool // for a profile

	mu   sync.Mutex
	idle []*Runner // that no task has
}

// A Runner is an execution with the other needs of a task.
type Runner struct {
	Exec *io.Execution
	of   *Executions
	core uint32
}

// borrow returns a runner that no other task has.
func (x *Executions) borrow(core uint32) (*Runner, error) {
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
	o.Profiling = x.Timed
	e, err := x.Program.New(o)
	if err != nil {
		return nil, err
	}
	in, out := x.Program.Ports()
	return &Runner{of: x, core: core, Exec: io.New(e, len(in), len(out))}, nil
}

// giveBack lets other tasks have the runner. One that failed is not used again.
func (r *Runner) giveBack(failed bool) {
	if failed {
		r.free()
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.idle = append(r.of.idle, r)
}

func (r *Runner) free() { r.Exec.Release() }

// options are the same for every execution: the queue of tasks has ordered them already.
func options(core uint32) device.ExecOptions { return device.ExecOptions{CoreMask: core} }

// Release ends the program, of which no task has an execution.
func (x *Executions) Release() {
	for _, r := range x.idle {
		r.free()
	}
	x.idle = nil
	if x.Program != nil {
		x.Program.Release()
	}
}
