package hbdnn

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// inputs takes the tensors of a call: for each input one, or, with a first dimension of 1, as many as the model's batch
// has (section 6). Errors name the index in the program's array.
func (m *Model) inputs(first *Tensor) (list []bound, err error) {
	defer func() {
		if err != nil {
			for _, b := range list {
				b.release()
			}
		}
	}()
	at := 0
	for _, p := range m.in {
		var own bound
		need := int64(0)
		if len(p.dims) > 0 {
			need = p.dims[0]
		}
		for done := int64(0); ; {
			t := served().tensors(first, at+1)[at]
			one, err := p.take(t, fmt.Sprintf("input[%d]", at), done > 0)
			if err != nil {
				own.release()
				return list, err
			}
			own = append(own, one)
			at++
			if done += one.batch; done >= need {
				break
			}
		}
		list = append(list, own)
	}
	return list, nil
}

// outputs takes the tensors that results go to.
func (m *Model) outputs(first *Tensor) (list []bound, err error) {
	for i, p := range m.out {
		t := served().tensors(first, i+1)[i]
		one, err := p.take(t, fmt.Sprintf("(*output)[%d]", i), false)
		if err == nil && one.batch != p.batch() {
			one.buf.Release()
			err = invalid("(*output)[%d].properties.validShape begins with %d: output %q has a batch of %d in "+
				"one tensor [hbdnn-output-properties-valid]", i,
				one.batch, p.Name, p.batch())
		}
		if err != nil {
			for _, b := range list {
				b.release()
			}
			return nil, err
		}
		list = append(list, bound{one})
	}
	return list, nil
}

// take checks a tensor against its port and pins its memory. part says that another tensor of the same port came
// before, so that this is one of the batch too.
func (p *port) take(t *Tensor, name string, part bool) (piece, error) {
	if err := boundary.CheckRange(cPointer(uintptr(unsafe.Pointer(t))), 96+136); err != nil {
		return piece{}, fault.Wrap(err, "%s", name)
	}
	d := &t.properties
	if d.kind != p.kind && !(p.kind == typeNV12 && d.kind == typeNV12Separate) {
		key := ""
		if (d.kind == typeNV12 || d.kind == typeNV12Separate) && p.framed() {
			key = ": " + p.nv12Key()
		}
		return piece{}, invalid("%s.properties.tensorType is %s (%d): %q takes %s (%d)%s "+
			"[hbdnn-properties-tensor-type-takes-take]", name, typeName(d.kind), d.kind,
			p.Name, typeName(p.kind), p.kind, key)
	}
	valid, ok := d.valid.list()
	if !ok || len(valid) != len(p.valid) {
		return piece{}, invalid("%s.properties.validShape.numDimensions is %d: %q has the shape %v "+
			"[hbdnn-properties-valid-shape-num]", name, d.valid.rank,
			p.Name, p.valid)
	}
	batch := p.batch()
	if batch > 1 && (valid[0] == 1 || part) {
		batch = 1
	}
	if want := p.sized(p.valid, batch); !slices.Equal(valid, want) {
		return piece{}, invalid("%s.properties.validShape is %v: %q has the shape %v "+
			"[hbdnn-properties-valid-shape-take]", name, valid, p.Name, want)
	}
	if len(valid) == 4 && d.layout != p.layout {
		return piece{}, invalid("%s.properties.tensorLayout is %s (%d): %q has %s (%d) "+
			"[hbdnn-properties-tensor-layout-take]", name, layoutName(d.layout), d.layout,
			p.Name, layoutName(p.layout), p.layout)
	}
	aligned, ok := d.aligned.list()
	if !ok {
		return piece{}, invalid("%s.properties.alignedShape.numDimensions is %d: want 0 to %d "+
			"[hbdnn-properties-aligned-shape-num]", name, d.aligned.rank, maxDims)
	}
	if p.Image != nil {
		return p.takeImage(t, name, aligned, batch)
	}
	one := piece{batch: batch, dense: slices.Equal(aligned, valid)}
	need := p.bytes
	if one.dense {
		need = elementSize(p.kind)
		for _, n := range p.valid {
			need *= n
		}
	}
	if batch != p.batch() {
		need /= p.batch()
	}
	if own := p.sized(p.aligned, batch); !slices.Equal(aligned, own) && !slices.Equal(aligned, valid) {
		return piece{}, invalid("%s.properties.alignedShape is %v: %q takes %v, as queried, or validShape, %v "+
			"[hbdnn-properties-aligned-shape-takes]", name, aligned,
			p.Name, own, valid)
	}
	var err error
	one.buf, err = p.memory(&t.mem[0], name, need)
	return one, err
}

// memory pins the need bytes of a tensor.
func (p *port) memory(m *SysMem, name string, need int64) (mem.Buffer, error) {
	if int64(m.size) < need && m.virt != 0 {
		return nil, invalid("%s.sysMem[0].memSize is %d: %q takes %d bytes, properties.alignedByteSize, as %s %v "+
			"in %s%s [hbdnn-sys-mem-size-takes]",
			name, m.size, p.Name, need, typeName(p.kind), p.aligned, layoutName(p.layout),
			p.fits(int64(m.size))+p.frame(int64(m.size)))
	}
	return pinned(m, name+".sysMem[0]", need)
}

// fits says which element types the bytes that a program has would fit.
func (p *port) fits(have int64) string {
	size := elementSize(p.kind)
	if size == 0 || p.bytes%size != 0 {
		return ""
	}
	elements := p.bytes / size
	for _, t := range []int32{typeU8, typeF16, typeF32, typeF64} {
		if t != p.kind && elements*elementSize(t) == have {
			return fmt.Sprintf("; %d bytes fit %s", have, typeName(t))
		}
	}
	return ""
}
