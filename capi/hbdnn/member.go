package hbdnn

import (
	"fmt"

	"github.com/anynpu/anynpu/core/mem"
)

// A member is one run of a model, or the scaling of an image.
type member struct {
	model   *Model
	in, out []bound
	sizes   [][]int64 // of the outputs of a run that has ended well
	scaled  *scaled   // nil: a run of the model
}

// label is what errors call the member.
func (m *member) label() string {
	if m.model == nil {
		return "resize"
	}
	return fmt.Sprintf("model %q", m.model.name)
}

// end lets go of what a member has.
func (m *member) end() {
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
	m.model.pack.leave()
}

// submitted looks at the memory of members that are about to be queued.
func submitted(members []*member) {
	if !checksFlush {
		return
	}
	for _, m := range members {
		m.buffers(sent, func(_ string, addr uintptr, n int64) { invalidated(addr, n, "the next task") })
	}
}

// computed takes note of the results of a member.
func (m *member) computed() {
	if checksFlush {
		m.buffers(func(string, uintptr, int64) {}, written)
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

// submitted takes note of the calling thread and of the time, if that is a model's first submission.
func (p *profiler) submitted(members []*member) {
	if p == nil {
		return
	}
	for _, m := range members {
		if m.model != nil {
			m.model.profile.submitted()
		}
	}
}
