package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LpNorm divides by the norm along Axis: y = x / sum |x| for P 1, y = x / sqrt(sum x*x) for P 2 (0 means 2). A line
// whose norm is 0 gives 0.
//
// Input: x of rank >= 1, float or quantized. Output: y of x's type. Source: ONNX LpNormalization-22.
type LpNorm struct {
	Axis, P int64
}

func init() { graph.Register[*LpNorm]("lp_norm", graph.Traits{}) }

// Infer returns x's shape.
func (o *LpNorm) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.P < 0 || o.P > 2 {
		return nil, fault.New(fault.Argument, "p %d: want 1 or 2", o.P)
	}
	if err := normInputs(in, o.Axis, 0); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}, nil
}
