package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GenerateProposals turns the scores and deltas of anchors at every cell of a feature map into boxes. For each image
// the anchors, moved by the cell's column times StrideWidth and its row times StrideHeight, are transformed by the
// deltas as AxisAlignedBoxTransform does. Of these the Before best remain (not positive: all), of which those whose
// width or height is MinSize or less, or whose centre is not left of and above the image's end, are dropped. Then the
// best is selected and the others whose intersection over union with it is IoU or more are dropped, until none is left
// or After are selected (not positive: no limit). Of equal scores the lower row, then column, then anchor ranks first.
//
// Inputs, float or quantized: scores [B,A,H,W]; deltas [B,4*A,H,W]: dx, dy, dw, dh per anchor; with ChannelsLast scores
// [B,H,W,A], deltas [B,H,W,4*A]; anchors [A,4]: x1, y1, x2, y2; image sizes [B,2]: height, width. Outputs, by image,
// then falling score: scores [K]; boxes [K,4] of the type of the image sizes; batch indices, int32 [K]. An anchor with
// x1 > x2 or y1 > y2 is an error of kind fault.Data. Source: ANEURALNETWORKS_GENERATE_PROPOSALS.
type GenerateProposals struct {
	StrideHeight, StrideWidth float32
	Before, After             int64
	IoU, MinSize              float32
	ChannelsLast              bool
}

func init() {
	graph.Register[*GenerateProposals]("generate_proposals", graph.Traits{DataDependent: true})
}

// Infer checks the shapes against each other.
func (o *GenerateProposals) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 4, 4, declared, 3, 3); err != nil {
		return nil, err
	}
	for _, v := range []float32{o.StrideHeight, o.StrideWidth, o.MinSize} {
		if err := wantFinite("stride and minimum size", v); err != nil {
			return nil, err
		}
	}
	if err := wantRegionTypes(in, -1); err != nil {
		return nil, err
	}
	batch, height, width, anchors, columns := anySize(), anySize(), anySize(), anySize(), anySize()
	sizes := func(channels *tensor.Dim) []*tensor.Dim {
		if o.ChannelsLast {
			return []*tensor.Dim{batch, height, width, channels}
		}
		return []*tensor.Dim{batch, channels, height, width}
	}
	if err := fit(in, 2, anchors, sizeIs(4)); err != nil {
		return nil, err
	}
	if err := fit(in, 0, sizes(anchors)...); err != nil {
		return nil, err
	}
	if anchors.Known() {
		all, err := timesDims(*anchors, tensor.D(4))
		if err != nil {
			return nil, err
		}
		*columns = all
	}
	if err := fit(in, 1, sizes(columns)...); err != nil {
		return nil, err
	}
	if err := wantBoxes(1, *columns); err != nil {
		return nil, err
	}
	if err := fit(in, 3, batch, sizeIs(2)); err != nil {
		return nil, err
	}
	k := tensor.OfDims(tensor.AnyDim())
	return []tensor.Fact{outType(declared[0], in[0], k),
		outType(declared[1], in[3], tensor.OfDims(tensor.AnyDim(), tensor.D(4))),
		{Type: tensor.Type{DType: tensor.Int32, Shape: k}}}, nil
}

// wantFinite checks an attribute.
func wantFinite(name string, v float32) error {
	if v-v != 0 {
		return fault.New(fault.Argument, "%s: %v is not finite", name, v)
	}
	return nil
}
