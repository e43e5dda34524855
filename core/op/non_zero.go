package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// NonZero returns the indices of the elements that are not 0 (NaN is not; quantized ones by their real value), in
// row-major order.
//
// Input: x of any type. Output: y, int64 [rank, n]: column i is the index of the i-th such element; a scalar has rank
// 0. Source: ONNX NonZero-13.
type NonZero struct{}

func init() { graph.Register[*NonZero]("non_zero", graph.Traits{DataDependent: true}) }

// Infer returns the number of rows.
func (*NonZero) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantType(in, 0, "a real, integer or bool type", isPlain); err != nil {
		return nil, err
	}
	s := tensor.AnyOfRank(2)
	if r := in[0].Shape.Rank(); r >= 0 {
		s.Dims[0] = tensor.D(int64(r))
	}
	return []tensor.Fact{{Type: tensor.Type{DType: tensor.Int64, Shape: s}}}, nil
}
