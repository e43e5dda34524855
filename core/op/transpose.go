package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Transpose permutes dimensions: y.shape[i] = x.shape[perm[i]], y[..., j at i, ...] = x[..., j at perm[i], ...].
//
// Inputs: x of any type; perm?, integers [rank], a permutation of the axes; absent reverses them. Output: y of x's
// type; scales along an axis move with it. Source: ONNX Transpose-21, OH_NN_OPS_TRANSPOSE, ANEURALNETWORKS_TRANSPOSE.
type Transpose struct{}

func init() {
	graph.Register[*Transpose]("transpose", graph.Traits{ShapeInputs: []int{1}, Moves: true,
		Sign: graph.NonNegativeIfFirst})
}

// Infer permutes the shape.
func (*Transpose) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	var v []tensor.Dim
	known, given := true, present(in, 1)
	if given {
		var err error
		if v, known, err = vector(in, 1); err != nil {
			return nil, err
		}
	}
	x := in[0].Shape
	perm, _ := knownAll(v)
	switch {
	case !known || !x.Ranked:
		s := tensor.AnyShape()
		if known && given {
			s = tensor.AnyOfRank(len(v))
		} else if x.Ranked {
			s = tensor.AnyOfRank(x.Rank())
		}
		out, err := moved(declared[0], in[0], s, nil)
		return []tensor.Fact{out}, err
	case given && len(v) != x.Rank():
		return nil, fault.New(fault.Shape, "input 1: want %d axes, got %d", x.Rank(), len(v))
	case given && perm == nil:
		out, err := moved(declared[0], in[0], tensor.AnyOfRank(x.Rank()), nil)
		return []tensor.Fact{out}, err
	}
	axes, err := Permutation(perm, x.Rank())
	if err != nil {
		return nil, fault.Wrap(err, "input 1")
	}
	dims := make([]tensor.Dim, len(axes))
	for i, a := range axes {
		dims[i] = x.Dims[a]
	}
	out, err := moved(declared[0], in[0], tensor.OfDims(dims...), func(a int) int { return slices.Index(axes, a) })
	if err != nil {
		return nil, err
	}
	if v := values(in[0]); v != nil {
		step := make([]int, len(axes))
		for i, s := range strides(x.Dims) {
			step[slices.Index(axes, i)] = s
		}
		carry(&out, stepped(v, 0, out.Shape.Dims, step))
	}
	return []tensor.Fact{out}, nil
}

// Permutation resolves the axes that Transpose's perm names; nil or empty perm reverses them.
func Permutation(perm []int64, rank int) ([]int, error) {
	if len(perm) == 0 {
		axes := make([]int, rank)
		for i := range axes {
			axes[i] = rank - 1 - i
		}
		return axes, nil
	}
	if len(perm) != rank {
		return nil, fault.New(fault.Shape, "want %d axes, got %d", rank, len(perm))
	}
	return axesOf(perm, rank)
}
