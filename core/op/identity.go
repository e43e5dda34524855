package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Identity is y = x.
//
// Input: x of any type. Output: y of x's type and shape; quantized otherwise than x when the model declares that.
// Source: ONNX Identity-1.
type Identity struct{}

func init() {
	graph.Register[*Identity]("identity",
		graph.Traits{Elementwise: true, InPlace: []int{0}, Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer returns the input's type and shape, with the values of small integers.
func (*Identity) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, "a known type", func(t tensor.Type) bool { return t.DType.Valid() })
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldSame(in[0], out[0])
	return out, nil
}
