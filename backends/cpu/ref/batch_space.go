package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.SpaceToBatch, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		block, pads, first, err := blocksOf(in, o.ChannelsLast)
		if err != nil {
			return nil, err
		}
		zero, err := padValue(x, tensor.Tensor{})
		if err != nil {
			return nil, err
		}
		stride := tensor.RowMajor(x.Dims)
		y := like(out[0])
		eachIndex(y.Dims, func(idx []int64, i int) {
			part := idx[0] / x.Dims[0]
			at := idx[0] % x.Dims[0] * stride[0]
			for d := len(idx) - 1; d > 0; d-- {
				k := d - first
				if k < 0 || k >= len(block) {
					at += idx[d] * stride[d]
					continue
				}
				cell := idx[d]*block[k] + part%block[k] - pads[2*k]
				part /= block[k]
				if cell < 0 || cell >= x.Dims[d] {
					move(y, i, zero, 0, 1)
					return
				}
				at += cell * stride[d]
			}
			move(y, i, x, int(at), 1)
		})
		return []tensor.Tensor{y}, nil
	})
	register(Bits, func(o *op.BatchToSpace, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		block, crops, first, err := blocksOf(in, o.ChannelsLast)
		if err != nil {
			return nil, err
		}
		stride := tensor.RowMajor(x.Dims)
		batch := out[0].Shape.Dims[0].N
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 {
			part, at := int64(0), int64(0)
			for d := 1; d < len(idx); d++ {
				k := d - first
				if k < 0 || k >= len(block) {
					at += idx[d] * stride[d]
					continue
				}
				cell := idx[d] + crops[2*k]
				part = part*block[k] + cell%block[k]
				at += cell / block[k] * stride[d]
			}
			return at + (part*batch+idx[0])*stride[0]
		})}, nil
	})
}

// blocksOf reads the block sizes and pads or crops, and which dimension is the first spatial one.
func blocksOf(in []tensor.Tensor, channelsLast bool) (block, edges []int64, first int, err error) {
	if block, err = intsOf(in[1]); err != nil {
		return nil, nil, 0, err
	}
	edges = make([]int64, 2*len(block))
	if len(in) > 2 && !in[2].Absent() {
		if edges, err = intsOf(in[2]); err != nil {
			return nil, nil, 0, err
		}
	}
	if channelsLast {
		return block, edges, 1, nil
	}
	return block, edges, 2, nil
}
