package io

import (
	"slices"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Take notes what the program has at an output. All of them are noted before the first is placed.
func (x *Execution) Take(p *Port, o *Operand) {
	x.use(o.Buf)
	x.out[p.At].port, x.out[p.At].to = *p, *o
}

// Place has the execution write output i where the program wants it, if that takes the elements as they are and no
// other operand has a byte there. It reports whether it does; Deliver copies the others.
func (x *Execution) Place(i int) (bool, error) {
	r := &x.out[i]
	if r.to.Buf == nil || !r.to.own() || r.to.Codes != nil || x.shared(r.to.Buf) {
		return false, nil
	}
	return true, x.Output(i, r.to.View)
}

// shared reports whether memory that an operand has is also that of another one, at the same address or another.
func (x *Execution) shared(b mem.Buffer) bool {
	operands := 0
	for _, other := range x.used {
		if mem.Aliases(b, 0, b.Size(), other, 0, other.Size()) {
			operands++
		}
	}
	return operands > 1
}

// Overlaps reports whether a range of a program's lies in the memory of one of its operands too, which can have several
// addresses. data is the operand's, or a part of it.
func Overlaps(b mem.Buffer, data, with []byte) bool {
	return mem.Overlap(with, data) || mem.InFile(b) && mem.OverlapMapped(with, data)
}

// Deliver writes output i to the memory that the program has for it, unless that was done in place, and zeros to its
// gaps there. An output that was not taken stays with the execution.
func (x *Execution) Deliver(i int) error {
	r := &x.out[i]
	if r.to.Buf == nil {
		return nil
	}
	if !r.bound {
		if err := x.store(i, r); err != nil {
			return err
		}
	}
	if r.to.Gaps.Valid == nil {
		return nil
	}
	data, err := r.to.Buf.Map()
	if err == nil {
		r.to.Gaps.clear(data[r.to.Off:], int64(r.to.Type.DType.Bits()/8))
	}
	return err
}

// store writes a result that the execution has.
func (x *Execution) store(i int, r *result) error {
	src, err := x.OutputData(i)
	if err != nil {
		return err
	}
	defer Converting()()
	x.copiedOut += int64(len(src))
	if r.to.Codes != nil {
		return r.to.Store(x.encode(r, src))
	}
	if r.to.own() {
		return r.to.Store(src)
	}
	dst, err := r.to.Buf.Map()
	if err != nil {
		return err
	}
	r.port.Store(dst, r.to.As.Arrangement, r.to.As.Type, src, r.port.Dims)
	return nil
}

// encode makes codes of the real numbers of a result, in memory that is kept from run to run.
func (x *Execution) encode(r *result, src []byte) []byte {
	n, _ := tensor.Count(r.port.Dims)
	to := r.to.Type.DType
	x.codes = slices.Grow(x.codes[:0], int(n)*to.Bits()/8)[:int(n)*to.Bits()/8]
	if r.port.Type == tensor.Float32 {
		convert.Quantize(x.codes, to, mem.Elements[float32](src)[:n], r.to.Codes, 0)
		return x.codes
	}
	x.reals = slices.Grow(x.reals[:0], int(n))[:n]
	convert.Floats(x.reals, r.port.Type, src)
	convert.Quantize(x.codes, to, x.reals, r.to.Codes, 0)
	return x.codes
}
