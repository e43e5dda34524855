package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// InstanceNorm normalizes each channel of each image by itself: y = (x - mean) / sqrt(variance + Epsilon) * scale[c] +
// bias[c], where mean and variance (biased) run over all dimensions but 0 and Axis. Over no cells there is nothing to
// normalize and y is empty.
//
// Inputs: x of rank >= 2, float or quantized; scale, bias [C], any float types. Output: y of x's type. Source: ONNX
// InstanceNormalization-22 (Axis 1), OH_NN_OPS_INSTANCE_NORM, ANEURALNETWORKS_INSTANCE_NORMALIZATION.
type InstanceNorm struct {
	Epsilon float32
	Axis    int64 // channels; not the batch
}

func init() { graph.Register[*InstanceNorm]("instance_norm", graph.Traits{}) }

// Infer returns x's shape.
func (o *InstanceNorm) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantReals(in); err != nil {
		return nil, err
	}
	if err := wantEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	s, err := perChannel(in, o.Axis)
	if err != nil {
		return nil, err
	}
	if s.Ranked && (o.Axis == 0 || o.Axis == -int64(len(s.Dims))) {
		return nil, fault.New(fault.Argument, "axis %d: the channels cannot be the batch dimension of %v", o.Axis, s)
	}
	return []tensor.Fact{outType(declared[0], in[0], s)}, nil
}
