package hbucp

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
)

// maxBytes is more than a process can have.
const maxBytes = 1 << 46

// mostRows bounds the rows and columns of an image of which a region is taken.
const mostRows = 1 << 15

// place is the memory of one tensor of a program, which stays until the task is done.
type place struct {
	buf    mem.Buffer
	shape  []int64
	stride []int64
}

// places takes the tensors of a call, one for each port.
func places(list []*port, first *Tensor, name string) (taken []place, err error) {
	for i, t := range slices.Clone(unsafe.Slice(first, len(list))) { // a fault comes before memory is pinned
		one, err := list[i].take(&t, argument{name, i})
		if err != nil {
			for _, p := range taken {
				p.buf.Release()
			}
			return nil, err
		}
		taken = append(taken, one)
	}
	return taken, nil
}

// take checks a tensor against its port and pins its memory. It does not read the quantization, whose pointers may
// dangle.
func (p *port) take(t *Tensor, name argument) (place, error) {
	d := &t.properties
	if d.kind != p.kind {
		return place{}, hb.Invalid("%v.properties.tensorType is %s (%d): %q takes %s (%d) "+
			"[hbucp-properties-tensor-type]", name, typeName(d.kind), d.kind,
			p.name, typeName(p.kind), p.kind)
	}
	if int(d.valid.rank) != len(p.shape) {
		return place{}, hb.Invalid("%v.properties.validShape.numDimensions is %d: %q has the shape %v "+
			"[hbucp-properties-valid-shape]", name, d.valid.rank, p.name,
			p.valid)
	}
	shape := slices.Clone(p.shape)
	for i, n := range p.shape {
		got := int64(d.valid.dims[i])
		if p.resizer() && p.valid[i] == open && got > 0 && got <= mostRows {
			shape[i] = got
			continue
		}
		if got != n && (p.valid[i] != open || got != open || p.resizer()) {
			return place{}, hb.Invalid("%v.properties.validShape is %v: %q has the shape %v [hbucp-valid-shape]",
				name, d.valid.dims[:len(p.shape)],
				p.name, p.valid)
		}
	}
	stride := slices.Clone(d.stride[:len(p.shape)])
	need, err := p.span(shape, stride, name)
	if err != nil {
		return place{}, err
	}
	if t.mem.virt != 0 && t.mem.size < uint64(need) {
		return place{}, hb.Invalid("%v.sysMem.memSize is %d: %q takes %d bytes, as %s %v with the strides %v "+
			"[hbucp-mem-size-bytes]", name, t.mem.size,
			p.name, need, typeName(p.kind), shape, stride)
	}
	buf, err := api.Pinned(t.mem.virt, name.String()+".sysMem", need)
	if err != nil {
		return place{}, err
	}
	return place{api.OnBoard(buf, t.mem.phys, t.mem.virt, need), shape, stride}, nil
}

// span checks strides and returns how many bytes they reach over.
func (p *port) span(shape, stride []int64, name argument) (need int64, err error) {
	size := int64(p.element.Bits() / 8)
	need = size
	least := size
	plain := slices.Equal(stride, dense(shape, size))
	for i := len(stride) - 1; i >= 0; i-- {
		s := stride[i]
		switch {
		case s == open:
			return 0, hb.Invalid("%v.properties.stride[%d] is -1: the program says how far the elements of %q lie apart, at least "+
				"%d bytes [hbucp-properties-stride-program]", name, i, p.name, least)
		case s < least || s%size != 0:
			return 0, hb.Invalid("%v.properties.stride[%d] is %d: want a multiple of %d, of at least %d for %s %v of %q "+
				"[hbucp-stride-want-multiple]", name, i, s,
				size, least, typeName(p.kind), shape, p.name)
		case p.given && i < 2 && aimed().rows > 0 && s%aimed().rows != 0:
			return 0, hb.Invalid("%v.properties.stride[%d] is %d: want a multiple of %d (ANYNPU_HBDNN_TARGET=%s) "+
				"[hbucp-properties-stride-multiple-hbdnn]", name, i, s,
				aimed().rows, aimed().name)
		case s > maxBytes/shape[i]:
			return 0, hb.Invalid("%v.properties.stride[%d] is %d: %d steps of it are too many bytes "+
				"[hbucp-stride-steps-too]", name, i, s, shape[i])
		case !p.given && !plain && s < p.stride[i]:
			return 0, hb.Invalid("%v.properties.stride is %v: %q takes %v, as queried or larger, or %v, without gaps "+
				"[hbucp-stride-takes-queried]", name, stride,
				p.name, p.stride, dense(shape, size))
		}
		need += (shape[i] - 1) * s
		least = s * shape[i]
	}
	return need, nil
}

// argument names a tensor in errors: an element of an array.
type argument struct {
	name string
	i    int
}

func (a argument) String() string { return fmt.Sprintf("%s[%d]", a.name, a.i) }

// checkTensors looks at arrays with a tensor for each port.
func checkTensors(first *Tensor, n int, name string) error {
	if err := boundary.CheckRange(unsafe.Pointer(first), uint64(n)*uint64(unsafe.Sizeof(*first))); err != nil {
		return fault.Wrap(err, "%s", name)
	}
	return nil
}

// from is memory as core wants it, of the port that it was taken for.
func (p *port) from(m *place) io.Operand { return p.operand(m.buf, m.shape, m.stride) }
