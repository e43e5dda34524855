package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// SpaceToBatch pads the spatial dimensions with zeros and moves the cells of each block into the batch: batch
// ((by·blockW + bx)·N + n) of y holds the cells by + h·blockH, bx + w·blockW of batch n.
//
// Inputs: x of any type, [N, spatial..., rest...] with ChannelsLast, otherwise [N, C, spatial..., rest...]; block, integers [n], positive;
// pads?, integers [n, 2], not negative (absent: 0). Output: y of x's type, [N·product(block), padded/block..., rest...]; a padded size that
// is not divisible is an error, or with Truncate loses its last cells.
// Source: TensorFlow's SpaceToBatchND, OH_NN_OPS_SPACE_TO_BATCH_ND (Truncate), ANEURALNETWORKS_SPACE_TO_BATCH_ND.
type SpaceToBatch struct {
	ChannelsLast bool
	Truncate     bool
}

func init() { graph.Register((*SpaceToBatch)(nil)) }

// Name returns "space_to_batch".
func (*SpaceToBatch) Name() string { return "space_to_batch" }

// Traits: the values of block and pads decide the output's shape.
func (*SpaceToBatch) Traits() graph.Traits { return graph.Traits{ShapeInputs: []int{1, 2}} }

// Infer multiplies the batch and divides the padded sizes.
func (o *SpaceToBatch) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	block, pads, first, err := blockList(in, declared, o.ChannelsLast)
	if err != nil {
		return nil, err
	}
	if block == nil {
		return movedOne(declared, in[0], openLike(in[0].Shape), nil)
	}
	s := in[0].Shape.Clone()
	var changed []int
	for i, b := range block {
		a := first + i
		changed = append(changed, a)
		if s.Dims[0], err = timesDims(s.Dims[0], b); err != nil {
			return nil, err
		}
		size, err := plusDims(s.Dims[a], pads[2*i], pads[2*i+1])
		if err != nil {
			return nil, err
		}
		switch {
		case !b.Known():
			size = tensor.AnyDim()
		case o.Truncate && size.Known():
			size.N /= b.N
		default:
			if size, err = overDim(size, b.N); err != nil {
				return nil, fault.Wrap(err, "padded dimension %d of %v", a, in[0].Shape)
			}
		}
		s.Dims[a] = size
	}
	return movedOne(declared, in[0], s, sameAxis(append(changed, 0)...))
}

// blockList reads block and pads (or crops) of input 0, whose first spatial dimension is first. block is nil while the rank of x or the
// number of blocks is unknown.
func blockList(in []tensor.Fact, declared []tensor.Type, channelsLast bool) (block, pads []tensor.Dim, first int, err error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, nil, 0, err
	}
	if first = 1; !channelsLast {
		first = 2
	}
	block, known, err := vector(in, 1)
	if err != nil {
		return nil, nil, 0, err
	}
	for i, b := range block {
		if b.Known() && b.N < 1 {
			return nil, nil, 0, fault.New(fault.Argument, "input 1: block size %d is %d", i, b.N)
		}
	}
	r := in[0].Shape.Rank()
	if known && r >= 0 && r < first+len(block) {
		return nil, nil, 0, fault.New(fault.Shape, "input 1: %d block sizes for %v", len(block), in[0].Shape)
	}
	if !present(in, 2) {
		if pads = make([]tensor.Dim, 2*len(block)); !known || r < 0 {
			block = nil
		}
		return block, pads, first, nil
	}
	v, ok, err := list(in, 2)
	if err != nil {
		return nil, nil, 0, err
	}
	if _, err := wantDims(v); err != nil {
		return nil, nil, 0, fault.Wrap(err, "input 2")
	}
	if known && ok && len(v) != 2*len(block) {
		return nil, nil, 0, fault.New(fault.Shape, "input 2: want [%d,2], got %v", len(block), in[2].Shape)
	}
	if !known || r < 0 {
		return nil, nil, first, nil
	}
	if !ok {
		v = anyDims(2 * len(block))
	}
	return block, v, first, nil
}

// openLike is a shape of the same rank, as far as that is known, with unknown sizes.
func openLike(s tensor.Shape) tensor.Shape {
	if !s.Ranked {
		return s
	}
	return tensor.AnyOfRank(s.Rank())
}
