package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real|Judging, func(o *op.HeatmapMaxKeypoint, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		heat, corners := reals(in[0]), reals(in[1])
		scores, putScore := realStore(out[0])
		points, putPoint := realStore(out[1])
		maps := extentOf(in[0].Dims, o.ChannelsLast)
		rows, columns := int(maps.spatial[0]), int(maps.spatial[1])
		epsilon := float64(o.Epsilon)
		if epsilon == 0 {
			epsilon = 1e-5
		}
		for n := range maps.n {
			b, err := boxAt(corners, 4*n)
			if err != nil {
				return nil, fault.Wrap(err, "input 1: box %d", n)
			}
			for k := range maps.c {
				at := func(row, column int) float64 {
					return heat[maps.index(n, k, mirrored(row, rows)*columns+mirrored(column, columns))]
				}
				top := 0
				for p := range maps.cells {
					tick()
					if at(p/columns, p%columns) > at(top/columns, top%columns) {
						top = p
					}
				}
				row, column := top/columns, top%columns
				dx, dy, score := peak(func(y, x int) float64 { return at(row+y, column+x) }, epsilon)
				i := n*maps.c + k
				putScore(i, score)
				putPoint(2*i, float64(b.x1)+(float64(column)+dx+0.5)/float64(columns)*float64(b.x2-b.x1))
				putPoint(2*i+1, float64(b.y1)+(float64(row)+dy+0.5)/float64(rows)*float64(b.y2-b.y1))
			}
		}
		return []tensor.Tensor{scores, points}, nil
	})
}

// mirrored is cell i, or if it lies one beyond the border the one as far inside; n is 2 or more.
func mirrored(i, n int) int {
	switch {
	case i < 0:
		return -i
	case i >= n:
		return 2*n - 2 - i
	}
	return i
}

// peak returns where the Taylor series around cell 0, 0 has its peak, and the height of it.
func peak(v func(y, x int) float64, epsilon float64) (dx, dy, height float64) {
	gx, gy := (v(0, 1)-v(0, -1))/2, (v(1, 0)-v(-1, 0))/2
	xx, yy := v(0, 1)-2*v(0, 0)+v(0, -1), v(1, 0)-2*v(0, 0)+v(-1, 0)
	xy := (v(1, 1) - v(1, -1) - v(-1, 1) + v(-1, -1)) / 4
	det := xx*yy - xy*xy
	if !(math.Abs(det) >= epsilon*(1+xx*yy)) {
		return 0, 0, v(0, 0)
	}
	dx, dy = (xy*gy-yy*gx)/det, (xy*gx-xx*gy)/det
	if most := max(math.Abs(dx), math.Abs(dy)); most > 1.5 {
		dx, dy = dx*1.5/most, dy*1.5/most
	}
	return dx, dy, v(0, 0) + gx*dx + gy*dy + (xx*dx*dx+2*xy*dx*dy+yy*dy*dy)/2
}
