package rknn

import (
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// binding is memory that a run reads an input from or writes an output to, and what its bytes are.
type binding struct {
	memory *memory
	kind   spec.Type
	format spec.Format
	raw    bool
	input  bool
	rows   uint32 // of each image, 0: the input's height
}

// needs is the number of bytes from the first to behind the last element.
func (b *binding) needs(a convert.Arrangement) int64 { return a.Elements() * b.kind.Size() }

func (b *binding) checkSize(p *port, a convert.Arrangement) error {
	if have, need := b.memory.buf.Size(), b.needs(a); have < need {
		return invalid("mem->size is %d: %q as %v in %v takes %d bytes "+
			"[rknn-mem-size-takes]", have, p.Name, b.kind, b.format, need)
	}
	return nil
}

// arrangement says where the elements lie. C2 of NC1HWC2 comes from the port's native attributes, also for FLOAT32.
func (b *binding) arrangement(p *port, dims []int64) convert.Arrangement {
	_, c1, c2 := p.native(dims, b.input)
	return convert.Arrange(dims, convert.Layout{Order: b.format.Order(), C1: int(c1), C2: int(c2), Rows: int(b.rows)})
}

// open returns the bytes of a binding's memory for a run, with a function that releases them.
func (b *binding) open(p *port, dims []int64) ([]byte, convert.Arrangement, func(), error) {
	buf := memories.use(b.memory)
	if buf == nil {
		return nil, convert.Arrangement{}, nil, failed("context has memory bound to %q that was destroyed: rknn_set_io_mem "+
			"must bind other memory [rknn-context-memory-bound]", p.Name)
	}
	a := b.arrangement(p, dims)
	data, err := buf.Map()
	if err == nil {
		err = b.checkSize(p, a)
	}
	if err != nil {
		buf.Release()
		return nil, a, nil, err
	}
	return data, a, buf.Release, nil
}

// unbind passes on why a binding cannot be used. Memory that was destroyed is bound no longer; memory that is too small
// for this shape stays bound, for those that it can hold.
func unbind(b **binding, err error) error {
	if buf := memories.use((*b).memory); buf != nil {
		buf.Release()
	} else {
		*b = nil
	}
	return err
}

// operand describes output memory in which elements lie as a.
func (b *binding) operand(p *port, dims []int64, a convert.Arrangement) io.Operand {
	o := io.Own(mem.View{Buf: b.memory.buf, Type: p.coreType(dims)})
	if b.kind.DType() != p.Type || !a.Dense() {
		o.As = convert.Source{Type: b.kind.DType(), Arrangement: a}
	}
	return o
}
