package op

import (
	"cmp"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sign is y = -1, 0 or 1 for x negative, zero or positive; zero for -0, NaN for NaN.
//
// Input: x of a float, quantized or integer type. Output: y of x's type and shape. Source: ONNX Sign-13.
type Sign struct{}

func init() { graph.Register[*Sign]("sign", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape, with the values of small integers.
func (*Sign) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldUnary(in, out[0], func(a int64) int64 { return int64(cmp.Compare(a, 0)) })
	return out, nil
}
