package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Det is the determinant of the matrices in the last two dimensions; that of an empty matrix is 1.
//
// Input: x [..., M, M] of a float or quantized type. Output: y [...] of x's type. Source: ONNX Det-22.
type Det struct{}

func init() { graph.Register[*Det]("det", graph.Traits{}) }

// Infer returns the shape without the last two dimensions, which must be equal.
func (*Det) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := unary(in, declared, realWords, isReal)
	if err != nil {
		return nil, err
	}
	x := in[0].Shape
	if !x.Ranked {
		return out, nil
	}
	r := x.Rank()
	if r < 2 {
		return nil, fault.New(fault.Shape, "input 0: want rank 2 or more, got %v", x)
	}
	if a, b := x.Dims[r-2], x.Dims[r-1]; a.Known() && b.Known() && a.N != b.N {
		return nil, fault.New(fault.Shape, "input 0: want square matrices, got %v", x)
	}
	out[0].Shape = tensor.OfDims(x.Dims[: r-2 : r-2]...)
	return out, nil
}
