package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Shape returns the sizes of x, or those from Start up to End.
//
// Input: x of any type. Start and End count from the end when negative and are clamped to [0, rank]. Output: y, To
// (int64 unless it says int32) [end - start]. Source: ONNX Shape-21, OH_NN_OPS_SHAPE.
type Shape struct {
	Start, End int64
	HasEnd     bool // End counts; otherwise the end is the rank
	To         tensor.DType
}

func init() { graph.Register[*Shape]("shape", graph.Traits{Moves: true}) }

// Infer returns the sizes as values, symbols included.
func (o *Shape) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	d, err := indexType(o.To)
	if err != nil {
		return nil, err
	}
	out := tensor.Fact{Type: tensor.Type{DType: d, Shape: tensor.AnyOfRank(1)}}
	if x := in[0].Shape; x.Ranked {
		start, end := o.Bounds(x.Rank())
		out.Shape = tensor.Of(int64(end - start))
		carry(&out, x.Clone().Dims[start:end])
	}
	return []tensor.Fact{out}, nil
}

// Bounds returns the dimensions of a tensor of this rank that are reported, from start up to end.
func (o *Shape) Bounds(rank int) (start, end int) {
	clamp := func(v int64) int {
		if v < 0 {
			v += int64(rank)
		}
		return int(min(max(v, 0), int64(rank)))
	}
	start, end = clamp(o.Start), rank
	if o.HasEnd {
		end = clamp(o.End)
	}
	return start, max(start, end)
}
