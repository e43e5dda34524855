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

func init() { graph.Register((*Rank)(nil)) }

// Name returns "rank".
func (*Rank) Name() string { return "rank" }

// Traits: none.
func (*Rank) Traits() graph.Traits { return graph.Traits{} }

// Infer returns the rank as a value where it is known.
func (o *Rank) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	d, err := indexType(o.To)
	if err != nil {
		return nil, err
	}
	out := tensor.Fact{Type: tensor.T(d)}
	if r := in[0].Shape.Rank(); r >= 0 {
		carry(&out, []tensor.Dim{tensor.D(int64(r))})
	}
	return []tensor.Fact{out}, nil
}
