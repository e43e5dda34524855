package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// DynamicQuantize quantizes a tensor to uint8 by its own range. With lo = min(0, smallest x) and hi = max(0, largest
// x): scale = (hi - lo) / 255 (1 when both are 0), zero = round(-lo / scale) and y = saturate(round(x / scale) + zero),
// all in float32, halves rounded to even. A NaN in x makes the scale NaN and everything else 0.
//
// Input: x float32. Outputs: y uint8 of x's shape; scale, a float32 scalar; zero, a uint8 scalar. Source: ONNX
// DynamicQuantizeLinear-11.
type DynamicQuantize struct{}

func init() { graph.Register[*DynamicQuantize]("dynamic_quantize", graph.Traits{}) }

// Infer returns x's shape and two scalars.
func (*DynamicQuantize) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 3); err != nil {
		return nil, err
	}
	if d := in[0].Type; d.DType != tensor.Invalid && (d.DType != tensor.Float32 || d.Quant != nil) {
		return nil, fault.New(fault.Type, "input 0: want float32, got %s", typeWord(d))
	}
	out := []tensor.Fact{
		{Type: tensor.Type{DType: tensor.Uint8, Shape: in[0].Shape}},
		{Type: tensor.T(tensor.Float32)},
		{Type: tensor.T(tensor.Uint8)},
	}
	return out[:len(declared)], nil
}
