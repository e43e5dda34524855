package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.DepthToSpace, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, b := in[0], o.Block
		at := imageIndex(x.Dims, o.ChannelsLast)
		channels, _, _ := imageSizes(out[0], o.ChannelsLast)
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 {
			n, c, h, w := imagePlace(idx, o.ChannelsLast)
			k := (h%b*b+w%b)*channels + c
			if o.Mode == op.CRD {
				k = c*b*b + h%b*b + w%b
			}
			return at(n, k, h/b, w/b)
		})}, nil
	})
	register(Bits, func(o *op.SpaceToDepth, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, b := in[0], o.Block
		at := imageIndex(x.Dims, o.ChannelsLast)
		channels, _, _ := imageSizes(x.Type(), o.ChannelsLast)
		return []tensor.Tensor{remap(x, out[0], func(idx []int64) int64 {
			n, k, h, w := imagePlace(idx, o.ChannelsLast)
			block, c := k/channels, k%channels
			if o.Mode == op.CRD {
				block, c = k%(b*b), k/(b*b)
			}
			return at(n, c, h*b+block/b, w*b+block%b)
		})}, nil
	})
}

// imagePlace splits an index of a rank 4 tensor.
func imagePlace(idx []int64, channelsLast bool) (n, c, h, w int64) {
	if channelsLast {
		return idx[0], idx[3], idx[1], idx[2]
	}
	return idx[0], idx[1], idx[2], idx[3]
}

// imageSizes returns channels, height and width of a rank 4 tensor.
func imageSizes(t tensor.Type, channelsLast bool) (c, h, w int64) {
	dims, _ := t.Shape.Ints()
	_, c, h, w = imagePlace(dims, channelsLast)
	return c, h, w
}

// imageIndex returns the function from batch, channel, row and column to the element of a rank 4 tensor.
func imageIndex(dims []int64, channelsLast bool) func(n, c, h, w int64) int64 {
	s := tensor.RowMajor(dims)
	sn, sc, sh, sw := imagePlace(s, channelsLast)
	return func(n, c, h, w int64) int64 { return n*sn + c*sc + h*sh + w*sw }
}
