package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// MaxRoiPool divides regions of interest into Height x Width bins and takes the maximum of each. A region's corners are
// multiplied by the scales and rounded half away from zero; it is end-start+1 cells large, at least 1; a bin runs from
// floor to ceil of its bounds and is cut to the image. An empty bin gives 0.
//
// Inputs: x [N,C,H,W] or with ChannelsLast [N,H,W,C]; rois [R,5]: batch index, x1, y1, x2, y2; or rois [R,4] without
// the index and batch indices, integers [R]. Output: y [R,C,Height,Width] in x's layout. A batch index outside x and a
// corner that is not finite are errors of kind fault.Data; with Inside so is a region that is not 0 <= x1 <= x2 <= W
// and 0 <= y1 <= y2 <= H in cells of x. Source: ONNX MaxRoiPool-22, ANEURALNETWORKS_ROI_POOLING (with Inside).
type MaxRoiPool struct {
	Height, Width           int64
	ScaleHeight, ScaleWidth float32 // cells of x per unit of rois; 0: 1
	Inside                  bool
	ChannelsLast            bool
}

func init() { graph.Register[*MaxRoiPool]("max_roi_pool", graph.Traits{}) }

// Infer returns [R,C,Height,Width].
func (o *MaxRoiPool) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	columns := int64(5)
	if !present(in, 2) {
		in = in[:2]
	} else {
		columns = 4
		if err := wantIndex(in, 2); err != nil {
			return nil, err
		}
	}
	if err := wantReals(in[:2]); err != nil {
		return nil, err
	}
	s, err := roiShape(in, columns, o.Height, o.Width, o.ChannelsLast)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], s)}, nil
}
