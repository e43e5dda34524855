package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// AxisAlignedBoxTransform moves and scales boxes by deltas, one box per class, and cuts the results to the image. With
// w, h and (cx, cy) the size and the centre of a box and (dx, dy, dw, dh) a class's deltas the new centre is (cx +
// dx*w, cy + dy*h), the new size exp(dw)*w, exp(dh)*h.
//
// Inputs, floats or quantized where not said otherwise: boxes [N,4]: x1, y1, x2, y2; deltas [N,4*C]; batch indices,
// integers [N]; image sizes [B,2]: height, width. Output: boxes [N,4*C] of the boxes' type. A batch index outside
// 0..B-1 and a box with x1 > x2 or y1 > y2 are errors of kind fault.Data. Source:
// ANEURALNETWORKS_AXIS_ALIGNED_BBOX_TRANSFORM.
type AxisAlignedBoxTransform struct{}

func init() { graph.Register[*AxisAlignedBoxTransform]("axis_aligned_box_transform", graph.Traits{}) }

// Infer returns the shape of the deltas.
func (o *AxisAlignedBoxTransform) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 4, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantRegionTypes(in, 2); err != nil {
		return nil, err
	}
	boxes, columns := anySize(), anySize()
	for i, want := range [][]*tensor.Dim{{boxes, sizeIs(4)}, {boxes, columns}, {boxes}, {anySize(), sizeIs(2)}} {
		if err := fit(in, i, want...); err != nil {
			return nil, err
		}
	}
	if err := wantBoxes(1, *columns); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], tensor.OfDims(*boxes, *columns))}, nil
}

// wantRegionTypes checks that all inputs are real but the one that holds batch indices; none: -1.
func wantRegionTypes(in []tensor.Fact, indices int) error {
	for i := range in {
		check := func() error { return wantTensor(in, i, realWords, isReal) }
		if i == indices {
			check = func() error { return wantTensor(in, i, plainIntWords, isPlainInt) }
		}
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// wantBoxes checks that input i can have this many columns, four for each box.
func wantBoxes(i int, columns tensor.Dim) error {
	if columns.Known() && columns.N%4 != 0 {
		return fault.New(fault.Shape, "input %d: want four columns per box, got %d", i, columns.N)
	}
	return nil
}
