package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// SpaceToDepth gathers blocks of Block x Block cells into channels: y[n, h, w, channel by Mode] = x[n, h·Block+by,
// w·Block+bx, c], with the channels in the order from which DepthToSpace of the same Mode spreads them.
//
// Input: x of any type, rank 4, [N, H, W, C] with ChannelsLast, otherwise [N, C, H, W]; H and W divisible by Block.
// Output: y of x's type. Source: ONNX SpaceToDepth-28, OH_NN_OPS_SPACE_TO_DEPTH, ANEURALNETWORKS_SPACE_TO_DEPTH
// (DCR).
type SpaceToDepth struct {
	Block        int64
	Mode         DepthMode
	ChannelsLast bool
}

func init() { graph.Register[*SpaceToDepth]("space_to_depth", graph.Traits{Moves: true}) }

// Infer multiplies the channels and divides height and width.
func (o *SpaceToDepth) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
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
	if s.Dims[c], err = timesDims(s.Dims[c], tensor.D(o.Block*o.Block)); err != nil {
		return nil, err
	}
	for _, a := range []int{h, w} {
		if s.Dims[a], err = overDim(s.Dims[a], o.Block); err != nil {
			return nil, fault.Wrap(err, "input 0: dimension %d of %v", a, in[0].Shape)
		}
	}
	return movedOne(declared, in[0], s, sameAxis(c, h, w))
}
