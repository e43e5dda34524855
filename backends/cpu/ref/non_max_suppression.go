package ref

import (
	"cmp"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// box is a rectangle by its edges.
type box struct{ y1, x1, y2, x2 float32 }

// iou returns intersection over union, 0 where a box has no area. Each step is rounded: conversions keep products apart
// from sums, which some processors would join.
func (a box) iou(b box) float32 {
	areaA, areaB := float32((a.y2-a.y1)*(a.x2-a.x1)), float32((b.y2-b.y1)*(b.x2-b.x1))
	if !(areaA > 0) || !(areaB > 0) {
		return 0
	}
	h := max(min(a.y2, b.y2)-max(a.y1, b.y1), 0)
	w := max(min(a.x2, b.x2)-max(a.x1, b.x1), 0)
	both := float32(h * w)
	return both / (areaA + areaB - both)
}

// suppress takes candidates in order, at most limit, and drops those that overlap a taken one by more than iou.
func suppress(boxes []box, candidates []int, limit int64, iou float32) []int {
	var taken []int
	for _, c := range candidates {
		tick()
		if int64(len(taken)) >= limit {
			break
		}
		if !slices.ContainsFunc(taken, func(t int) bool { return boxes[c].iou(boxes[t]) > iou }) {
			taken = append(taken, c)
		}
	}
	return taken
}

// best returns the indices of the scores that pass keep, falling; equal ones in their order.
func best(scores []float32, keep func(float32) bool) []int {
	var order []int
	for i, s := range scores {
		tick()
		if keep(s) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

func init() {
	register(Real|Judging, func(o *op.NonMaxSuppression, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		limit, iou, floor := int64(0), float32(0), float32(math.Inf(-1))
		if len(in) > 2 {
			var err error
			if limit, err = int0(in[2], 0); err != nil {
				return nil, err
			}
		}
		if len(in) > 3 && !in[3].Absent() {
			if iou = float32(scalarAt(in[3], 0).f); !(iou >= 0 && iou <= 1) {
				return nil, fault.New(fault.Data, "input 3: %v is outside [0, 1]", iou)
			}
		}
		if len(in) > 4 && !in[4].Absent() {
			floor = float32(scalarAt(in[4], 0).f)
		}
		batches, n, classes := int(in[0].Dims[0]), int(in[0].Dims[1]), int(in[1].Dims[1])
		var found []int64
		for b := range batches {
			boxes := alloc[box](n)
			for i := range boxes {
				tick()
				boxes[i] = corners(in[0], b*n+i, o.CenterBox)
			}
			for c := range classes {
				scores := alloc[float32](n)
				for i := range scores {
					tick()
					scores[i] = float32(scalarAt(in[1], (b*classes+c)*n+i).f)
				}
				order := best(scores, func(s float32) bool { return s > floor || len(in) < 5 || in[4].Absent() })
				kept := suppress(boxes, order, limit, iou)
				found = grow(found, 3*len(kept))
				for _, i := range kept {
					found = append(found, int64(b), int64(c), int64(i))
				}
			}
		}
		y, err := sized(out[0], int64(len(found)/3), 3)
		for i, v := range found {
			tick()
			storeInt(y, i, v)
		}
		return []tensor.Tensor{y}, err
	})
}

// corners reads box i.
func corners(t tensor.Tensor, i int, center bool) box {
	var v [4]float32
	for k := range v {
		v[k] = float32(scalarAt(t, 4*i+k).f)
	}
	if center {
		return box{v[1] - v[3]/2, v[0] - v[2]/2, v[1] + v[3]/2, v[0] + v[2]/2}
	}
	return box{min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])}
}
