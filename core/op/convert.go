package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Convert is y = the same real numbers as x in another representation: between float types, from float to quantized
// integers and back, between quantizations. The declared output type says which; nothing declared means that of x.
// Quantizing rounds half away from zero after the zero point is added and saturates; NaN becomes the zero point.
//
// Input: x of a float or quantized type. Output: y of a float or quantized type and x's shape.
// Source: OH_NN_OPS_QUANT_DTYPE_CAST, ANEURALNETWORKS_QUANTIZE, ANEURALNETWORKS_DEQUANTIZE.
type Convert struct{}

func init() { graph.Register[*Convert]("convert", graph.Traits{Elementwise: true}) }

// Infer returns the declared type and the input's shape.
func (*Convert) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, realWords, isReal)
	if err != nil {
		return nil, err
	}
	if d := declared[0]; d.DType != tensor.Invalid {
		if !isReal(d) {
			return nil, fault.New(fault.Type, "output: want %s, got %s", realWords, typeWord(d))
		}
		out[0].DType, out[0].Quant = d.DType, d.Quant
	}
	return out, nil
}
