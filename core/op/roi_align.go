package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RoiMode is how samples of a bin become one value.
type RoiMode uint8

// The region modes.
const (
	RoiAverage RoiMode = iota // the mean of the samples
	RoiMax                    // the largest sample
	// the largest of the four weighted neighbours of all samples; those beyond the border count as 0 (ONNX)
	RoiMaxWeighted
)

// RoiAlign divides regions of interest into Height x Width bins and samples each bilinearly at a regular grid of
// points. A region is its corners times the scales, with HalfPixel minus 0.5, without it at least one cell large. A
// point further than one cell outside x counts as 0, others are moved to the border. Without samples a bin is 0.
//
// Inputs: x [N,C,H,W] or with ChannelsLast [N,H,W,C]; rois [R,4]: x1, y1, x2, y2; batch indices, integers [R]. Output:
// y [R,C,Height,Width] in x's layout. A batch index outside x, a corner that is not finite, and more than 2^20 samples
// in a bin or along a dimension are errors of kind fault.Data; with Inside so is a region that is not 0 <= x1 <= x2 <=
// W and 0 <= y1 <= y2 <= H in cells of x. Source: ONNX RoiAlign-22, ANEURALNETWORKS_ROI_ALIGN (with Inside).
type RoiAlign struct {
	Mode                        RoiMode
	Height, Width               int64
	SamplesHeight, SamplesWidth int64   // per bin; 0: ceil of the bin's size
	ScaleHeight, ScaleWidth     float32 // cells of x per unit of rois; 0: 1
	HalfPixel                   bool
	Inside                      bool
	ChannelsLast                bool
}

func init() { graph.Register[*RoiAlign]("roi_align", graph.Traits{}) }

// Infer returns [R,C,Height,Width].
func (o *RoiAlign) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Mode > RoiMaxWeighted || o.SamplesHeight < 0 || o.SamplesWidth < 0 {
		return nil, fault.New(fault.Argument, "mode %d, %d x %d samples", o.Mode, o.SamplesHeight, o.SamplesWidth)
	}
	if err := wantReals(in[:2]); err != nil {
		return nil, err
	}
	if err := wantIndex(in, 2); err != nil {
		return nil, err
	}
	s, err := roiShape(in, 4, o.Height, o.Width, o.ChannelsLast)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], s)}, nil
}
