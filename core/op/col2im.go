package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Col2Im adds overlapping blocks up to images: column l of x holds, per channel, the block (row-major) that a sliding
// window sees at its l-th position; each value is added to the image cell it lies on, values on padding are dropped.
//
// Inputs: x [N, C*product(block), L], L the number of window positions; image_shape, n integers; block_shape, n
// integers. Output: y [N, C, image]. Source: ONNX Col2Im-18.
type Col2Im struct {
	Strides, Dilations []int64 // per spatial dimension; empty: ones
	Pads               []int64 // beginnings, then ends; empty: zeros
}

func init() { graph.Register[*Col2Im]("col2im", graph.Traits{ShapeInputs: []int{1, 2}}) }

// Windows resolves the geometry.
func (o *Col2Im) Windows(image, block []int64) ([]Window, error) {
	return sliding{strides: o.Strides, dilations: o.Dilations, pads: o.Pads}.windows(image, block)
}

// Infer returns [N, C, image].
func (o *Col2Im) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
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
	blocks, err := sizesInput(in, 2)
	if err != nil {
		return nil, err
	}
	n := max(size.count, blocks.count)
	if size.count >= 0 && blocks.count >= 0 && size.count != blocks.count || n == 0 {
		return nil, fault.New(fault.Shape, "an image of %d and blocks of %d dimensions", size.count, blocks.count)
	}
	if n < 0 {
		return []tensor.Fact{outType(declared[0], in[0], tensor.AnyShape())}, nil
	}
	x := tensor.AnyOfRank(3)
	if in[0].Shape.Ranked {
		x = in[0].Shape
	}
	channels := tensor.AnyDim()
	block, known := in[2].KnownInts()
	if known && x.Dims[1].Known() {
		cells, ok := tensor.Count(block)
		if !ok || cells == 0 || x.Dims[1].N%cells != 0 {
			return nil, fault.New(fault.Shape, "input 0: %v does not hold blocks of %v", x, block)
		}
		channels = tensor.D(x.Dims[1].N / cells)
	}
	if image, ok := in[1].KnownInts(); ok && known {
		w, err := o.Windows(image, block)
		if err != nil {
			return nil, err
		}
		positions := make([]int64, len(w))
		for i := range w {
			positions[i] = w[i].Out
		}
		l, ok := tensor.Count(positions)
		if !ok {
			return nil, fault.New(fault.Shape, "input 1: image %v is too large", image)
		}
		if _, err := agree(x.Dims[2], tensor.D(l), "columns and window positions"); err != nil {
			return nil, fault.Wrap(err, "input 0")
		}
	}
	dims := []tensor.Dim{x.Dims[0], channels}
	for i := range n {
		dims = append(dims, size.dim(i))
	}
	return []tensor.Fact{outType(declared[0], in[0], tensor.OfDims(dims...))}, nil
}
