package nnapi

import (
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"depth_to_space": lowerDepthToSpace,
		"space_to_depth": lowerSpaceToDepth,
		"batch_to_space": lowerBatchToSpace,
		"space_to_batch": lowerSpaceToBatch,
		"lp_pool":        lowerLpPool,
		"conv_transpose": lowerConvTranspose,
	})
}

// image adds an operation of an image, the first of its arguments.
func (t *translation) image(code spec.OperationCode, last bool, params ...*operand) error {
	if len(t.In(0).Dims()) != 4 {
		return refuse("%v is of images, not of %d dimensions", code, len(t.In(0).Dims())-2)
	}
	x := t.Image(t.In(0), last)
	y, done := t.Result(t.Out(0), last)
	t.add(code, y, append([]*operand{x}, params...)...)
	done()
	return nil
}

func lowerSpaceToDepth(t *translation) error {
	o := t.N.Op.(*op.SpaceToDepth)
	if o.Mode != op.DCR && o.Block > 1 {
		return refuse("SPACE_TO_DEPTH has the places of a block before the channels")
	}
	return t.image(spec.SpaceToDepth, o.ChannelsLast, int32Scalar(o.Block))
}

// lowerDepthToSpace has the places of a block before the channels; where they are behind them, the channels are put in
// that order before.
func lowerDepthToSpace(t *translation) error {
	o := t.N.Op.(*op.DepthToSpace)
	if o.Mode == op.DCR || o.Block == 1 {
		return t.image(spec.DepthToSpace, o.ChannelsLast, int32Scalar(o.Block))
	}
	x := t.Image(t.In(0), o.ChannelsLast)
	channels, cells := x.Dims()[3], o.Block*o.Block
	order := make([]int64, channels)
	for i := range order {
		c, place := int64(i)%(channels/cells), int64(i)/(channels/cells)
		order[i] = c*cells + place
	}
	ordered := x.Between(x.Dims()...)
	t.add(spec.Gather, ordered, x, int32Scalar(3), list(order...))
	y, done := t.Result(t.Out(0), o.ChannelsLast)
	t.add(spec.DepthToSpace, y, ordered, int32Scalar(o.Block))
	done()
	return nil
}

// blocks are the two sizes of a block, and pairs for the cells before and behind height and width.
func (t *translation) blocks() (block, pairs []int64, err error) {
	block, ok := t.Ints(1, nil)
	pairs, ok2 := t.Ints(2, []int64{0, 0, 0, 0})
	switch {
	case !ok || !ok2:
		return nil, nil, refuse("the blocks are not known before the run")
	case len(block) != 2 || len(pairs) != 4:
		return nil, nil, refuse("NNAPI has blocks of height and width, not of %d sizes", len(block))
	}
	return block, pairs, nil
}

func lowerBatchToSpace(t *translation) error {
	block, crops, err := t.blocks()
	switch {
	case err != nil:
		return err
	case slices.Max(crops) > 0:
		return refuse("BATCH_TO_SPACE_ND crops nothing")
	}
	return t.image(spec.BatchToSpaceND, t.N.Op.(*op.BatchToSpace).ChannelsLast, list(block...))
}

func lowerSpaceToBatch(t *translation) error {
	o := t.N.Op.(*op.SpaceToBatch)
	block, pads, err := t.blocks()
	if err != nil {
		return err
	}
	if t.In(0).typ.Quant != nil && t.level < spec.Level3 && slices.Max(pads) > 0 {
		return refuse("before feature level 3 SPACE_TO_BATCH_ND does not say what it pads codes with")
	}
	if len(t.In(0).Dims()) == 4 {
		for i, n := range driver.Spatial(t.In(0).Dims(), o.ChannelsLast) {
			if (n+pads[2*i]+pads[2*i+1])%block[i] != 0 {
				return refuse("SPACE_TO_BATCH_ND cuts no cells off")
			}
		}
	}
	paddings := list(pads...)
	paddings.typ.Shape = tensor.Of(2, 2)
	return t.image(spec.SpaceToBatchND, o.ChannelsLast, list(block...), paddings)
}

func lowerLpPool(t *translation) error {
	o := t.N.Op.(*op.LpPool)
	if o.P != 0 && o.P != 2 || !o.Mean {
		return refuse("L2_POOL_2D is the root of the mean of squares")
	}
	return t.pool(spec.L2Pool2D, o.Windows, o.ChannelsLast)
}

// lowerConvTranspose has explicit paddings where the API has such, and else sizes with padding SAME, which has the
// smaller half of it before.
func lowerConvTranspose(t *translation) error {
	o, x, w := t.N.Op.(*op.ConvTranspose), t.In(0), t.In(1)
	if len(x.Dims()) != 4 {
		return refuse("TRANSPOSE_CONV_2D is of images, not of %d dimensions", len(x.Dims())-2)
	}
	in, out := driver.Spatial(x.Dims(), o.ChannelsLast), driver.Spatial(t.Out(0).Dims(), o.ChannelsLast)
	var given []int64
	if t.In(3) != nil {
		given = out
	}
	windows, err := o.Windows(in, w.Dims()[1:3], given)
	if err != nil {
		return refuse("%v", err)
	}
	explicit, implicit := true, true
	for _, w := range windows {
		after := (w.In-1)*w.Stride + w.Kernel - w.Before - w.Out
		explicit = explicit && w.Before >= 0 && after >= 0
		total := max(0, (w.In-1)*w.Stride+w.Kernel-w.Out)
		implicit = implicit && w.Before == total/2 && (w.Out+w.Stride-1)/w.Stride == w.In
		if w.Dilation != 1 {
			return refuse("TRANSPOSE_CONV_2D has no dilations")
		}
	}
	switch {
	case o.Groups > 1:
		return refuse("TRANSPOSE_CONV_2D has no groups")
	case !explicit && !implicit:
		return refuse("TRANSPOSE_CONV_2D has no such padding")
	}
	bias, err := t.bias(x, w, t.In(2))
	if err != nil {
		return err
	}
	image := t.Image(x, o.ChannelsLast)
	y, done := t.Result(t.Out(0), o.ChannelsLast)
	height, width := windows[0], windows[1]
	params := []*operand{image, w, bias}
	if explicit {
		for _, w := range []op.Window{width, height} {
			params = append(params, int32Scalar(w.Before), int32Scalar((w.In-1)*w.Stride+w.Kernel-w.Before-w.Out))
		}
	} else {
		params = append(params, list(y.Dims()...), int32Scalar(spec.PaddingSame))
	}
	t.add(spec.TransposeConv2D, y, append(params, int32Scalar(width.Stride), int32Scalar(height.Stride), unfused(),
		boolScalar(false))...)
	done()
	return nil
}
