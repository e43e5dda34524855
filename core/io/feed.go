package io

import (
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/mem"
)

// use notes that memory is the program's at a port, until Unbind.
func (x *Execution) use(b mem.Buffer) {
	b.Retain()
	x.used = append(x.used, b)
}

// Feed gives an input what the program has there: the memory itself if it holds the elements as the execution reads
// them, else the input's room, to which they are converted.
func (x *Execution) Feed(p *Port, o *Operand) error {
	x.use(o.Buf)
	switch {
	case o.own():
		return x.Input(p.At, o.View)
	case p.Place(p.arrangement(), &o.As):
		return x.Input(p.At, p.View(o.Buf))
	}
	src, err := o.Buf.Map()
	if err == nil {
		err = x.Stage(p, src, &o.As)
	}
	if err != nil {
		return err
	}
	return x.FeedStaged(p)
}

// Gather gives an input what the program has for it in parts of its first dimension, one after another in its room.
func (x *Execution) Gather(p *Port, parts []Operand) error {
	v, err := x.Room(p)
	if err != nil {
		return err
	}
	first := int64(0)
	for i := range parts {
		n := parts[i].Type.Shape.Dims[0].N
		if err := x.Load(p, Part(v, first, n), &parts[i]); err != nil {
			return err
		}
		first += n
	}
	return x.FeedStaged(p)
}

// Load writes what a program has for a part of an input to that part of the input's room. The port has no order of its
// own.
func (x *Execution) Load(p *Port, to mem.View, o *Operand) error {
	x.use(o.Buf)
	dst, err := to.Buf.Map()
	if err != nil {
		return err
	}
	n, _ := to.Type.ByteSize()
	dst = dst[to.Off : to.Off+n]
	x.copiedIn += n
	if o.own() {
		return o.Load(dst)
	}
	src, err := o.Buf.Map()
	if err != nil {
		return err
	}
	dims, _ := to.Type.Shape.Ints()
	defer Converting()()
	p.Tensor.Load(dst, convert.Arrange(dims, convert.Layout{}), src, &o.As)
	return nil
}

// Stage converts what a program has for an input to the input's room, for FeedStaged.
func (x *Execution) Stage(p *Port, src []byte, as *convert.Source) error {
	b, err := x.room(p)
	if err != nil {
		return err
	}
	data, err := b.Map()
	if err != nil {
		return err
	}
	defer Converting()()
	x.copiedIn += int64(len(data))
	p.Tensor.Load(data, p.arrangement(), src, as)
	return nil
}

// FeedStaged gives an input what its room holds, in the order that the port had when that was written.
func (x *Execution) FeedStaged(p *Port) error {
	own := *p
	own.Order = x.rooms[p.At].order
	return x.BindInput(p.At, own.View(x.rooms[p.At].buf))
}

// Room is the memory of ours for an input of these sizes, as the execution will read it. It is made when first wanted,
// and anew for another size.
func (x *Execution) Room(p *Port) (mem.View, error) {
	b, err := x.room(p)
	if err != nil {
		return mem.View{}, err
	}
	return p.View(b), nil
}

func (x *Execution) room(p *Port) (mem.Buffer, error) {
	r := &x.rooms[p.At]
	if n := p.bytes(); r.buf == nil || r.buf.Size() != n {
		buf, err := mem.Host(n, mem.Options{})
		if err != nil {
			return nil, err
		}
		if r.buf != nil {
			r.buf.Release()
		}
		r.buf = buf
	}
	r.order = p.Order
	return r.buf, nil
}

// Staged reports whether an input has a room.
func (x *Execution) Staged(i int) bool { return x.rooms[i].buf != nil }
