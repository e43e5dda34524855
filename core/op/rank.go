package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Rank returns the number of dimensions of x.
//
// Input: x of any type. Output: y, a scalar of type To (int64 unless it says int32).
// Source: OH_NN_OPS_RANK (To int32), ANEURALNETWORKS_RANK (To int32).
type Rank struct {
	To tensor.DType
}

func init() { graph.Register[*Rank]("rank", graph.Traits{Moves: true}) }

// Infer returns the rank as a value where it is known.
func (o *Rank) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return inferNumber(in, declared, o.To, func(x tensor.Shape) (tensor.Dim, error) {
		return tensor.D(int64(len(x.Dims))),
			nil
	})
}
