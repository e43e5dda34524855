package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real|Judging, roiAlign) }

func roiAlign(o *op.RoiAlign, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	if empty(out[0]) {
		return zeros(out), nil
	}
	x, rois, images := reals(in[0]), reals(in[1]), reals(in[2])
	y, put := realStore(out[0])
	xe, ye := extentOf(in[0].Dims, o.ChannelsLast), extentOf(y.Dims, o.ChannelsLast)
	height, width := int(xe.spatial[0]), int(xe.spatial[1])
	for r := range ye.n {
		roi, err := newRegion(r, images[r], rois[4*r:4*r+4], xe.n, o.ScaleHeight, o.ScaleWidth)
		if err == nil && o.Inside {
			err = roi.inside(r, height, width)
		}
		if err != nil {
			return nil, fault.Wrap(err, "input 1")
		}
		rows, err := roiPoints(o, roi.y1, roi.y2, int(o.Height), o.SamplesHeight, height)
		if err != nil {
			return nil, fault.Wrap(err, "input 1: region %d", r)
		}
		cols, err := roiPoints(o, roi.x1, roi.x2, int(o.Width), o.SamplesWidth, width)
		if err != nil {
			return nil, fault.Wrap(err, "input 1: region %d", r)
		}
		if n := int64(len(rows[0])) * int64(len(cols[0])); n > maxSamples {
			return nil, fault.New(fault.Data, "input 1: region %d needs %d samples in a bin", r, n)
		}
		for p, ys := range rows {
			for q, xs := range cols {
				for c := range xe.c {
					tick()
					put(ye.index(r, c, p*len(cols)+q), roiBin(o.Mode, x, xe.index(roi.image, c, 0), xe.step(), width, ys, xs))
				}
			}
		}
	}
	return []tensor.Tensor{y}, nil
}

// maxSamples bounds the samples in a bin, and along one dimension of a region.
const maxSamples = 1 << 20

// roiPoints returns, for each of n bins along one dimension, the cells around each sample. Coordinates
// are computed in float32, since one at the very border decides between a value and 0.
func roiPoints(o *op.RoiAlign, from, to float64, n int, samples int64, size int) ([][][]Cell, error) {
	start, end := float32(from), float32(to)
	if o.HalfPixel {
		start, end = start-0.5, end-0.5
	}
	length := end - start
	if !o.HalfPixel {
		length = max(length, 1)
	}
	bin := length / float32(n)
	count := samples
	if count == 0 {
		count = max(int64(math.Ceil(float64(bin))), 0)
	}
	if count > maxSamples/int64(n) {
		return nil, fault.New(fault.Data, "%d samples in each of %d bins", count, n)
	}
	bins := alloc[[][]Cell](n)
	for i := range bins {
		bins[i] = alloc[[]Cell](count)
		for k := range bins[i] {
			tick()
			c := float64(float32(start+float32(float32(i)*bin)) + float32((float32(k)+0.5)*bin)/float32(count))
			if c < -1 || c > float64(size) {
				continue
			}
			bins[i][k] = neighbours(min(max(c, 0), float64(size-1)), size, nil)
		}
	}
	return bins, nil
}

// roiBin is the value of one bin of one channel.
func roiBin(mode op.RoiMode, x []float64, base, step, width int, ys, xs [][]Cell) float64 {
	var sum float64
	best := math.Inf(-1)
	for _, row := range ys {
		for _, col := range xs {
			var v float64
			for _, a := range row {
				for _, b := range col {
					tick()
					t := a.Weight * b.Weight * x[base+(a.Index*width+b.Index)*step]
					v += t
					if mode == op.RoiMaxWeighted {
						best = max(best, t)
					}
				}
			}
			if len(row) == 0 || len(col) == 0 || mode == op.RoiMaxWeighted && (len(row) < 2 || len(col) < 2) {
				best = max(best, 0)
			}
			if mode == op.RoiMax {
				best = max(best, v)
			}
			sum += v
		}
	}
	n := len(ys) * len(xs)
	switch {
	case n == 0:
		return 0
	case mode == op.RoiAverage:
		return sum / float64(n)
	}
	return best
}
