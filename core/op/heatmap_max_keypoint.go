package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// HeatmapMaxKeypoint finds the peak of every heatmap between its cells. Around the largest element, of equal ones the
// first, a Taylor series of second order is fitted to 3 x 3 cells, those beyond the border mirrored at it. With g the
// gradient, A the matrix of second derivatives and m the element the peak lies at d = -inverse(A) g cells from it, cut
// such that neither part is above 1.5, and is m + g d + d A d / 2 high; with |det A| < Epsilon*(1 + A[0][0]*A[1][1]) it
// is the element itself. A cell at column j of W stands for x1 + (j + 0.5)/W * (x2 - x1) of the box, rows likewise.
//
// Inputs, float or quantized: heatmaps [N,K,H,W], with ChannelsLast [N,H,W,K], H and W 2 or more; boxes [N,4]: x1, y1,
// x2, y2. Outputs: scores [N,K]; points [N,K,2]: x, y of the boxes' type. A box with x1 > x2 or y1 > y2 is an error of
// kind fault.Data. Source: ANEURALNETWORKS_HEATMAP_MAX_KEYPOINT.
type HeatmapMaxKeypoint struct {
	Epsilon      float32 // 0: 1e-5
	ChannelsLast bool
	Square       bool // H and W are equal
}

func init() { graph.Register[*HeatmapMaxKeypoint]("heatmap_max_keypoint", graph.Traits{}) }

// Infer returns the shapes of scores and points.
func (o *HeatmapMaxKeypoint) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 2, 2); err != nil {
		return nil, err
	}
	if !(o.Epsilon >= 0) {
		return nil, fault.New(fault.Argument, "epsilon: want 0 or more, got %v", o.Epsilon)
	}
	if err := wantRegionTypes(in, -1); err != nil {
		return nil, err
	}
	maps, points, height, width := anySize(), anySize(), anySize(), anySize()
	if o.Square {
		width = height
	}
	want := []*tensor.Dim{maps, points, height, width}
	if o.ChannelsLast {
		want = []*tensor.Dim{maps, height, width, points}
	}
	if err := fit(in, 0, want...); err != nil {
		return nil, err
	}
	for _, d := range []*tensor.Dim{height, width} {
		if d.Known() && d.N < 2 {
			return nil, fault.New(fault.Shape, "input 0: want heatmaps of 2 x 2 cells or more, got %v", in[0].Shape)
		}
	}
	if err := fit(in, 1, maps, sizeIs(4)); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], tensor.OfDims(*maps, *points)),
		outType(declared[1], in[1], tensor.OfDims(*maps, *points, tensor.D(2)))}, nil
}
