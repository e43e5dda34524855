package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// MaxUnpool puts the results of a max pooling back where they were found and zeros elsewhere: y[indices[i]] = x[i], the
// later of equal indices winning. Indices count elements of the pooled-from tensor, whose spatial sizes are
// (in-1)*stride - pads + kernel; an index outside it is an error of kind fault.Data. output_shape enlarges the result
// at the ends with zeros.
//
// Inputs: x [N,C,spatial]; indices, integers of x's shape; output_shape? all sizes of y, each at least the computed
// one. Output: y of x's type. Source: ONNX MaxUnpool-22.
type MaxUnpool struct {
	Kernel, Strides []int64 // empty strides: ones
	Pads            []int64 // beginnings, then ends; empty: zeros
}

func init() {
	graph.Register[*MaxUnpool]("max_unpool", graph.Traits{ShapeInputs: []int{2}, Moves: true})
}

// From returns the sizes of the pooled-from tensor for x of shape in.
func (o *MaxUnpool) From(in []int64) ([]int64, error) {
	out := append([]int64(nil), in...)
	n := len(o.Kernel)
	for i := range n {
		if in[i+2] > maxSpatial/at(o.Strides, i, 1) {
			return nil, fault.New(fault.Shape, "spatial dimension %d: size %d", i, in[i+2])
		}
		out[i+2] = (in[i+2]-1)*at(o.Strides, i, 1) - at(o.Pads, i, 0) - at(o.Pads, n+i, 0) + o.Kernel[i]
		if out[i+2] < 0 {
			return nil, fault.New(fault.Shape, "spatial dimension %d: size %d comes from size %d", i, in[i+2], out[i+2])
		}
	}
	return out, nil
}

// Infer returns the pooled-from or the given shape.
func (o *MaxUnpool) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, numberWords, isNumber); err != nil {
		return nil, err
	}
	if err := wantIndex(in, 1); err != nil {
		return nil, err
	}
	n := len(o.Kernel)
	if n == 0 {
		return nil, fault.New(fault.Argument, "kernel size is missing")
	}
	if err := (sliding{strides: o.Strides, pads: o.Pads}).check(n); err != nil {
		return nil, err
	}
	for i, k := range o.Kernel {
		if k < 1 || k > maxWindow {
			return nil, fault.New(fault.Argument, "spatial dimension %d: kernel size %d: want 1 to %d", i, k, maxWindow)
		}
	}
	x, ok := in[0].Shape.Merge(in[1].Shape)
	if !ok {
		return nil, fault.New(fault.Shape, "input 1: want the shape %v of input 0, got %v", in[0].Shape, in[1].Shape)
	}
	if x.Ranked && len(x.Dims) != n+2 {
		return nil, fault.New(fault.Shape, "input 0: want rank %d, got %v", n+2, x)
	}
	given, err := sizesInput(in, 2)
	if err != nil {
		return nil, err
	}
	out := tensor.AnyOfRank(n + 2)
	if dims, ok := x.Ints(); ok {
		from, err := o.From(dims)
		if err != nil {
			return nil, err
		}
		out = tensor.Of(from...)
	}
	if given != nil {
		if given.count >= 0 && given.count != n+2 {
			return nil, fault.New(fault.Shape, "input 2: want %d sizes, got %d", n+2, given.count)
		}
		for i, from := range out.Dims {
			out.Dims[i] = given.dim(i)
			if d := out.Dims[i]; d.Known() && from.Known() && d.N < from.N {
				return nil, fault.New(fault.Shape, "input 2: size %d of dimension %d is below %d", d.N, i, from.N)
			}
		}
	}
	return []tensor.Fact{outType(declared[0], in[0], out)}, nil
}
