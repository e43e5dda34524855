package hbucp

import (
	"encoding/binary"

	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// feed gives the execution the inputs.
func (m *Model) feed(e *io.Execution, in []place) error {
	for i := range in {
		api.FlushBoard(in[i].buf, flushInvalidate)
	}
	for i := range m.feeds {
		f := &m.feeds[i]
		if f.regions != nil {
			if err := m.scale(e, in, f); err != nil {
				return fault.Wrap(err, "%s", m.label(f.planes[0][0]))
			}
			continue
		}
		for _, plane := range f.planes {
			if err := m.gather(e, in, plane); err != nil {
				return fault.Wrap(err, "%s", m.label(plane[0]))
			}
		}
	}
	return nil
}

// gather feeds an input from the tensors of a plane, one after another in its batch.
func (m *Model) gather(e *io.Execution, in []place, plane []int) error {
	first := m.in[plane[0]]
	if len(plane) == 1 {
		o := first.from(&in[plane[0]])
		return e.Feed(first.plane(), &o)
	}
	parts := make([]io.Operand, len(plane))
	for k, i := range plane {
		parts[k] = m.in[i].from(&in[i])
	}
	return e.Gather(first.plane(), parts)
}

// scale feeds the inputs of an image with regions of the program's images, which are scaled to their size.
func (m *Model) scale(e *io.Execution, in []place, f *feed) error {
	var rooms []mem.View
	for _, plane := range f.planes {
		v, err := e.Room(m.in[plane[0]].plane())
		if err != nil {
			return err
		}
		rooms = append(rooms, v)
	}
	at := int64(0) // in the model's batch
	for k, y := range f.planes[0] {
		p, regions := m.in[y], f.regions[k]
		h, w := in[y].shape[1], in[y].shape[2]
		for i := range p.shape[0] {
			r, err := in[regions].regionOf(i, m.label(regions))
			if err != nil {
				return err
			}
			if r, err = r.Within(h, w); err != nil {
				return fault.Wrap(err, "%s: region %d", m.label(regions), i)
			}
			var from, to []mem.View
			for n, plane := range f.planes {
				from = append(from, m.in[plane[k]].one(&in[plane[k]], i))
				to = append(to, io.Part(rooms[n], at, 1))
			}
			d := &p.Image.Decode
			g := hb.Geometry{Pixel: d.Pixel, Interleaved: d.Interleaved, H: h, W: w, OH: p.shape[1], OW: p.shape[2]}
			if err := hb.Scale(g, from, r, to); err != nil {
				return err
			}
			at++
		}
	}
	for _, plane := range f.planes {
		if err := e.FeedStaged(m.in[plane[0]].plane()); err != nil {
			return err
		}
	}
	return nil
}

// one is image i of a tensor of images.
func (p *port) one(m *place, i int64) mem.View {
	v := p.from(m).View
	v.Off += i * m.stride[0]
	v.Type.Shape.Dims = append(v.Type.Shape.Dims[:0:0], v.Type.Shape.Dims...)
	v.Type.Shape.Dims[0].N = 1
	return v
}

// regionOf reads region i of a tensor of regions.
func (m *place) regionOf(i int64, name string) (op.Region, error) {
	data, err := m.buf.Map()
	if err != nil {
		return op.Region{}, err
	}
	var v [4]int64
	for k := range v {
		at := i*m.stride[0] + int64(k)*m.stride[1]
		v[k] = int64(int32(binary.NativeEndian.Uint32(data[at:])))
	}
	r := op.Region{Left: v[0], Top: v[1], Right: v[2], Bottom: v[3]}
	if r.Left > r.Right || r.Top > r.Bottom {
		return r, fault.New(fault.Data, "%s: region %d is left %d, top %d, right %d, bottom %d: want left <= right and "+
			"top <= bottom [hbucp-region-left-top]", name, i, v[0], v[1], v[2], v[3])
	}
	return r, nil
}
