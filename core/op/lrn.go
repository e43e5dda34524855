package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LRN is local response normalization across channels: y = x / (Bias + alpha * sum x*x)^Beta, the sum running over the
// channels c-Before..c+After cut at the borders. alpha is Alpha, or with DivideAlpha Alpha / (Before + After + 1).
//
// Input: x of rank >= 1, float or quantized; Axis counts channels. Output: y of x's type. Source: ONNX LRN-13
// (DivideAlpha, Before = (size-1)/2, After = size/2), OH_NN_OPS_LRN, ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION
// (Before = After = radius).
type LRN struct {
	Before, After     int64
	Alpha, Beta, Bias float32
	Axis              int64
	DivideAlpha       bool
}

func init() { graph.Register[*LRN]("lrn", graph.Traits{}) }

// Infer returns x's shape.
func (o *LRN) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Before < 0 || o.After < 0 || o.Before > maxWindow || o.After > maxWindow {
		return nil, fault.New(fault.Argument, "window of %d channels before and %d after: want 0 to %d", o.Before, o.After,
			maxWindow)
	}
	if err := normInputs(in, o.Axis, 0); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}, nil
}
