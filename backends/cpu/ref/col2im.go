package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Col2Im, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		image, err := intsOf(in[1])
		if err != nil {
			return nil, fault.Wrap(err, "input 1")
		}
		block, err := intsOf(in[2])
		if err != nil {
			return nil, fault.Wrap(err, "input 2")
		}
		windows, err := o.Windows(image, block)
		if err != nil {
			return nil, err
		}
		x := reals(in[0])
		y, put := realStore(out[0])
		planes, kernel, columns, cells := int(y.Dims[0]*y.Dims[1]), cellCount(block), int(in[0].Dims[2]), cellCount(image)
		sums := alloc[float64](y.Count())
		newGrid(windows, sliding, slid).each(func(p int, taps []tap) {
			for plane := range planes {
				for _, t := range taps {
					tick()
					sums[plane*cells+t.in] += x[(plane*kernel+t.k)*columns+p]
				}
			}
		})
		for i, v := range sums {
			tick()
			put(i, v)
		}
		return []tensor.Tensor{y}, nil
	})
}
