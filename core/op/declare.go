package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Declare is y = x, of which a model declares sizes that nothing else tells before a run. Other sizes fail the run.
//
// Input: x of any type. Output: y of x's type and shape.
type Declare struct {
	Sizes []int64 // one for each dimension; -1: not declared
}

func init() {
	graph.Register[*Declare]("declare", graph.Traits{Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer returns the input's type with the declared sizes.
func (o *Declare) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, "a known type", func(t tensor.Type) bool { return t.DType.Valid() })
	if err != nil {
		return nil, err
	}
	dims := make([]tensor.Dim, len(o.Sizes))
	for i, n := range o.Sizes {
		switch {
		case n >= 0:
			dims[i] = tensor.D(n)
		case n == -1:
			dims[i] = tensor.AnyDim()
		default:
			return nil, fault.New(fault.Argument, "size %d of dimension %d", n, i)
		}
	}
	said := tensor.OfDims(dims...)
	s, ok := in[0].Shape.Merge(said)
	if !ok {
		return nil, fault.New(fault.Shape, "computes %v, the model declares %v", in[0].Shape, said)
	}
	out[0].Shape = s
	out[0].Ints = foldSame(in[0], out[0])
	return out, nil
}
