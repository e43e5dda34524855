package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// AffineGrid makes the grid of GridSample for affine maps: grid[n, p] = theta[n] * (coordinates of p from the last
// spatial dimension to the first, 1), where a dimension's coordinates run from -1 to 1, between the centres of its
// border cells with AlignCorners (0 for a single cell), else between their outer edges.
//
// Inputs: theta [N,n,n+1], float, n 2 or 3; size, n+2 integers (N, C, spatial). Output: grid [N, spatial, n] of theta's
// type. Source: ONNX AffineGrid-20.
type AffineGrid struct {
	AlignCorners bool
}

func init() { graph.Register[*AffineGrid]("affine_grid", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns [N, spatial, n].
func (o *AffineGrid) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantReals(in[:1]); err != nil {
		return nil, err
	}
	if err := wantRank(in, 0, 3); err != nil {
		return nil, err
	}
	size, err := sizesInput(in, 1)
	if err != nil {
		return nil, err
	}
	n := int64(size.count) - 2
	theta := tensor.AnyOfRank(3)
	if in[0].Shape.Ranked {
		theta = in[0].Shape
	}
	if size.count < 0 {
		if d := theta.Dims[1]; d.Known() {
			n = d.N
		} else {
			return []tensor.Fact{outType(declared[0], in[0], tensor.AnyShape())}, nil
		}
	}
	if n != 2 && n != 3 {
		return nil, fault.New(fault.Shape, "%d spatial dimensions: want 2 or 3", n)
	}
	want := tensor.OfDims(size.dim(0), tensor.D(n), tensor.D(n+1))
	m, ok := want.Merge(theta)
	if !ok {
		return nil, fault.New(fault.Shape, "input 0: want %v, got %v", want, theta)
	}
	dims := []tensor.Dim{m.Dims[0]}
	for i := range int(n) {
		dims = append(dims, size.dim(i+2))
	}
	return []tensor.Fact{outType(declared[0], in[0], tensor.OfDims(append(dims, tensor.D(n))...))}, nil
}
