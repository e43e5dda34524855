package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.ResizeImage, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		made := make([]tensor.Tensor, len(out))
		for i := range out {
			made[i], _ = newLike[uint8](out[i])
		}
		from, to := planesOf(o.Pixel, o.Interleaved, in[:min(2, len(in))]), planesOf(o.Pixel, o.Interleaved, made)
		h, w := int64(from[0].h), int64(from[0].w)
		for n := range int(in[0].Dims[0]) {
			r := op.Region{Right: w - 1, Bottom: h - 1}
			if len(in) > 2 && !in[2].Absent() {
				at := func(k int) int64 { return tensor.IntAt(in[2].DType, in[2].Data, 4*n+k) }
				var err error
				if r, err = (op.Region{Left: at(0), Top: at(1), Right: at(2), Bottom: at(3)}).Within(h, w); err != nil {
					return nil, fault.Wrap(err, "input 2: image %d", n)
				}
			}
			for i := range from {
				tick()
				if i == 1 {
					r = r.Chroma(h, w)
				}
				resizePlane(&to[i], &from[i], n, r)
			}
		}
		return made, nil
	})
}

// resizePlane resizes region r of image n.
func resizePlane(to, from *imagePlane, n int, r op.Region) {
	cell := func(i int, first, last int64, dst int) (int, int, uint64) {
		pos := int64(i) * op.ImageStep(last-first+1, int64(dst))
		at := func(k int64) int { return int(first + min(k, last-first)) }
		return at(pos >> 16), at(pos>>16 + 1), uint64(pos & 65535)
	}
	for y := range to.h {
		top, bottom, fy := cell(y, r.Top, r.Bottom, to.h)
		for x := range to.w {
			tick()
			left, right, fx := cell(x, r.Left, r.Right, to.w)
			for c := range to.comps {
				at := func(y, x int) uint64 { return uint64(from.data[from.at(n, y, x, c)]) }
				sum := (65536-fy)*((65536-fx)*at(top, left)+fx*at(top, right)) +
					fy*((65536-fx)*at(bottom, left)+fx*at(bottom, right))
				to.data[to.at(n, y, x, c)] = byte((sum + 1<<31) >> 32)
			}
		}
	}
}
