package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Unsqueeze inserts dimensions of size 1.
//
// Inputs: x of any type; axes, integers without repetition: their places in the result. Output: y of x's type and rank
// plus one per axis. Source: ONNX Unsqueeze-13, OH_NN_OPS_UNSQUEEZE, OH_NN_OPS_EXPAND_DIMS,
// ANEURALNETWORKS_EXPAND_DIMS.
type Unsqueeze struct{}

func init() {
	graph.Register[*Unsqueeze]("unsqueeze",
		graph.Traits{ShapeInputs: []int{1}, InPlace: []int{0}, Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer inserts the dimensions.
func (*Unsqueeze) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	x := in[0].Shape
	v, known, err := vector(in, 1)
	if err != nil {
		return nil, err
	}
	if !x.Ranked || !known {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	rank := x.Rank() + len(v)
	list, ok := knownAll(v)
	if !ok {
		return movedOne(declared, in[0], tensor.AnyOfRank(rank), nil)
	}
	axes, err := axesOf(list, rank)
	if err != nil {
		return nil, fault.Wrap(err, "input 1")
	}
	dims := make([]tensor.Dim, rank)
	place := make([]int, 0, x.Rank())
	for _, a := range axes {
		dims[a] = tensor.D(1)
	}
	for i := range dims {
		if !slices.Contains(axes, i) {
			dims[i] = x.Dims[len(place)]
			place = append(place, i)
		}
	}
	out, err := movedOne(declared, in[0], tensor.OfDims(dims...), func(a int) int { return placeOf(place, a) })
	if err == nil {
		carry(&out[0], values(in[0]))
	}
	return out, err
}
