package hbdnn

import (
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
)

// run computes one member of a task, a run of the model.
func (r *runner) run(m *Model, in, out []bound) (err error) {
	defer r.exec.Unbind()
	begun := time.Now()
	for i, p := range m.in {
		in[i].flush(flushInvalidate)
		if err := r.feed(p, in[i]); err != nil {
			return fault.Wrap(err, "input %q", p.Name)
		}
	}
	for i, p := range m.out {
		o := p.operand(&out[i][0])
		r.exec.Take(p.plane(0), &o)
	}
	for i, p := range m.out {
		if m.dump != nil {
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
	if r.sizes, err = r.measure(m); err != nil {
		return err
	}
	m.dump.write(r.exec)
	for i, p := range m.out {
		if err := r.exec.Deliver(i); err != nil {
			return fault.Wrap(err, "output %q", p.Name)
		}
		out[i].flush(flushClean)
	}
	return nil
}

// measure returns the sizes that the outputs of a run that has ended have. The API cannot tell a program of sizes that
// only a run makes, so that they are logged, and anynpu_output_shape gives them.
func (r *runner) measure(m *Model) ([][]int64, error) {
	all := make([][]int64, len(m.out))
	for i, p := range m.out {
		all[i] = p.valid
		if p.Bound == nil {
			continue
		}
		sizes, err := p.Sizes(r.exec)
		if err != nil {
			return nil, err
		}
		all[i] = sizes
		boundary.Log(boundary.LevelInfo, "hbdnn", "output of open size", "model", m.name, "output", p.Name, "shape", sizes,
			"within", p.Bound)
	}
	return all, nil
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
