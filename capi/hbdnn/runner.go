package hbdnn

import (
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// A runner is an execution of a model with what its tasks need besides. Tasks take one and give it back.
type runner struct {
	model *Model
	core  int32
	exec  device.Execution
	rooms []mem.Buffer // the model's elements of inputs that are converted or gathered, nil: not needed so far
	ended chan error
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
	return &runner{model: m, core: core, exec: e, rooms: make([]mem.Buffer, len(m.in)), ended: make(chan error, 1)}, nil
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

func (r *runner) free() {
	r.exec.Release()
	for _, b := range r.rooms {
		if b != nil {
			b.Release()
		}
	}
}

// run computes one member of a task.
func (r *runner) run(in, out []bound) (err error) {
	defer r.unbind()
	begun := time.Now()
	for i, p := range r.model.in {
		in[i].flush(flushInvalidate)
		if err := r.bindInput(i, p, in[i]); err != nil {
			return fault.Wrap(err, "input %q", p.Name)
		}
	}
	placed := make([]bool, len(out))
	for i, p := range r.model.out {
		if placed[i] = p.direct() && !shared(i, in, out) && r.model.dump == nil; !placed[i] {
			continue
		}
		if err := r.exec.BindOutput(i, p.view(&out[i][0])); err != nil {
			return fault.Wrap(err, "output %q", p.Name)
		}
	}
	r.prepared = time.Since(begun)
	if err := r.exec.Start(device.RunRequest{Here: true, Done: func(err error) { r.ended <- err }}); err != nil {
		return err
	}
	if err := <-r.ended; err != nil {
		return err
	}
	r.model.dump.write(r.exec)
	for i, p := range r.model.out {
		if !placed[i] {
			err = r.deliver(i, p, &out[i][0])
		}
		if err == nil && p.gaps && !out[i][0].dense {
			err = p.fill(&out[i][0])
		}
		if err != nil {
			return fault.Wrap(err, "output %q", p.Name)
		}
		out[i].flush(flushClean)
	}
	return nil
}

// fill writes zeros where a result has gaps.
func (p *port) fill(to *piece) error {
	data, err := to.buf.Map()
	if err == nil {
		clearGaps(data, p.valid, p.aligned, elementSize(p.kind))
	}
	return err
}

// unbind lets go of the program's memory.
func (r *runner) unbind() {
	for _, p := range r.model.in {
		_ = r.exec.BindInput(p.at, mem.View{}) // nothing is refused between runs
		if p.chroma != nil {
			_ = r.exec.BindInput(p.at+1, mem.View{})
		}
	}
	for i := range r.model.out {
		_ = r.exec.BindOutput(i, mem.View{})
	}
}

// shared says whether the memory of output i is also that of another tensor of the member.
func shared(i int, in, out []bound) bool {
	mine := out[i][0].buf
	same := func(b bound) bool {
		for _, p := range b {
			for _, theirs := range []mem.Buffer{p.buf, p.chroma} {
				if theirs != nil && mem.Aliases(mine, 0, mine.Size(), theirs, 0, theirs.Size()) {
					return true
				}
			}
		}
		return false
	}
	for _, b := range in {
		if same(b) {
			return true
		}
	}
	for k, b := range out {
		if k != i && same(b) {
			return true
		}
	}
	return false
}

// bindInput gives the execution an input: the program's memory itself, or a copy of ours.
func (r *runner) bindInput(i int, p *port, b bound) error {
	if p.Image != nil && len(b) == 1 && b[0].source == nil {
		return r.bindImage(p, p.picture(&b[0]).views())
	}
	if len(b) == 1 && p.Image == nil && p.direct() {
		return r.exec.BindInput(p.at, p.view(&b[0]))
	}
	data, err := r.room(i, p.coreBytes())
	if err != nil {
		return err
	}
	if p.Image != nil {
		return r.gather(i, p, b, data)
	}
	for k := range b {
		one := &b[k]
		n := p.coreBytes()
		if all := p.batch(); all > 0 {
			n = n / all * one.batch
		}
		if p.direct() {
			err = p.view(one).Load(data[:n])
		} else if src, e := one.buf.Map(); e == nil {
			p.load(data[:n], src, one.batch)
		} else {
			err = e
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return r.exec.BindInput(p.at, mem.View{Buf: r.rooms[i], Type: tensor.T(p.Type, p.dims...)})
}

// room is memory for the model's elements of input i, made when first wanted.
func (r *runner) room(i int, size int64) ([]byte, error) {
	if r.rooms[i] == nil {
		room, err := mem.Host(size, mem.Options{Align: memoryAlignment})
		if err != nil {
			return nil, err
		}
		r.rooms[i] = room
	}
	return r.rooms[i].Map()
}

// deliver writes a result that the execution has to the program's memory.
func (r *runner) deliver(i int, p *port, to *piece) error {
	src, err := r.exec.OutputData(i)
	if err != nil {
		return err
	}
	if !p.numbers {
		return p.view(to).Store(src)
	}
	dst, err := to.buf.Map()
	if err != nil {
		return err
	}
	a := p.arrangement(0)
	p.Store(dst, a, tensor.Float32, src, p.dims)
	return nil
}
