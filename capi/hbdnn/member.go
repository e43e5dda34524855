package hbdnn

import (
	"fmt"
	"time"

	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/mem"
)

// A member is one run of a model, or the scaling of an image.
type member struct {
	model   *Model
	in, out []bound
	sizes   [][]int64 // of the outputs of a run that has ended well
	scaled  *scaled   // nil: a run of the model
}

// Label is the member's name in errors.
func (m *member) Label() string {
	if m.model == nil {
		return "resize"
	}
	return fmt.Sprintf("model %q", m.model.Name)
}

// End releases a member's resources.
func (m *member) End() {
	for _, list := range [][]bound{m.in, m.out} {
		for _, b := range list {
			b.release()
		}
	}
	if m.scaled != nil {
		m.scaled.from.release()
		m.scaled.to.release()
		return
	}
	m.model.Pack.Leave()
}

// Sizes returns the sizes of the outputs of a run that has ended well.
func (m *member) Sizes() [][]int64 { return m.sizes }

// Estimate is the time of the run.
func (m *member) Estimate() int64 {
	if m.model == nil {
		return 0
	}
	return m.model.Latency()
}

// Run computes the member.
func (m *member) Run(t *Task) error {
	if m.scaled != nil {
		return t.Work(m.scaled.run)
	}
	took, err := t.Compute(&m.model.Execs, func(r *hb.Runner) error {
		sizes, prepared, err := run(r, m.model, m.in, m.out)
		m.sizes = sizes
		if err == nil && m.model.profile != nil {
			m.model.profile.ran(t.Queued, prepared, r.Exec.Stats().Nodes)
		}
		return err
	})
	if err == nil {
		m.model.Learn(took)
	}
	return err
}

// submitted looks at the memory of members that are about to be queued, and at the thread that does it.
func submitted(members []hb.Member) {
	for _, one := range members {
		m := one.(*member)
		if hb.ChecksFlush {
			m.buffers(hb.Sent, func(_ string, addr uintptr, n int64) { hb.Invalidated(addr, n, "the next task") })
		}
		if profiling != nil && m.model != nil {
			m.model.profile.submitted()
		}
	}
}

// Computed takes note of the results of the member.
func (m *member) Computed() {
	if hb.ChecksFlush {
		m.buffers(func(string, uintptr, int64) {}, hb.Written)
	}
}

// buffers calls in and out with every memory of the member's inputs and outputs and the name of the port.
func (m *member) buffers(in, out func(port string, addr uintptr, n int64)) {
	each := func(port string, b mem.Buffer, f func(string, uintptr, int64)) {
		if b == nil {
			return
		}
		if data, err := b.Map(); err == nil {
			f(port, addressOf(data), int64(len(data)))
		}
	}
	pictured := func(port string, p *picture, f func(string, uintptr, int64)) {
		each(port, p.luma, f)
		each(port, p.chroma, f)
	}
	if m.scaled != nil {
		pictured("input", m.scaled.from, in)
		pictured("output", m.scaled.to, out)
		return
	}
	ports := func(list []*port, all []bound, f func(string, uintptr, int64)) {
		for i, b := range all {
			for k := range b {
				if b[k].source != nil {
					pictured(list[i].Name, b[k].source, f)
					continue
				}
				each(list[i].Name, b[k].buf, f)
				each(list[i].Name, b[k].chroma, f)
			}
		}
	}
	ports(m.model.in, m.in, in)
	ports(m.model.out, m.out, out)
}

// profileTask takes a task, which has run, into the profiles of its models.
func profileTask(t *Task, begun time.Time) {
	told := map[*profile]bool{}
	for _, one := range t.Members() {
		if m := one.(*member); m.model != nil && !told[m.model.profile] {
			told[m.model.profile] = true
			m.model.profile.done(int32(t.Core), t.Queued, begun)
		}
	}
}
