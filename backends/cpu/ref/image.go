package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// imagePlane is a plane of bytes of several images: component c of row y and column x of image n is at
// data[n*image + y*row + x*col + c*comp].
type imagePlane struct {
	data                  []byte
	h, w, comps           int
	image, row, col, comp int
}

func (p *imagePlane) at(n, y, x, c int) int { return n*p.image + y*p.row + x*p.col + c*p.comp }

// planesOf returns the planes of an image in one tensor, or in two.
func planesOf(pixel op.Pixel, interleaved bool, t []tensor.Tensor) []imagePlane {
	d := make([]int, len(t[0].Dims))
	for i, n := range t[0].Dims {
		d[i] = int(n)
	}
	data := t[0].Data
	switch {
	case !pixel.Semiplanar() && interleaved:
		return []imagePlane{{data, d[1], d[2], d[3], d[1] * d[2] * d[3], d[2] * d[3], d[3], 1}}
	case !pixel.Semiplanar():
		return []imagePlane{{data, d[2], d[3], d[1], d[1] * d[2] * d[3], d[3], 1, d[2] * d[3]}}
	case len(t) > 1 && !t[1].Absent():
		h, w := d[1]/2, d[2]/2
		return []imagePlane{{data, d[1], d[2], 1, d[1] * d[2], d[2], 1, 0}, {t[1].Data, h, w, 2, h * w * 2, w * 2, 2, 1}}
	}
	rows, w := d[1], d[2]
	n, _ := op.BlockHeight(int64(rows))
	h := int(n)
	luma := imagePlane{data, h, w, 1, rows * w, w, 1, 0}
	return []imagePlane{luma, {data[min(h*w, len(data)):], h / 2, w / 2, 2, rows * w, w, 2, 1}}
}
