package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.DecodeImage, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		t, y := newLike[float32](out[0])
		planes := planesOf(o.Pixel, o.Interleaved, in)
		luma, a := planes[0], o.Affine()
		for n := range int(in[0].Dims[0]) {
			for row := range luma.h {
				for col := range luma.w {
					tick()
					x := components(planes, a, n, row, col)
					for c := range a.Channels {
						w := a.Weight[c]
						rest := float32(float32(w[1]*x[1])+float32(w[2]*x[2])) + a.Offset[c]
						i := ((n*a.Channels+c)*luma.h+row)*luma.w + col
						if o.ChannelsLast {
							i = ((n*luma.h+row)*luma.w+col)*a.Channels + c
						}
						y[i] = float32(w[0]*x[0]) + rest
					}
				}
			}
		}
		return []tensor.Tensor{t}, nil
	})
}

// components returns those of a pixel, each minus its base; 0 for those that are not read.
func components(planes []imagePlane, a op.ImageAffine, n, row, col int) (x [3]float32) {
	for k := range a.Components {
		p, c, y, z := &planes[0], k, row, col
		if len(planes) == 2 && k > 0 {
			p, c = &planes[1], k-1
			y, z = min(row/2, p.h-1), min(col/2, p.w-1)
		}
		x[k] = float32(int32(p.data[p.at(n, y, z, c)]) - a.Base[k])
	}
	return x
}
