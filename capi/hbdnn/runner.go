package hbdnn

import (
	"runtime/debug"

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
	line  []byte       // rows of an image without gaps
	ended chan error
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
	e, err := m.program.New(options(core))
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

// run computes one member of a task. Memory of the program may vanish under it.
func (r *runner) run(in, out []bound) (err error) {
	defer faulted(&err, errRun, "memory of the task's tensors")
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer r.unbind()
	for i, p := range r.model.in {
		if err := r.bindInput(i, p, in[i]); err != nil {
			return fault.Wrap(err, "input %q", p.Name)
		}
	}
	placed := make([]bool, len(out))
	for i, p := range r.model.out {
		if placed[i] = p.direct() && !shared(i, in, out); !placed[i] {
			continue
		}
		if err := r.exec.BindOutput(i, p.view(out[i][0].buf)); err != nil {
			return fault.Wrap(err, "output %q", p.Name)
		}
	}
	if err := r.exec.Start(device.RunRequest{Here: true, Done: func(err error) { r.ended <- err }}); err != nil {
		return err
	}
	if err := <-r.ended; err != nil {
		return err
	}
	for i, p := range r.model.out {
		if placed[i] {
			continue
		}
		if err := r.deliver(i, p, out[i][0].buf); err != nil {
			return fault.Wrap(err, "output %q", p.Name)
		}
	}
	return nil
}

// unbind lets go of the program's memory.
func (r *runner) unbind() {
	for i := range r.model.in {
		_ = r.exec.BindInput(i, mem.View{}) // nothing is refused between runs
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
			if mem.Aliases(mine, 0, mine.Size(), p.buf, 0, p.buf.Size()) {
				return true
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
	if len(b) == 1 && p.direct() {
		return r.exec.BindInput(i, p.view(b[0].buf))
	}
	if r.rooms[i] == nil {
		room, err := mem.Host(p.coreBytes(), mem.Options{Align: memoryAlignment})
		if err != nil {
			return err
		}
		r.rooms[i] = room
	}
	data, err := r.rooms[i].Map()
	if err != nil {
		return err
	}
	order := p.order
	for _, one := range b {
		src, err := one.buf.Map()
		if err != nil {
			return err
		}
		n := p.coreBytes()
		if b := p.batch(); b > 0 {
			n = n / b * one.batch
		}
		if p.direct() {
			copy(data[:n], src)
		} else {
			order = nil
			p.load(data[:n], r.rows(p, &one, src), one.batch)
		}
		data = data[n:]
	}
	v := p.view(r.rooms[i])
	v.Strides = nil
	return r.exec.BindInput(i, v.In(order))
}

// rows returns the pixels of an image without the gaps between its rows.
func (r *runner) rows(p *port, one *piece, src []byte) []byte {
	width := int64(0)
	if one.pitch != 0 {
		width = p.dims[3]
	}
	if one.pitch == width {
		return src
	}
	n := one.batch * p.dims[2]
	if int64(len(r.line)) < n*width {
		r.line = make([]byte, n*width)
	}
	for y := range n {
		copy(r.line[y*width:(y+1)*width], src[y*one.pitch:])
	}
	return r.line[:n*width]
}

// deliver writes a result that the execution has to the program's memory.
func (r *runner) deliver(i int, p *port, to mem.Buffer) error {
	src, err := r.exec.OutputData(i)
	if err != nil {
		return err
	}
	dst, err := to.Map()
	if err != nil {
		return err
	}
	if !p.numbers {
		copy(dst, src)
		return nil
	}
	a := p.arrangement(0)
	p.Store(dst, a, tensor.Float32, src, p.dims)
	return nil
}
