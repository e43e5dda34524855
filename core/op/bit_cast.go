package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BitCast is y = the bits of each element of x, read as an element of type To, which has as many. A quantized tensor is
// taken as its plain integers. Of bool any bits but 0 are 1.
//
// Input: x of any type. Output: y of type To and x's shape. Source: ONNX BitCast-26.
type BitCast struct {
	To tensor.DType
}

func init() { graph.Register[*BitCast]("bit_cast", graph.Traits{Elementwise: true}) }

// Infer returns type To and the input's shape.
func (o *BitCast) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if !o.To.Valid() {
		return nil, fault.New(fault.Type, "cannot read bits as %v", o.To)
	}
	if d := in[0].DType; d.Valid() && d.Bits() != o.To.Bits() {
		return nil, fault.New(fault.Type, "input 0: %v has %d bits, %v has %d", d, d.Bits(), o.To, o.To.Bits())
	}
	return []tensor.Fact{{Type: tensor.Type{DType: o.To, Shape: in[0].Shape}}}, nil
}
