package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Pow is y = x^e with NumPy broadcasting; 0^0 = 1.
//
// For a real x, an integral e of at most 64 in magnitude is done by repeated multiplication, a negative one by 1 /
// x^-e; otherwise IEEE pow decides (NaN for a negative x with fractional e). For an integer x and an integer e the
// product wraps around; a negative e gives the reciprocal truncated towards 0, which for x = 0 is an error of kind
// fault.Data. For an integer x and a real e the real power is truncated towards 0 and saturated.
//
// Inputs: x, e of float, quantized or integer types, which may differ. Output: y of x's type.
// Source: ONNX Pow-15, OH_NN_OPS_POW (with scale 1, shift 0), ANEURALNETWORKS_POW.
type Pow struct{}

func init() { graph.Register[*Pow]("pow", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the type of x and the broadcast shape.
func (*Pow) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	for i := range 2 {
		if err := wantTensor(in, i, numberWords, isNumber); err != nil {
			return nil, err
		}
	}
	s, err := broadcastInputs(in, 0, 1)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], s)}, nil
}
