package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RandomUniform draws independent numbers evenly from [Low, High).
//
// Input: shape, integers. Output: y of the float type To (0: float32). With Seeded every run gives the numbers that
// Seed decides, otherwise every run gives others. Source: ONNX RandomUniform-22.
type RandomUniform struct {
	Low, High float32
	To        tensor.DType
	Seed      int64
	Seeded    bool
}

func init() {
	graph.Register[*RandomUniform]("random_uniform", graph.Traits{Impure: true, ShapeInputs: []int{0}})
}

// Infer returns the shape as far as its values are known.
func (o *RandomUniform) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return drawnShape(in, declared, o.To)
}
