package hbdnn

import (
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// tellBytes says once of an image which of two things its bytes are taken for, where nothing says it: pixels, or as the
// programs of some repositories for X5 have them, pixels - 128.
func (p *port) tellBytes(in metadata.Input) {
	switch pixel := p.Image.Decode.Pixel; {
	case pixel == op.PixelGray || pixel.Semiplanar() || p.Image.Source == "resizer" || in.Bytes != "" ||
		aimed().name == "x3" || boundary.Getenv("ANYNPU_HBDNN_BYTES") != "":
		return
	}
	toldBytes.Do(func() {
		caution("the bytes of an image are taken for pixels, 0 to 255; for a program that hands over pixels - 128, as some "+
			"for X5 do, want anynpu.input.NAME.bytes = signed in the model's metadata, or ANYNPU_HBDNN_BYTES=signed; "+
			"unsigned there ends this line [hbdnn-bytes-image-taken]", "input", p.Name, "tensorType", typeName(p.kind))
	})
}

var toldBytes sync.Once

// takeImage pins the memory of an image, whose rows lie apart as the width of alignedShape says.
func (p *port) takeImage(t *Tensor, name string, aligned []int64, batch int64) (piece, error) {
	width := 3
	if p.interleaved() {
		width = 2
	}
	own, valid := p.sized(p.aligned, batch), p.sized(p.valid, batch)
	same := len(aligned) == 4 && aligned[width] >= valid[width]
	for i := range min(len(aligned), 4) {
		same = same && (i == width || aligned[i] == own[i] || p.kind == typeNV12 && i == 1 &&
			(aligned[i] == 3 || aligned[i] == 4))
	}
	if !same {
		return piece{}, invalid("%s.properties.alignedShape is %v: %q takes %v, as queried, or a larger width in "+
			"it [hbdnn-properties-aligned-shape]", name,
			aligned, p.Name, own)
	}
	one := piece{batch: batch, pitch: aligned[width]}
	if p.interleaved() {
		one.pitch *= p.Image.Decode.Pixel.Components()
	}
	var err error
	if t.properties.kind != typeNV12Separate {
		one.buf, err = planeOf(t, name, 0, batch*p.imageBytes(one.pitch))
		return one, err
	}
	_, h, _ := p.Image.Size(p.dims)
	if one.buf, err = planeOf(t, name, 0, batch*h*one.pitch); err != nil {
		return piece{}, err
	}
	if one.chroma, err = planeOf(t, name, 1, batch*(h/2)*one.pitch); err != nil {
		one.buf.Release()
		return piece{}, err
	}
	return one, nil
}

// picture is the memory of a piece.
func (p *port) picture(one *piece) *picture {
	_, h, w := p.Image.Size(p.dims)
	d := &p.Image.Decode
	return &picture{pixel: d.Pixel, interleaved: d.Interleaved, n: one.batch, h: h, w: w, pitch: one.pitch, luma: one.buf,
		chroma: one.chroma}
}

// scaleTo writes a region of the picture as an image of the port's size.
func (s *picture) scaleTo(p *port, r op.Region, to []mem.View) error {
	_, h, w := p.Image.Size(p.dims)
	g := hb.Geometry{Pixel: s.pixel, Interleaved: s.interleaved, H: s.h, W: s.w, OH: h, OW: w}
	return hb.Scale(g, s.views(), r, to)
}
