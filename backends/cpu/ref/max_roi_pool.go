package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real|Judging, func(o *op.MaxRoiPool, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		x, rois := reals(in[0]), reals(in[1])
		y, put := realStore(out[0])
		xe, ye := extentOf(in[0].Dims, o.ChannelsLast), extentOf(y.Dims, o.ChannelsLast)
		height, width := int(xe.spatial[0]), int(xe.spatial[1])
		columns, images := 5, []float64(nil)
		if len(in) > 2 && !in[2].Absent() {
			columns, images = 4, reals(in[2])
		}
		for r := range ye.n {
			corners := rois[r*columns:][:columns]
			image := corners[0]
			if columns == 4 {
				image = images[r]
			}
			roi, err := newRegion(r, image, corners[columns-4:], xe.n, o.ScaleHeight, o.ScaleWidth)
			if err == nil && o.Inside {
				err = roi.inside(r, height, width)
			}
			if err != nil {
				return nil, fault.Wrap(err, "input 1")
			}
			rows := roiBins(roi.y1, roi.y2, int(o.Height), height)
			cols := roiBins(roi.x1, roi.x2, int(o.Width), width)
			for p, row := range rows {
				for q, col := range cols {
					for c := range xe.c {
						base, best := xe.index(roi.image, c, 0), math.Inf(-1)
						for i := row[0]; i < row[1]; i++ {
							for j := col[0]; j < col[1]; j++ {
								tick()
								best = max(best, x[base+(i*width+j)*xe.step()])
							}
						}
						if row[0] >= row[1] || col[0] >= col[1] {
							best = 0
						}
						put(ye.index(r, c, p*len(cols)+q), best)
					}
				}
			}
		}
		return []tensor.Tensor{y}, nil
	})
}

// roiBins returns the first cell and the one after the last of each of n bins of a region from start to end, cut to [0,
// size).
func roiBins(start, end float64, n, size int) [][2]int {
	first := math.Round(start)
	length := max(math.Round(end)-first+1, 1)
	bins := alloc[[2]int](n)
	for i := range bins {
		tick()
		lo := math.Floor(float64(i)*length/float64(n)) + first
		hi := math.Ceil(float64(i+1)*length/float64(n)) + first
		bins[i] = [2]int{int(min(max(lo, 0), float64(size))), int(min(max(hi, 0), float64(size)))}
	}
	return bins
}
