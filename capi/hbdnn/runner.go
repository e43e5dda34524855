package hbdnn

import (
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
)

// A runner is an execution of a model with what its tasks need besides. Tasks take one and give it back.
type runner struct {
	model *Model
	core  int32
	exec  *io.Execution
	// the time that the inputs of the last run took, for a profile
	prepared time.Duration
}

// borrow returns a runner of the model that no other task has.
func (m *Model) borrow(core int32) (*runner, error) {
	m.mu.Lock()
	for i := len(m.idle) - 1; i >= 0; i-- {
		if r := m.idle[i]; r.core == core {
			m.idle = append(m.idle[:i], m.idle[i+1:]...)
			m.mu.Unlock()
			return r, nil
		}
	}
	m.mu.Unlock()
	o := options(core)
	o.Profiling = m.profile != nil
	e, err := m.program.New(o)
	if err != nil {
		return nil, err
	}
	in, out := m.program.Ports()
	return &runner{model: m, core: core, exec: io.New(e, len(in), len(out))}, nil
}

// giveBack lets other tasks have the runner. One that failed is not used again.
func (r *runner) giveBack(failed bool) {
	if failed {
		r.free()
		return
	}
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	r.model.idle = append(r.model.idle, r)
}

func (r *runner) free() { r.exec.Release() }

// run computes one member of a task.
func (r *runner) run(in, out []bound) error {
	defer r.exec.Unbind()
	begun := time.Now()
	for i, p := range r.model.in {
		in[i].flush(flushInvalidate)
		if err := r.feed(p, in[i]); err != nil {
			return fault.Wrap(err, "input %q", p.Name)
		}
	}
	for i, p := range r.model.out {
		o := p.operand(&out[i][0])
		r.exec.Take(p.plane(0), &o)
	}
	for i, p := range r.model.out {
		if r.model.dump != nil {
			break // it reads results from the execution
		}
		if _, err := r.exec.Place(i); err != nil {
			return fault.Wrap(err, "output %q", p.Name)
		}
	}
	r.prepared = time.Since(begun)
	if err := r.exec.Run(device.RunRequest{}); err != nil {
		return err
	}
	r.model.dump.write(r.exec)
	for i, p := range r.model.out {
		if err := r.exec.Deliver(i); err != nil {
			return fault.Wrap(err, "output %q", p.Name)
		}
		out[i].flush(flushClean)
	}
	return nil
}

// feed gives the execution an input.
func (r *runner) feed(p *port, b bound) error {
	switch {
	case p.Image != nil && len(b) == 1 && b[0].source == nil:
		for k, v := range p.picture(&b[0]).views() {
			o := io.Own(v)
			if err := r.exec.Feed(p.plane(k), &o); err != nil {
				return err
			}
		}
		return nil
	case p.Image != nil:
		return r.gather(p, b)
	case len(b) == 1:
		o := p.operand(&b[0])
		return r.exec.Feed(p.plane(0), &o)
	}
	parts := make([]io.Operand, len(b))
	for k := range b {
		parts[k] = p.operand(&b[k])
	}
	return r.exec.Gather(p.plane(0), parts)
}

// gather puts the images of a batch, each a tensor of its own or a region of an image, one after another.
func (r *runner) gather(p *port, b bound) error {
	var whole []mem.View
	for k := range p.planes() {
		v, err := r.exec.Room(p.plane(k))
		if err != nil {
			return err
		}
		whole = append(whole, v)
	}
	first := int64(0)
	for n := range b {
		one := &b[n]
		to := make([]mem.View, len(whole))
		for k := range whole {
			to[k] = io.Part(whole[k], first, one.batch)
		}
		first += one.batch
		if one.source != nil {
			if err := one.source.scaleTo(p, one.region, to); err != nil {
				return err
			}
			continue
		}
		for k, from := range p.picture(one).views() {
			o := io.Own(from)
			if err := r.exec.Load(p.plane(k), to[k], &o); err != nil {
				return err
			}
		}
	}
	for k := range whole {
		if err := r.exec.FeedStaged(p.plane(k)); err != nil {
			return err
		}
	}
	return nil
}
