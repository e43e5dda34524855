package ref

import (
	"cmp"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// detection is one row of the result.
type detection struct {
	box, class int
	score      float32
}

func init() {
	register(Real, func(o *op.DetectionPostProcess, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		batches, anchors, cols := int(in[0].Dims[0]), int(in[0].Dims[1]), int(in[1].Dims[2])
		if o.Classes == 0 {
			all := *o
			all.Classes = int64(cols - 1)
			o = &all
		}
		ys := make([]tensor.Tensor, 4)
		for i := range ys {
			tick()
			ys[i] = like(out[i])
		}
		boxesOut, classesOut, scoresOut, count := view[float32](ys[0]), view[float32](ys[1]), view[float32](ys[2]),
			view[float32](ys[3])
		m := int(ys[1].Dims[1])
		for b := range batches {
			boxes := alloc[box](anchors)
			for i := range boxes {
				tick()
				boxes[i] = decodeBox(o, in[0], (b*anchors+i)*int(in[0].Dims[2]), in[2], 4*i)
			}
			scores := func(i, class int) float32 {
				return float32(scalarAt(in[1], (b*anchors+i)*cols+cols-int(o.Classes)+class).f)
			}
			var found []detection
			if o.Regular {
				found = detectRegular(o, boxes, scores)
			} else {
				found = detectFast(o, boxes, scores)
			}
			for k, d := range found {
				tick()
				at := b*m + k
				e := boxes[d.box]
				copy(boxesOut[4*at:], []float32{e.y1, e.x1, e.y2, e.x2})
				classesOut[at], scoresOut[at] = float32(d.class), d.score
			}
			count[b] = float32(len(found))
		}
		return ys, nil
	})
}

// decodeBox decodes the box at element i of t against the anchor at element j of anchors.
func decodeBox(o *op.DetectionPostProcess, t tensor.Tensor, i int, anchors tensor.Tensor, j int) box {
	var v, a [4]float64
	for k := range v {
		v[k] = scalarAt(t, i+k).f / float64(o.Scale[k])
		a[k] = scalarAt(anchors, j+k).f
	}
	yc, xc := v[0]*a[2]+a[0], v[1]*a[3]+a[1]
	h, w := math.Exp(v[2])*a[2]/2, math.Exp(v[3])*a[3]/2
	return box{float32(yc - h), float32(xc - w), float32(yc + h), float32(xc + w)}
}

func detectFast(o *op.DetectionPostProcess, boxes []box, scores func(i, class int) float32) []detection {
	top := alloc[float32](len(boxes))
	for i := range top {
		tick()
		top[i] = scores(i, 0)
		for c := 1; c < int(o.Classes); c++ {
			top[i] = max(top[i], scores(i, c))
		}
	}
	order := best(top, func(s float32) bool { return s >= o.Score })
	var found []detection
	for _, i := range suppress(boxes, order, o.MaxDetections, o.IoU) {
		own := alloc[float32](o.Classes)
		for c := range own {
			own[c] = scores(i, c)
		}
		for _, c := range best(own, func(float32) bool { return true })[:min(o.MaxClasses, o.Classes)] {
			found = append(found, detection{i, c, own[c]})
		}
	}
	return found
}

func detectRegular(o *op.DetectionPostProcess, boxes []box, scores func(i, class int) float32) []detection {
	var found []detection
	for c := range int(o.Classes) {
		own := alloc[float32](len(boxes))
		for i := range own {
			tick()
			own[i] = scores(i, c)
		}
		order := best(own, func(s float32) bool { return s >= o.Score })
		for _, i := range suppress(boxes, order, o.DetectionsPerClass, o.IoU) {
			found = append(found, detection{i, c, own[i]})
		}
	}
	slices.SortStableFunc(found, func(a, b detection) int { return cmp.Compare(b.score, a.score) })
	return found[:min(int64(len(found)), o.MaxDetections)]
}
