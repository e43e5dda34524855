package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// NMSKernel says which part of its score a box keeps that overlaps a better one.
type NMSKernel uint8

// The kernels, of the intersection over union v of the two boxes.
const (
	NMSHard     NMSKernel = iota // 1 if v < IoU, else 0
	NMSLinear                    // 1 if v < IoU, else 1 - v
	NMSGaussian                  // exp(-v*v / Sigma)
)

// BoxWithNMSLimit selects boxes per class by non-maximum suppression that lowers scores, and limits their number. Class
// 0 is the background and never selected. In each run of equal batch indices, for each other class, the boxes whose
// score is above Score are candidates; the best is selected (equal scores: the lower box), then the score of every
// other candidate is multiplied by Kernel of its overlap with the selected one, and candidates below Keep are dropped,
// until none is left or Max are selected. Of all classes the Max best remain (equal: the lower class). A negative Max
// is no limit. Boxes without area overlap nothing.
//
// Inputs: scores [N,C], float or quantized; boxes [N,4*C]: x1, y1, x2, y2 per class, float or quantized; batch indices,
// integers [N], those of one batch side by side. Outputs, ordered by batch, then class, then falling score: scores [K]
// as they are in the end; boxes [K,4]; classes, int32 [K]; batch indices, int32 [K]. A box with x1 > x2 or y1 > y2 is
// an error of kind fault.Data. Source: ANEURALNETWORKS_BOX_WITH_NMS_LIMIT.
type BoxWithNMSLimit struct {
	Kernel                  NMSKernel
	Score, IoU, Sigma, Keep float32
	Max                     int64
}

func init() {
	graph.Register[*BoxWithNMSLimit]("box_with_nms_limit", graph.Traits{DataDependent: true})
}

// Infer checks the shapes against each other.
func (o *BoxWithNMSLimit) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 4, 4); err != nil {
		return nil, err
	}
	if o.Kernel > NMSGaussian {
		return nil, fault.New(fault.Argument, "kernel: unknown value %d", o.Kernel)
	}
	if o.Kernel == NMSGaussian && !(o.Sigma > 0) {
		return nil, fault.New(fault.Argument, "sigma: want a number above 0, got %v", o.Sigma)
	}
	if err := wantRegionTypes(in, 2); err != nil {
		return nil, err
	}
	boxes, classes, columns := anySize(), anySize(), anySize()
	for i, want := range [][]*tensor.Dim{{boxes, classes}, {boxes, columns}, {boxes}} {
		if i == 1 && classes.Known() {
			all, err := timesDims(*classes, tensor.D(4))
			if err != nil {
				return nil, err
			}
			*columns = all
		}
		if err := fit(in, i, want...); err != nil {
			return nil, err
		}
	}
	if err := wantBoxes(1, *columns); err != nil {
		return nil, err
	}
	k := tensor.OfDims(tensor.AnyDim())
	list := tensor.Fact{Type: tensor.Type{DType: tensor.Int32, Shape: k}}
	return []tensor.Fact{outType(declared[0], in[0], k),
		outType(declared[1], in[1], tensor.OfDims(tensor.AnyDim(), tensor.D(4))), list, list}, nil
}
