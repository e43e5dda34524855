package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real|Judging, func(_ *op.AxisAlignedBoxTransform, in []tensor.Tensor,
		out []tensor.Type) ([]tensor.Tensor, error) {
		boxes, deltas, images := reals(in[0]), reals(in[1]), reals(in[3])
		batches, err := intsOf(in[2])
		if err != nil {
			return nil, err
		}
		y, put := realStore(out[0])
		columns, count := int(in[1].Dims[1]), in[3].Dims[0]
		for n, batch := range batches {
			if batch < 0 || batch >= count {
				return nil, fault.New(fault.Data, "input 2: box %d: batch index %d is outside %d images", n, batch, count)
			}
			roi, err := boxAt(boxes, 4*n)
			if err != nil {
				return nil, fault.Wrap(err, "input 0: box %d", n)
			}
			for at := n * columns; at < (n+1)*columns; at += 4 {
				tick()
				roi.transform(deltas[at:], images[2*batch], images[2*batch+1]).put(put, at)
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
