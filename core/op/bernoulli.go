package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Bernoulli draws 1 with the probability that x gives and 0 otherwise, element by element.
//
// Input: x, a float in [0, 1]; another value fails the run with fault.Data. Output: y of type To (a float, an integer
// or bool), or of x's. With Seeded every run gives the numbers that Seed decides. Source: ONNX Bernoulli-22.
type Bernoulli struct {
	To     tensor.DType
	Seed   int64
	Seeded bool
}

func init() { graph.Register[*Bernoulli]("bernoulli", graph.Traits{Impure: true}) }

// Infer returns the shape of x.
func (o *Bernoulli) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, realWords, isReal); err != nil {
		return nil, err
	}
	return drawn(declared, o.To, in[0].DType, in[0].Shape, isPlain)
}
