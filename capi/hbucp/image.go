package hbucp

import (
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// setImage describes bytes of pixels of n images. Rows of NV12 and gray are as long as the program says, and of a
// resizer as many.
func (p *port) setImage(n, h, w int64) {
	pixel := p.Image.Decode.Pixel
	chroma := p.Image.Part == model.ImageChroma
	p.given = true
	switch {
	case pixel.Semiplanar() && chroma:
		p.name = p.Image.Input + "_uv"
		p.shape = []int64{n, h / 2, w / 2, 2}
	case pixel.Semiplanar():
		p.name = p.Image.Input + "_y"
		p.shape = []int64{n, h, w, 1}
	case pixel == op.PixelGray:
		p.shape = []int64{n, h, w, 1}
	default:
		p.given = false
		p.shape = append([]int64{n}, p.dims[1:]...)
	}
	p.dims = append([]int64{n}, p.dims[1:]...)
	p.kind = typeU8
	if p.Image.Signed {
		p.kind = typeS8
	}
	p.lay()
	if p.given {
		p.stride[0], p.stride[1], p.bytes = open, open, open
	}
	if p.resizer() {
		p.valid = []int64{n, open, open, p.shape[3]}
	}
}

// newRegions is the port of the regions of n images: left, top, right and bottom, the last ones inclusive.
func newRegions(im *model.Image, n int64) *port {
	of := &model.Port{Name: im.Input + "_roi", Tensor: convert.Tensor{Type: tensor.Int32}}
	p := &port{Port: of, name: of.Name, dims: []int64{n, 4}, shape: []int64{n, 4}, element: tensor.Int32, kind: typeS32}
	p.lay()
	return p
}
