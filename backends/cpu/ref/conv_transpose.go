package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.ConvTranspose, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		x, w := in[0], in[1]
		c := newConvolution(x, w, out[0], o.ChannelsLast, o.Groups)
		var given []int64
		if len(in) > 3 && !in[3].Absent() {
			v, err := readInts(in[3].DType, in[3].Data, in[3].Count())
			if err != nil {
				return nil, fault.As(fault.Type, err, "input 3")
			}
			given = v
		}
		windows, err := o.Windows(c.x.spatial, w.Dims[1:len(w.Dims)-1], given)
		if err != nil {
			return nil, err
		}
		c.cover(windows, scattering, scattered)
		return linear(o, in[:min(len(in), 3)], out[0], 0, c)
	})
}
