package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BitwiseXor is y = the bitwise exclusive or of a and b with NumPy broadcasting.
//
// Inputs: a, b of one integer type. Output: y of that type. Source: ONNX BitwiseXor-18.
type BitwiseXor struct{}

func init() {
	graph.Register[*BitwiseXor]("bitwise_xor", graph.Traits{Elementwise: true, InPlace: []int{0, 1}})
}

// Infer returns the broadcast shape, with the values of small integers.
func (*BitwiseXor) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := binary(in, declared, plainIntWords, isPlainInt)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldInts(in, out[0], func(a, b int64) (int64, bool) { return a ^ b, true })
	return out, nil
}
