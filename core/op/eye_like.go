package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// EyeLike makes a matrix of x's shape with ones on a diagonal and zeros elsewhere: y[i, j] = 1 where j = i + K.
//
// Input: x of any type, rank 2. Output: y of type To, or of x's type. Source: ONNX EyeLike-9.
type EyeLike struct {
	K  int64 // 0 the main diagonal, positive above it
	To tensor.DType
}

func init() { graph.Register[*EyeLike]("eye_like", graph.Traits{}) }

// Infer returns the shape of x.
func (o *EyeLike) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantRank(in, 0, 2); err != nil {
		return nil, err
	}
	d := o.To
	if d == tensor.Invalid {
		d = in[0].DType
	}
	if d != tensor.Invalid && !isPlain(d) {
		return nil, fault.New(fault.Type, "no ones of type %v", d)
	}
	out := tensor.Fact{Type: tensor.Type{DType: d, Shape: in[0].Shape}}
	if declared[0].DType == d {
		out.Quant = declared[0].Quant
	}
	return []tensor.Fact{out}, nil
}
