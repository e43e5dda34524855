package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RandomNormal draws independent numbers from the normal distribution with the given mean and standard deviation Scale.
//
// Input: shape, integers. Output: y of the float type To (0: float32). With Seeded every run gives the numbers that
// Seed decides, otherwise every run gives others. Source: ONNX RandomNormal-22.
type RandomNormal struct {
	Mean, Scale float32
	To          tensor.DType
	Seed        int64
	Seeded      bool
}

func init() {
	graph.Register[*RandomNormal]("random_normal", graph.Traits{Impure: true, ShapeInputs: []int{0}})
}

// Infer returns the shape as far as its values are known.
func (o *RandomNormal) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return drawnShape(in, declared, o.To)
}
