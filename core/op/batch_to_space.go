package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BatchToSpace is the inverse of SpaceToBatch: it interleaves parts of the batch as blocks and crops the spatial
// dimensions.
//
// Inputs: x of any type, [N, spatial..., rest...] with ChannelsLast, otherwise [N, C, spatial..., rest...], N divisible
// by the product of block; block, integers [n], positive; crops?, integers [n, 2], not negative (absent: 0). Output: y
// of x's type, [N/product(block), size·block - crops..., rest...]. Source: TensorFlow's BatchToSpaceND,
// OH_NN_OPS_BATCH_TO_SPACE_ND, ANEURALNETWORKS_BATCH_TO_SPACE_ND.
type BatchToSpace struct {
	ChannelsLast bool
}

func init() {
	graph.Register[*BatchToSpace]("batch_to_space", graph.Traits{ShapeInputs: []int{1, 2}, Moves: true})
}

// Infer divides the batch and multiplies the sizes.
func (o *BatchToSpace) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return moveBlocks(in, declared, o.ChannelsLast, func(d blocked) (batch, size tensor.Dim, err error) {
		batch = tensor.AnyDim()
		if d.block.Known() {
			if batch, err = overDim(d.batch, d.block.N); err != nil {
				return batch, size, fault.Wrap(err, "input 0: batch of %v", in[0].Shape)
			}
		}
		if size, err = timesDims(d.size, d.block); err != nil {
			return batch, size, err
		}
		for _, c := range d.pads {
			switch {
			case !c.Known() || !size.Known() && c.N != 0:
				size = tensor.AnyDim()
			case size.Known():
				size.N -= c.N
			}
		}
		if size.Known() && size.N < 0 {
			return batch, size, fault.New(fault.Shape, "input 2: crops %v and %v take away more than dimension %d of %v becomes",
				d.pads[0], d.pads[1], d.axis, in[0].Shape)
		}
		return batch, size, nil
	})
}
