package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// PRelu is y = x for x >= 0, slope * x otherwise; slope is broadcast to the shape of x. NaN stays NaN.
//
// Inputs: x, slope of one float, quantized or integer type. Output: y of x's type and shape.
// Source: ONNX PRelu-16, OH_NN_OPS_PRELU, ANEURALNETWORKS_PRELU.
type PRelu struct{}

func init() { graph.Register[*PRelu]("prelu", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the type and shape of x; slope must broadcast to it.
func (*PRelu) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := binary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	x := in[0].Shape
	if s, ok := x.Merge(out[0].Shape); x.Ranked && out[0].Shape.Ranked && ok {
		x = s
	} else if x.Ranked && out[0].Shape.Ranked {
		return nil, fault.New(fault.Shape, "input 1: %v does not broadcast to %v", in[1].Shape, x)
	}
	return []tensor.Fact{outType(declared[0], in[0], x)}, nil
}
