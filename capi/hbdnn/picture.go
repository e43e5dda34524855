package hbdnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A picture is n images of bytes in a program's memory.
type picture struct {
	pixel        op.Pixel
	interleaved  bool // components lie side by side
	n, h, w      int64
	pitch        int64      // bytes from row to row
	luma, chroma mem.Buffer // chroma is nil unless it has memory of its own
}

// pixelsOf are the kinds of pixels of image types.
var pixelsOf = map[int32]op.Pixel{typeY: op.PixelGray, typeNV12: op.PixelNV12, typeNV12Separate: op.PixelNV12,
	typeYUV444: op.PixelYUV444, typeRGB: op.PixelRGB, typeBGR: op.PixelBGR}

// block is the memory of one image.
func (p *picture) block() int64 {
	switch {
	case p.pixel.Semiplanar():
		return p.h * p.pitch * 3 / 2
	case p.interleaved:
		return p.h * p.pitch
	}
	return p.h * p.pitch * p.pixel.Components()
}

// views are the planes as tensors: of NV12 luma and chroma, of others the image.
func (p *picture) views() []mem.View {
	c, per := p.pixel.Components(), p.block()
	switch {
	case p.pixel.Semiplanar():
		luma := mem.View{Buf: p.luma, Type: tensor.T(tensor.Uint8, p.n, p.h, p.w), Strides: []int64{per, p.pitch, 1}}
		pairs := mem.View{Buf: p.luma, Off: p.h * p.pitch, Type: tensor.T(tensor.Uint8, p.n, p.h/2, p.w/2, 2),
			Strides: []int64{per, p.pitch, 2, 1}}
		if p.chroma != nil {
			pairs.Buf, pairs.Off = p.chroma, 0
			luma.Strides[0], pairs.Strides[0] = p.h*p.pitch, p.h/2*p.pitch
		}
		return []mem.View{luma, pairs}
	case p.interleaved:
		return []mem.View{{Buf: p.luma, Type: tensor.T(tensor.Uint8, p.n, p.h, p.w, c), Strides: []int64{per, p.pitch, c, 1}}}
	}
	return []mem.View{{Buf: p.luma, Type: tensor.T(tensor.Uint8, p.n, c, p.h, p.w),
		Strides: []int64{per, p.h * p.pitch, p.pitch, 1}}}
}

func (p *picture) release() {
	for _, b := range []mem.Buffer{p.luma, p.chroma} {
		if b != nil {
			b.Release()
		}
	}
}

// takePicture pins an image that a program describes itself: nothing but type, layout, the two shapes and memory is
// read (section 6).
func takePicture(t *Tensor, name string) (p *picture, err error) {
	if err := boundary.CheckRange(unsafe.Pointer(t), 96+136); err != nil {
		return nil, fault.Wrap(err, "%s", name)
	}
	d := &t.properties
	pixel, ok := pixelsOf[d.kind]
	if !ok {
		return nil, invalid("%s.properties.tensorType is %s (%d): want an image, IMG_TYPE_Y (0) to IMG_TYPE_BGR "+
			"(5) [hbdnn-properties-tensor-type]", name,
			typeName(d.kind), d.kind)
	}
	if d.layout != layoutNHWC && d.layout != layoutNCHW {
		return nil, invalid("%s.properties.tensorLayout is %s (%d): want NHWC (0) or NCHW (2) "+
			"[hbdnn-properties-tensor-layout]", name, layoutName(d.layout),
			d.layout)
	}
	valid, ok := d.valid.list()
	aligned, okToo := d.aligned.list()
	if !ok || !okToo || len(valid) != 4 || len(aligned) != 4 {
		return nil, invalid("%s.properties: validShape is %v and alignedShape %v: want four sizes of an image "+
			"[hbdnn-properties-valid-shape]", name, valid,
			aligned)
	}
	p = &picture{pixel: pixel, n: 1, h: valid[2], w: valid[3], pitch: aligned[3]}
	if d.layout == layoutNHWC {
		p.h, p.w, p.pitch, p.interleaved = valid[1], valid[2], aligned[2], !pixel.Semiplanar() && pixel != op.PixelGray
	}
	least := int64(1)
	if pixel.Semiplanar() {
		least = 2
	}
	const most = 1 << 15
	if valid[0] != 1 || p.h < least || p.w < least || p.h > most || p.w > most || p.pitch < p.w || p.pitch > 1<<17 {
		return nil, invalid("%s.properties: validShape is %v and alignedShape %v: want one image of %d to %d rows and "+
			"columns, "+
			"and rows at least as long [hbdnn-properties-valid-shape-aligned]", name, valid, aligned, least, most)
	}
	if p.interleaved {
		p.pitch *= pixel.Components()
	}
	if d.kind != typeNV12Separate {
		p.luma, err = planeOf(t, name, 0, p.block())
		return p, err
	}
	if p.luma, err = planeOf(t, name, 0, p.h*p.pitch); err != nil {
		return nil, err
	}
	if p.chroma, err = planeOf(t, name, 1, p.h/2*p.pitch); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// planeOf pins the memory of an image, or of one of its planes.
func planeOf(t *Tensor, name string, slot int, need int64) (mem.Buffer, error) {
	m := &t.mem[slot]
	name = []string{name + ".sysMem[0]", name + ".sysMem[1]"}[slot]
	if m.virt != 0 && int64(m.size) < need {
		valid, _ := t.properties.valid.list()
		return nil, invalid("%s.memSize is %d: want %d bytes, as %s %v has them with rows as long as "+
			"alignedShape says [hbdnn-mem-size-bytes]", name,
			m.size, need, typeName(t.properties.kind), valid)
	}
	return pinned(m, name, need)
}

// within is the part of a region that lies in the picture.
func (p *picture) within(r Roi, name string) (op.Region, error) {
	own := op.Region{Left: int64(r.left), Top: int64(r.top), Right: int64(r.right), Bottom: int64(r.bottom)}
	cut, err := own.Within(p.h, p.w)
	if err != nil {
		return cut, refuseFor(errArgument, err, "%s", name)
	}
	return cut, nil
}
