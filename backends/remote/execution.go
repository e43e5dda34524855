package remote

import (
	"context"
	"fmt"
	"time"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// execution implements device.Execution.
type execution struct {
	exec.Base
	prog    *program
	options device.ExecOptions
	region  *region          // where tensors lie for the helper, nil: none yet
	local   device.Execution // computes here, nil: has not been needed

	done  bool
	types []tensor.Type
	data  [][]byte
}

func newExecution(p *program, o device.ExecOptions) *execution {
	p.Retain()
	e := &execution{prog: p, options: o}
	e.Bound, e.Result = exec.NewBindings(p.in, p.out), e.result
	return e
}

func (e *execution) result(i int) (t tensor.Type, data []byte, done bool) {
	if !e.done {
		return t, nil, false
	}
	return e.types[i], e.data[i], true
}

// Start implements device.Execution.
func (e *execution) Start(r device.RunRequest) error {
	return e.Task.Start(r, func() error {
		e.done = false
		return e.Bound.Ready()
	}, e.run)
}

// Release implements device.Execution.
func (e *execution) Release() {
	if !e.Close() {
		return
	}
	e.drop()
	if e.local != nil {
		e.local.Release()
	}
	e.prog.Release()
}

// drop lets go of the region, which no call uses.
func (e *execution) drop() {
	if r := e.region; r != nil {
		e.region = nil
		e.prog.dev.free(r)
	}
}

// run has a server compute, and this machine if none does and the manifest allows it.
func (e *execution) run(ctx context.Context) error {
	begin := time.Now()
	where, err := e.remote(ctx)
	e.ran(where, begin, err)
	if err != nil && ctx.Err() == nil && e.prog.dev.config.Local != nil && fault.KindOf(err) != fault.Shape {
		e.prog.dev.tell(e.prog.dev.info.ID+": computed here instead: "+err.Error(), time.Minute)
		from := time.Now()
		err = e.here(ctx)
		e.ran("here, as no server computed it", from, err)
		if err == nil {
			e.prog.dev.local.Add(1)
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	e.done = true
	e.Counts.Runs++
	e.Counts.LastRun = time.Since(begin)
	return nil
}

// ran takes note of a run.
func (e *execution) ran(where string, begin time.Time, err error) {
	if f := e.prog.dev.config.Ran; f != nil {
		f(e.prog.model.Name+" "+where, time.Since(begin), err)
	}
}

// remote has a server compute; where says which, and how many bytes went there and back.
func (e *execution) remote(ctx context.Context) (where string, err error) {
	where = "at no server"
	p, d := e.prog, e.prog.dev
	limit := d.deadline()
	if at, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(at))
	}
	r := &link.Request{Do: link.Infer, Model: p.model, LeftMS: milliseconds(limit)}
	var l layout
	views := make([]mem.View, len(p.in))
	for i := range p.in {
		v, err := e.Bound.In[i].Input()
		if err != nil {
			return where, fault.Wrap(err, "input %d", i)
		}
		b := &p.inPorts[i]
		if b.order != nil {
			v = v.Permuted(b.order)
		}
		views[i] = v
		dims, _ := v.Type.Shape.Ints()
		for k, n := range b.port.Shape {
			if n >= 0 && dims[k] != n {
				return where, fault.New(fault.Shape, "input %d: the server's model takes %v, got %v", i, b.port.Shape, dims)
			}
		}
		size, ok := tensor.T(b.port.Type, dims...).ByteSize()
		if !ok {
			return where, fault.New(fault.Shape, "input %d: %v%v has no size", i, b.port.Type, dims)
		}
		r.In = append(r.In, link.Tensor{Name: b.port.Name, Type: b.port.Type, Shape: dims, Off: l.add(size), Size: size})
	}
	for i := range p.out {
		r.Out = append(r.Out, e.place(i, &l))
	}
	if err := e.room(max(l.size, 1)); err != nil {
		return where, err
	}
	for i := range r.In {
		r.In[i].Region = e.region.id
	}
	for i := range r.Out {
		r.Out[i].Region = e.region.id
	}
	all, err := e.region.buf.Map()
	if err != nil {
		return where, err
	}
	for i := range r.In {
		t := &r.In[i]
		if err := load(all[t.Off:t.Off+t.Size], t.Type, views[i]); err != nil {
			return where, fault.Wrap(err, "input %d", i)
		}
		e.Counts.CopiedIn += t.Size
	}
	begin := time.Now()
	a, err := e.ask(ctx, r, limit)
	if err != nil {
		return where, err
	}
	if p.sent && a.lacking() {
		again := d.sendAgain(ctx, p, limit-time.Since(begin), a.Failure != nil)
		left := limit - time.Since(begin)
		if again && left > 0 && a.Failure != nil {
			a.drop()
			r.LeftMS = milliseconds(left)
			if a, err = e.ask(ctx, r, left); err != nil {
				return where, err
			}
		}
	}
	defer a.drop()
	if d.config.Remote.SharedMemory && (a.Failure != nil || elsewhere(r, a)) {
		defer e.drop() // a server may write to it later
	}
	if a.Failure != nil {
		return where, failure(fault.Device, a.Failure)
	}
	if a.Done != nil {
		where = fmt.Sprintf("at %s, %d bytes sent, %d received", a.Done.Address, a.Done.Sent, a.Done.Received)
	}
	return where, e.deliver(r, a, all)
}

// place says where an output belongs: at a place of its own if its size is known.
func (e *execution) place(i int, l *layout) link.Place {
	b, t := &e.prog.outPorts[i], e.prog.out[i].Type
	o := link.Place{Name: b.port.Name, Type: b.port.Type}
	known := true
	for k := range t.Shape.Dims {
		d := k
		if b.order != nil {
			d = b.order[k]
		}
		n := b.port.Shape[k]
		if dim := t.Shape.Dims[d]; dim.Known() {
			n = dim.N
		}
		known = known && n >= 0
		o.Shape = append(o.Shape, n)
	}
	if o.Shape == nil {
		o.Shape = []int64{}
	}
	if known {
		o.Room, _ = tensor.T(o.Type, o.Shape...).ByteSize()
		o.Off = l.add(o.Room)
	}
	return o
}

// room has a region of at least so many bytes.
func (e *execution) room(size int64) error {
	if e.region != nil && e.region.buf.Size() >= size {
		return nil
	}
	e.drop()
	buf, err := mem.Buffer(nil), error(nil)
	if e.prog.dev.config.Remote.SharedMemory {
		buf, err = sharedFile(size)
	}
	if buf == nil || err != nil {
		if buf, err = mem.Memfd(size, mem.Options{Name: "anynpu-remote"}); err != nil {
			return err
		}
	}
	e.region = &region{id: e.prog.dev.helper.newRegion(), buf: buf}
	return nil
}

// elsewhere says that an output came in other memory than that which was meant for it.
func elsewhere(r *link.Request, a *answered) bool {
	for i := range a.Out {
		if a.Out[i].Spill && i < len(r.Out) && r.Out[i].Room > 0 {
			return true
		}
	}
	return false
}

// ask has the helper do a run. A run that is given up keeps the region until the helper has let go of it.
func (e *execution) ask(ctx context.Context, r *link.Request, limit time.Duration) (*answered, error) {
	d := e.prog.dev
	s, err := d.helper.session()
	if err != nil {
		return nil, err
	}
	if err := s.share(e.region); err != nil {
		return nil, err
	}
	held := e.region
	a, pending, err := d.helper.call(ctx, s, r, limit+helperLimit, func() { d.free(held) })
	if pending {
		e.region = nil
	}
	return a, err
}

// deliver brings the outputs where they are wanted.
func (e *execution) deliver(r *link.Request, a *answered, all []byte) error {
	if len(a.Out) != len(r.Out) || (a.Spill > 0) != (a.spill >= 0) {
		return fault.New(fault.Device, "%s answers with %d outputs, want %d", link.HelperName, len(a.Out), len(r.Out))
	}
	var spill []byte
	if a.Spill > 0 {
		buf, err := mem.ImportFD(a.spill, 0, a.Spill, true)
		if err != nil {
			return err
		}
		defer buf.Release()
		if spill, err = buf.Map(); err != nil {
			return err
		}
	}
	e.types, e.data = make([]tensor.Type, len(r.Out)), make([][]byte, len(r.Out))
	for i := range r.Out {
		from := all
		if a.Out[i].Spill {
			from = spill
		}
		if err := e.output(i, &a.Out[i], from); err != nil {
			return fault.Wrap(err, "output %d", i)
		}
	}
	return nil
}

// output brings an output where it is wanted.
func (e *execution) output(i int, r *link.Result, from []byte) error {
	b, t := &e.prog.outPorts[i], e.prog.out[i].Type
	size, ok := tensor.T(b.port.Type, r.Shape...).ByteSize()
	if !ok || size != r.Size || r.Off < 0 || r.Off > int64(len(from)) || size > int64(len(from))-r.Off ||
		len(r.Shape) != len(t.Shape.Dims) {
		return fault.New(fault.Device, "%s says %v%v lies in %d bytes at %d", link.HelperName, b.port.Type, r.Shape, r.Size,
			r.Off)
	}
	dims := append([]int64{}, r.Shape...)
	for k, d := range b.order {
		dims[d] = r.Shape[k]
	}
	shape, fits := t.Shape.Merge(tensor.Of(dims...))
	if !fits {
		return fault.New(fault.Device, "the result has the shape %v, want %v", dims, t.Shape)
	}
	t.Shape = shape
	data, err := store(from[r.Off:r.Off+size], b.port.Type, t)
	if err != nil {
		return err
	}
	var v mem.View
	if e.Bound.Out[i].View.Buf != nil {
		if v, err = e.Bound.Out[i].Output(t); err != nil {
			return err
		}
		e.Counts.CopiedOut += int64(len(data))
	} else {
		n, _ := t.ByteSize()
		if e.data[i], err = mem.Make[byte](int(n)); err != nil {
			return err
		}
		v = mem.View{Buf: mem.Borrow(e.data[i], nil), Type: t}
		defer v.Buf.Release()
	}
	e.types[i] = t
	if b.order != nil {
		v = v.Permuted(b.order)
	}
	return v.Store(data)
}

// here computes on this machine.
func (e *execution) here(ctx context.Context) error {
	if e.local == nil {
		p, err := e.prog.here()
		if err == nil {
			e.local, err = p.New(e.options)
		}
		if err != nil {
			return err
		}
	}
	x := e.local
	defer func() {
		for i := range e.Bound.In {
			_ = x.BindInput(i, mem.View{}) // an execution that refuses is released with its bindings
		}
		for i := range e.Bound.Out {
			_ = x.BindOutput(i, mem.View{})
		}
	}()
	for i := range e.Bound.In {
		v, err := e.Bound.In[i].Input()
		if err == nil {
			err = x.BindInput(i, v)
		}
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
	}
	for i := range e.Bound.Out {
		if v := e.Bound.Out[i].View; v.Buf != nil {
			if err := x.BindOutput(i, v); err != nil {
				return fault.Wrap(err, "output %d", i)
			}
		}
	}
	deadline, _ := ctx.Deadline()
	if err := exec.Run(ctx, x, device.RunRequest{Deadline: deadline, LoopLimit: device.LoopLimit(ctx)}); err != nil {
		return err
	}
	e.types, e.data = make([]tensor.Type, len(e.Bound.Out)), make([][]byte, len(e.Bound.Out))
	for i := range e.Bound.Out {
		t, err := x.OutputType(i)
		if err == nil && e.Bound.Out[i].View.Buf == nil {
			e.data[i], err = x.OutputData(i)
		}
		if err != nil {
			return err
		}
		e.types[i] = t
	}
	return nil
}
