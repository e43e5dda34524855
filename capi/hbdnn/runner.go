package hbdnn

import (
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
)

// run computes one member of a task, a run of the model, and returns the sizes of its outputs and the time that its
// inputs took.
func run(r *hb.Runner, m *Model, in, out []bound) (sizes [][]int64, prepared time.Duration, err error) {
	defer r.Exec.Unbind()
	begun := time.Now()
	for i, p := range m.in {
		in[i].flush(flushInvalidate)
		if err := feed(r.Exec, p, in[i]); err != nil {
			return nil, 0, fault.Wrap(err, "input %q", p.Name)
		}
	}
	for i, p := range m.out {
		o := p.operand(&out[i][0])
		r.Exec.Take(p.plane(0), &o)
	}
	for i, p := range m.out {
		if m.dump != nil {
			break // it reads results from the execution
		}
		if _, err := r.Exec.Place(i); err != nil {
			return nil, 0, fault.Wrap(err, "output %q", p.Name)
		}
	}
	prepared = time.Since(begun)
	if err := r.Exec.Run(device.RunRequest{}); err != nil {
		return nil, 0, err
	}
	if sizes, err = measure(r.Exec, m); err != nil {
		return nil, 0, err
	}
	m.dump.write(r.Exec)
	for i, p := range m.out {
		if err := r.Exec.Deliver(i); err != nil {
			return nil, 0, fault.Wrap(err, "output %q", p.Name)
		}
		out[i].flush(flushClean)
	}
	return sizes, prepared, nil
}

// measure returns the sizes that the outputs of a run that has ended have. The API cannot tell a program of sizes that
// only a run makes, so that they are logged, and anynpu_output_shape gives them.
func measure(e *io.Execution, m *Model) ([][]int64, error) {
	all := make([][]int64, len(m.out))
	for i, p := range m.out {
		all[i] = p.valid
		if p.Bound == nil {
			continue
		}
		sizes, err := p.Sizes(e)
		if err != nil {
			return nil, err
		}
		all[i] = sizes
		boundary.Log(boundary.LevelInfo, "hbdnn", "output of open size", "model", m.Name, "output", p.Name, "shape", sizes,
			"within", p.Bound)
	}
	return all, nil
}

// feed gives the execution an input.
func feed(e *io.Execution, p *port, b bound) error {
	switch {
	case p.Image != nil && len(b) == 1 && b[0].source == nil:
		for k, v := range p.picture(&b[0]).views() {
			o := io.Own(v)
			if err := e.Feed(p.plane(k), &o); err != nil {
				return err
			}
		}
		return nil
	case p.Image != nil:
		return gather(e, p, b)
	case len(b) == 1:
		o := p.operand(&b[0])
		return e.Feed(p.plane(0), &o)
	}
	parts := make([]io.Operand, len(b))
	for k := range b {
		parts[k] = p.operand(&b[k])
	}
	return e.Gather(p.plane(0), parts)
}

// gather puts the images of a batch, each a tensor of its own or a region of an image, one after another.
func gather(e *io.Execution, p *port, b bound) error {
	var whole []mem.View
	for k := range p.planes() {
		v, err := e.Room(p.plane(k))
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
			if err := e.Load(p.plane(k), to[k], &o); err != nil {
				return err
			}
		}
	}
	for k := range whole {
		if err := e.FeedStaged(p.plane(k)); err != nil {
			return err
		}
	}
	return nil
}
