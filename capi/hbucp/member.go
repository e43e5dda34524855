package hbucp

import (
	"fmt"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// A member is one run of a model.
type member struct {
	model   *Model
	in, out []place
	sizes   [][]int64 // of the outputs of a run that has ended well
}

// Label names the member in errors.
func (m *member) Label() string { return fmt.Sprintf("model %q", m.model.Name) }

// End releases the member's resources.
func (m *member) End() {
	for _, list := range [][]place{m.in, m.out} {
		for _, p := range list {
			p.buf.Release()
		}
	}
	m.model.Pack.Leave()
}

// Sizes returns the sizes of the outputs of a run that has ended well.
func (m *member) Sizes() [][]int64 { return m.sizes }

// Estimate is the time of the run.
func (m *member) Estimate() int64 { return m.model.Latency() }

// Run computes the member.
func (m *member) Run(t *Task) error {
	took, err := t.Compute(&m.model.Execs, m.compute)
	if err == nil {
		m.model.Learn(took)
	}
	return err
}

func (m *member) compute(r *hb.Runner) error {
	e := r.Exec
	defer e.Unbind()
	if err := m.model.feed(e, m.in); err != nil {
		return err
	}
	for i, p := range m.model.out {
		o := p.from(&m.out[i])
		e.Take(p.plane(), &o)
	}
	for i, p := range m.model.out {
		if _, err := e.Place(i); err != nil {
			return fault.Wrap(err, "output %q", p.name)
		}
	}
	if err := e.Run(device.RunRequest{}); err != nil {
		return err
	}
	m.sizes = nil
	for i, p := range m.model.out {
		sizes := p.shape
		if p.Bound != nil {
			own, err := p.Port.Sizes(e)
			if err != nil {
				return err
			}
			sizes = own
			boundary.Log(boundary.LevelInfo, api.Component, "output of open size", "model", m.model.Name, "output",
				p.name, "shape",
				sizes, "within", p.Bound)
		}
		m.sizes = append(m.sizes, sizes)
		if err := e.Deliver(i); err != nil {
			return fault.Wrap(err, "output %q", p.name)
		}
		api.FlushBoard(m.out[i].buf, flushClean)
	}
	return nil
}

// submitted looks at the memory of a member that is about to be queued.
func (m *member) submitted() {
	m.buffers(hb.Sent, func(_ string, addr uintptr, n int64) { hb.Invalidated(addr, n, "the next task") })
}

// Computed takes note of the results of the member.
func (m *member) Computed() { m.buffers(func(string, uintptr, int64) {}, hb.Written) }

// buffers calls in and out with the memory of the member's inputs and outputs and the name of the port.
func (m *member) buffers(in, out func(port string, addr uintptr, n int64)) {
	if !hb.ChecksFlush {
		return
	}
	each := func(list []*port, all []place, f func(string, uintptr, int64)) {
		for i, p := range all {
			if data, err := p.buf.Map(); err == nil {
				f(list[i].name, hb.AddressOf(data), int64(len(data)))
			}
		}
	}
	each(m.model.in, m.in, in)
	each(m.model.out, m.out, out)
}
