package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RandomNormalLike is RandomNormal in the shape of its input.
//
// Input: x of any type. Output: y of the float type To, or of x's. Source: ONNX RandomNormalLike-22.
type RandomNormalLike struct {
	Mean, Scale float32
	To          tensor.DType
	Seed        int64
	Seeded      bool
}

func init() { graph.Register[*RandomNormalLike]("random_normal_like", graph.Traits{Impure: true}) }

// Infer returns the shape of x.
func (o *RandomNormalLike) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return drawnLike(in, declared, o.To)
}
