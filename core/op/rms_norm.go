package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RMSNorm is y = x / sqrt(mean(x*x) + Epsilon) * scale, the mean running over the dimensions from Axis on.
//
// Inputs: x, float or quantized; scale that broadcasts to x. Output: y of x's type. Source: ONNX RMSNormalization-23.
type RMSNorm struct {
	Axis    int64
	Epsilon float32
}

func init() { graph.Register[*RMSNorm]("rms_norm", graph.Traits{}) }

// Infer returns x's shape.
func (o *RMSNorm) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := normInputs(in, o.Axis, o.Epsilon); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}, nil
}
