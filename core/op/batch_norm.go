package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BatchNorm is y = (x - mean) / sqrt(variance + Epsilon) * scale + offset with one scale, offset, mean and variance per
// channel, the index on Axis. variance + Epsilon < 0 gives NaN, = 0 gives infinities or NaN, as IEEE arithmetic does.
//
// Inputs: x of rank >= 1, float or quantized; scale, offset, mean, variance [C], any float types. Output: y of x's
// type. Source: ONNX BatchNormalization-15 (inference), OH_NN_OPS_BATCH_NORM (Axis -1).
type BatchNorm struct {
	Epsilon float32
	Axis    int64
}

func init() { graph.Register[*BatchNorm]("batch_norm", graph.Traits{InPlace: []int{0}}) }

// Infer returns x's shape.
func (o *BatchNorm) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 5, 5, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantReals(in); err != nil {
		return nil, err
	}
	x, err := perChannel(in, o.Axis)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], x)}, nil
}
