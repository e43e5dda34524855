package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Dequantize is y = (x - zero) * scale for plain integers or float8, float6 or float4 numbers, with a scale that is
// known at the run only. The difference is exact, the product is rounded to float32 and then to the output's type.
// Scales belong to elements as in Quantize.
//
// Inputs: x of an integer type of at most 32 bits or a float type of at most 8; scale of a float type; zero? of x's
// type and scale's shape. Output: y of type To, else of scale's type. Source: ONNX DequantizeLinear-28.
type Dequantize struct {
	Axis  int64
	Block int64
	To    tensor.DType
}

func init() { graph.Register[*Dequantize]("dequantize", graph.Traits{}) }

// Infer returns x's shape.
func (o *Dequantize) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0,
		"integers of at most 32 bits or floats of at most 8 but float8e8m0, without quantization", func(t tensor.Type) bool {
			return t.Quant == nil && isCode(t.DType)
		}); err != nil {
		return nil, err
	}
	if err := checkScales(in, o.Axis, o.Block, in[0].DType); err != nil {
		return nil, err
	}
	to := o.To
	if to == tensor.Invalid {
		to = in[1].DType
	}
	if to != tensor.Invalid && (!to.IsFloat() || to == tensor.Float8E8M0) {
		return nil, fault.New(fault.Type, "cannot dequantize to %v", to)
	}
	return []tensor.Fact{{Type: tensor.Type{DType: to, Shape: in[0].Shape}}}, nil
}
