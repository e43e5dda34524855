package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// DepthMode is the order of the channels that DepthToSpace reads and SpaceToDepth makes.
type DepthMode uint8

// The orders. by and bx are the place in a block, c the channel of the image with the larger sides, C' of them.
const (
	DCR DepthMode = iota // channel (by·Block + bx)·C' + c
	CRD                  // channel c·Block² + by·Block + bx
)

// DepthToSpace spreads channels over blocks of Block x Block cells: y[n, h·Block+by, w·Block+bx, c] = x[n, h, w,
// channel by Mode].
//
// Input: x of any type, rank 4, [N, H, W, C] with ChannelsLast, otherwise [N, C, H, W]; C divisible by Block². Output:
// y of x's type, with C' = C/Block². Source: ONNX DepthToSpace-13, OH_NN_OPS_DEPTH_TO_SPACE,
// ANEURALNETWORKS_DEPTH_TO_SPACE (DCR).
type DepthToSpace struct {
	Block        int64
	Mode         DepthMode
	ChannelsLast bool
}

func init() { graph.Register[*DepthToSpace]("depth_to_space", graph.Traits{Moves: true}) }

// Infer divides the channels and multiplies height and width.
func (o *DepthToSpace) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := blockOne(in, declared, o.Block); err != nil {
		return nil, err
	}
	if o.Mode > CRD {
		return nil, fault.New(fault.Argument, "mode: %d is no order", o.Mode)
	}
	if !in[0].Shape.Ranked {
		return movedOne(declared, in[0], tensor.AnyOfRank(4), nil)
	}
	s := in[0].Shape.Clone()
	c, h, w := imageAxes(o.ChannelsLast)
	var err error
	if s.Dims[c], err = overDim(s.Dims[c], o.Block*o.Block); err != nil {
		return nil, fault.Wrap(err, "input 0: channels of %v", in[0].Shape)
	}
	for _, a := range []int{h, w} {
		if s.Dims[a], err = timesDims(s.Dims[a], tensor.D(o.Block)); err != nil {
			return nil, err
		}
	}
	return movedOne(declared, in[0], s, sameAxis(c, h, w))
}

// blockOne checks an operator on one image tensor and a block size.
func blockOne(in []tensor.Fact, declared []tensor.Type, block int64) error {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return err
	}
	if block < 1 || block > math.MaxInt32 {
		return fault.New(fault.Argument, "block size %d: want 1 to %d", block, math.MaxInt32)
	}
	return wantRank(in, 0, 4)
}

// imageAxes returns the dimensions of channel, height and width of a tensor of rank 4.
func imageAxes(channelsLast bool) (c, h, w int) {
	if channelsLast {
		return 3, 1, 2
	}
	return 1, 2, 3
}

// overDim divides a size, which must be divisible.
func overDim(d tensor.Dim, by int64) (tensor.Dim, error) {
	switch {
	case by == 1:
		return d, nil
	case !d.Known():
		return tensor.AnyDim(), nil
	case d.N%by != 0:
		return d, fault.New(fault.Shape, "%d is not divisible by %d", d.N, by)
	}
	return tensor.D(d.N / by), nil
}
