package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// CenterCropPad brings dimensions to given sizes about their middle: a larger one loses floor(d/2) cells in front and
// the rest behind, a smaller one gets floor(d/2) zeros in front and the rest behind.
//
// Inputs: x of any type; shape, integers: one size per axis in Axes (none given: every axis in order). Output: y of x's
// type. Source: ONNX CenterCropPad-18.
type CenterCropPad struct {
	Axes []int64 // negative count from the end
}

func init() {
	graph.Register[*CenterCropPad]("center_crop_pad", graph.Traits{ShapeInputs: []int{1}, Moves: true})
}

// Infer replaces the sizes.
func (o *CenterCropPad) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	v, known, err := vector(in, 1)
	if err != nil {
		return nil, err
	}
	if _, err := wantDims(v); err != nil {
		return nil, fault.Wrap(err, "input 1")
	}
	x := in[0].Shape
	if !x.Ranked {
		return movedOne(declared, in[0], x, nil)
	}
	axes, err := o.ResolveAxes(x.Rank())
	if err != nil {
		return nil, err
	}
	if known && len(v) != len(axes) {
		return nil, fault.New(fault.Shape, "input 1: want %d sizes, got %d", len(axes), len(v))
	}
	s := x.Clone()
	for i, a := range axes {
		s.Dims[a] = tensor.AnyDim()
		if known {
			s.Dims[a] = v[i]
		}
	}
	return movedOne(declared, in[0], s, sameAxis(axes...))
}

// ResolveAxes returns the axes of a tensor of this rank that change.
func (o *CenterCropPad) ResolveAxes(rank int) ([]int, error) {
	if o.Axes == nil {
		return axesOf(iota64(rank), rank)
	}
	return axesOf(o.Axes, rank)
}
