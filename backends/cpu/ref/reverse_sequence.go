package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits|Judging, func(o *op.ReverseSequence, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		lens, err := intsOf(in[1])
		if err != nil {
			return nil, err
		}
		batch, err := op.Axis(o.BatchAxis, len(x.Dims))
		if err != nil {
			return nil, err
		}
		time, err := op.Axis(o.TimeAxis, len(x.Dims))
		if err != nil {
			return nil, err
		}
		for b, n := range lens {
			tick()
			if n < 0 || n > x.Dims[time] {
				return nil, fault.New(fault.Data, "input 1: length %d of sequence %d with %d steps", n, b, x.Dims[time])
			}
		}
		stride := tensor.RowMajor(x.Dims)
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 {
			at, t := dot(idx, stride), idx[time]
			if n := lens[idx[batch]]; t < n {
				at += (n - 1 - 2*t) * stride[time]
			}
			return at
		})}, nil
	})
}
