package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BitwiseOr is y = the bitwise or of a and b with NumPy broadcasting.
//
// Inputs: a, b of one integer type. Output: y of that type. Source: ONNX BitwiseOr-18.
type BitwiseOr struct{}

func init() {
	graph.Register[*BitwiseOr]("bitwise_or", graph.Traits{Elementwise: true, InPlace: []int{0, 1}})
}

// Infer returns the broadcast shape, with the values of small integers.
func (*BitwiseOr) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := binary(in, declared, plainIntWords, isPlainInt)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldInts(in, out[0], func(a, b int64) (int64, bool) { return a | b, true })
	return out, nil
}
