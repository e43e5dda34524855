package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// SpaceToBatch pads the spatial dimensions with zeros and moves the cells of each block into the batch: batch
// ((by·blockW + bx)·N + n) of y holds the cells by + h·blockH, bx + w·blockW of batch n.
//
// Inputs: x of any type, [N, spatial..., rest...] with ChannelsLast, otherwise [N, C, spatial..., rest...]; block,
// integers [n], positive; pads?, integers [n, 2], not negative (absent: 0). Output: y of x's type, [N·product(block),
// padded/block..., rest...]; a padded size that is not divisible is an error, or with Truncate loses its last cells.
// Source: TensorFlow's SpaceToBatchND, OH_NN_OPS_SPACE_TO_BATCH_ND (Truncate), ANEURALNETWORKS_SPACE_TO_BATCH_ND.
type SpaceToBatch struct {
	ChannelsLast bool
	Truncate     bool
}

func init() {
	graph.Register[*SpaceToBatch]("space_to_batch", graph.Traits{ShapeInputs: []int{1, 2}, Moves: true})
}

// Infer multiplies the batch and divides the padded sizes.
func (o *SpaceToBatch) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return moveBlocks(in, declared, o.ChannelsLast, func(d blocked) (batch, size tensor.Dim, err error) {
		if batch, err = timesDims(d.batch, d.block); err != nil {
			return batch, size, err
		}
		if size, err = plusDims(d.size, d.pads[0], d.pads[1]); err != nil {
			return batch, size, err
		}
		switch {
		case !d.block.Known():
			size = tensor.AnyDim()
		case o.Truncate && size.Known():
			size.N /= d.block.N
		default:
			size, err = overDim(size, d.block.N)
			err = fault.Wrap(err, "input 2: padded dimension %d of %v", d.axis, in[0].Shape)
		}
		return batch, size, err
	})
}
