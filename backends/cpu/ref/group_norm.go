package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.GroupNorm, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		dims := in[0].Dims
		axis, err := op.Axis(o.ChannelAxis(), len(dims))
		if err != nil {
			return nil, err
		}
		channels, inner, image := int(dims[axis]), cellCount(dims[axis+1:]), cellCount(dims[1:])
		groups := int(o.Groups)
		perGroup := max(channels/groups, 1)
		channel := func(i int) int { return i / inner % channels }
		set := func(i int) int { return i/image*groups + channel(i)/perGroup }
		return standardize(in, out[0], o.Epsilon, int(dims[0])*groups, set, channel), nil
	})
}
