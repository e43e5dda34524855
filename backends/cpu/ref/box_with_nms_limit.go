package ref

import (
	"cmp"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real|Judging, boxWithNMSLimit) }

func boxWithNMSLimit(o *op.BoxWithNMSLimit, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	scores, corners := reals(in[0]), reals(in[1])
	batches, err := intsOf(in[2])
	if err != nil {
		return nil, err
	}
	n, classes := len(batches), int(in[0].Dims[1])
	boxes := alloc[box](n * classes)
	for i := range boxes {
		tick()
		if boxes[i], err = boxAt(corners, 4*i); err != nil {
			return nil, fault.Wrap(err, "input 1: box %d of class %d", i/classes, i%classes)
		}
	}
	var found []detection // box is the row times the number of classes, plus the class
	for from := 0; from < n; {
		to := from + 1
		for to < n && batches[to] == batches[from] {
			tick()
			to++
		}
		var own []detection
		for c := 1; c < classes; c++ {
			var candidates []detection
			for i := from; i < to; i++ {
				tick()
				if s := float32(scores[i*classes+c]); s > o.Score {
					candidates = append(grow(candidates, 1), detection{i*classes + c, c, s})
				}
			}
			taken := decay(o, boxes, candidates)
			own = append(grow(own, len(taken)), taken...)
		}
		if o.Max >= 0 && int64(len(own)) > o.Max {
			slices.SortStableFunc(own, func(a, b detection) int { return cmp.Compare(b.score, a.score) })
			own = own[:o.Max]
			slices.SortStableFunc(own, func(a, b detection) int { return cmp.Compare(a.class, b.class) })
		}
		found = append(grow(found, len(own)), own...)
		from = to
	}
	res := make([]tensor.Tensor, 4)
	for i, dims := range [][]int64{{int64(len(found))}, {int64(len(found)), 4}, {int64(len(found))}, {int64(len(found))}} {
		if res[i], err = sized(out[i], dims...); err != nil {
			return nil, err
		}
	}
	for k, d := range found {
		tick()
		putNumber(res[0], k, float64(d.score))
		boxes[d.box].put(func(i int, r float64) { putNumber(res[1], i, r) }, 4*k)
		storeInt(res[2], k, int64(d.class))
		storeInt(res[3], k, batches[d.box/classes])
	}
	return res, nil
}

// decay selects candidates of one class, best first.
func decay(o *op.BoxWithNMSLimit, boxes []box, left []detection) []detection {
	var taken []detection
	for len(left) > 0 && (o.Max < 0 || int64(len(taken)) < o.Max) {
		top := 0
		for i := range left {
			tick()
			if left[i].score > left[top].score {
				top = i
			}
		}
		d := left[top]
		taken = append(grow(taken, 1), d)
		rest := left[:0]
		for i, c := range left {
			tick()
			if i == top {
				continue
			}
			if c.score *= kept(o, boxes[c.box].iou(boxes[d.box])); !(c.score < o.Keep) {
				rest = append(rest, c)
			}
		}
		left = rest
	}
	return taken
}

// kept is the share of its score that a box keeps beside a better one, v being their intersection over union.
func kept(o *op.BoxWithNMSLimit, v float32) float32 {
	switch {
	case o.Kernel == op.NMSGaussian:
		return float32(math.Exp(float64(-v*v) / float64(o.Sigma)))
	case v < o.IoU:
		return 1
	case o.Kernel == op.NMSLinear:
		return 1 - v
	}
	return 0
}
