package ref

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real|Judging, generateProposals) }

func generateProposals(o *op.GenerateProposals, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	scores, deltas, corners, images := reals(in[0]), reals(in[1]), reals(in[2]), reals(in[3])
	anchors := alloc[box](in[2].Dims[0])
	for i := range anchors {
		tick()
		var err error
		if anchors[i], err = boxAt(corners, 4*i); err != nil {
			return nil, fault.Wrap(err, "input 2: anchor %d", i)
		}
	}
	maps, offsets := extentOf(in[0].Dims, o.ChannelsLast), extentOf(in[1].Dims, o.ChannelsLast)
	type proposal struct {
		box   box
		score float32
		image int
	}
	var found []proposal
	delta := make([]float64, 4)
	for b := range maps.n {
		height, width := images[2*b], images[2*b+1]
		n := maps.cells * len(anchors)
		boxes, own := alloc[box](n), alloc[float32](n)
		for i := range boxes {
			tick()
			cell, a := i/len(anchors), i%len(anchors)
			row, column := cell/int(maps.spatial[1]), cell%int(maps.spatial[1])
			down, right := float32(row)*o.StrideHeight, float32(column)*o.StrideWidth
			moved := box{anchors[a].y1 + down, anchors[a].x1 + right, anchors[a].y2 + down, anchors[a].x2 + right}
			for k := range delta {
				delta[k] = deltas[offsets.index(b, 4*a+k, cell)]
			}
			boxes[i] = moved.transform(delta, height, width)
			own[i] = float32(scores[maps.index(b, a, cell)])
		}
		order := best(own, func(float32) bool { return true })
		if o.Before > 0 {
			order = order[:min(o.Before, int64(n))]
		}
		order = slices.DeleteFunc(order, func(i int) bool {
			r := boxes[i]
			w, h := r.x2-r.x1, r.y2-r.y1
			return !(w > o.MinSize && h > o.MinSize && float64(r.x1+w/2) < width && float64(r.y1+h/2) < height)
		})
		taken := 0
		for len(order) > 0 && (o.After <= 0 || int64(taken) < o.After) {
			tick()
			top := order[0]
			found = append(grow(found, 1), proposal{boxes[top], own[top], b})
			taken++
			order = slices.DeleteFunc(order[1:], func(i int) bool { return !(boxes[i].iou(boxes[top]) < o.IoU) })
		}
	}
	res := make([]tensor.Tensor, 3)
	k := int64(len(found))
	for i, dims := range [][]int64{{k}, {k, 4}, {k}} {
		var err error
		if res[i], err = sized(out[i], dims...); err != nil {
			return nil, err
		}
	}
	for i, p := range found {
		tick()
		putNumber(res[0], i, float64(p.score))
		p.box.put(func(i int, r float64) { putNumber(res[1], i, r) }, 4*i)
		storeInt(res[2], i, int64(p.image))
	}
	return res, nil
}
