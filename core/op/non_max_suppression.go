package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// NonMaxSuppression selects boxes, per batch and class, in the order of falling scores (equal scores: lower index
// first): a box is taken unless it overlaps one already taken by more than the limit.
//
// Inputs: boxes, float [B, N, 4]: two opposite corners y1, x1, y2, x2 in any order, or with CenterBox x centre, y
// centre, width, height; scores, float [B, C, N]; max?, one integer: boxes taken per class (absent or not positive:
// none); iou?, one float in [0, 1]: the limit of intersection over union, above which a box is suppressed (absent: 0);
// score?, one float: only larger scores count (absent: all). Output: indices [n, 3] of type To (int64 unless it says
// int32): batch, class, box, ordered by batch, then class, then score. A box without area overlaps nothing. A limit
// outside [0, 1] fails the run with fault.Data. Source: ONNX NonMaxSuppression-11.
type NonMaxSuppression struct {
	CenterBox bool
	To        tensor.DType
}

func init() {
	graph.Register[*NonMaxSuppression]("non_max_suppression", graph.Traits{DataDependent: true})
}

// Infer checks the shapes against each other.
func (o *NonMaxSuppression) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 5, declared, 1, 1); err != nil {
		return nil, err
	}
	to, err := indexType(o.To)
	if err != nil {
		return nil, err
	}
	for i := range 2 {
		if err := wantTensor(in, i, realWords, isReal); err != nil {
			return nil, err
		}
		if err := wantRank(in, i, 3); err != nil {
			return nil, err
		}
	}
	if present(in, 2) {
		if _, err := single(in, 2); err != nil {
			return nil, err
		}
	}
	for i := 3; i < 5; i++ {
		if !present(in, i) {
			continue
		}
		if err := wantTensor(in, i, realWords, isReal); err != nil {
			return nil, err
		}
		if err := wantScalar(in, i); err != nil {
			return nil, err
		}
	}
	if b, s := in[0].Shape, in[1].Shape; b.Ranked {
		_, four := meet(b.Dims[2], tensor.D(4))
		batch, count := true, true
		if s.Ranked {
			_, batch = meet(b.Dims[0], s.Dims[0])
			_, count = meet(b.Dims[1], s.Dims[2])
		}
		if !four || !batch || !count {
			return nil, fault.New(fault.Shape, "want boxes [B,N,4] and scores [B,C,N], got %v and %v", b, s)
		}
	}
	return []tensor.Fact{{Type: tensor.Type{DType: to, Shape: tensor.OfDims(tensor.AnyDim(), tensor.D(3))}}}, nil
}
