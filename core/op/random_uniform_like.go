package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RandomUniformLike is RandomUniform in the shape of its input.
//
// Input: x of any type. Output: y of the float type To, or of x's. Source: ONNX RandomUniformLike-22.
type RandomUniformLike struct {
	Low, High float32
	To        tensor.DType
	Seed      int64
	Seeded    bool
}

func init() { graph.Register[*RandomUniformLike]("random_uniform_like", graph.Traits{Impure: true}) }

// Infer returns the shape of x.
func (o *RandomUniformLike) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return drawnLike(in, declared, o.To)
}
