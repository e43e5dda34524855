package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BatchToSpace is the inverse of SpaceToBatch: it interleaves parts of the batch as blocks and crops the spatial dimensions.
//
// Inputs: x of any type, [N, spatial..., rest...] with ChannelsLast, otherwise [N, C, spatial..., rest...], N divisible by the product of
// block; block, integers [n], positive; crops?, integers [n, 2], not negative (absent: 0). Output: y of x's type,
// [N/product(block), size·block - crops..., rest...].
// Source: TensorFlow's BatchToSpaceND, OH_NN_OPS_BATCH_TO_SPACE_ND, ANEURALNETWORKS_BATCH_TO_SPACE_ND.
type BatchToSpace struct {
	ChannelsLast bool
}

func init() { graph.Register((*BatchToSpace)(nil)) }

// Name returns "batch_to_space".
func (*BatchToSpace) Name() string { return "batch_to_space" }

// Traits: the values of block and crops decide the output's shape.
func (*BatchToSpace) Traits() graph.Traits { return graph.Traits{ShapeInputs: []int{1, 2}} }

// Infer divides the batch and multiplies the sizes.
func (o *BatchToSpace) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	block, crops, first, err := blockList(in, declared, o.ChannelsLast)
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
		if b.Known() {
			if s.Dims[0], err = overDim(s.Dims[0], b.N); err != nil {
				return nil, fault.Wrap(err, "batch of %v", in[0].Shape)
			}
		} else {
			s.Dims[0] = tensor.AnyDim()
		}
		size, err := timesDims(s.Dims[a], b)
		if err != nil {
			return nil, err
		}
		for _, c := range crops[2*i : 2*i+2] {
			switch {
			case !c.Known() || !size.Known() && c.N != 0:
				size = tensor.AnyDim()
			case size.Known():
				size.N -= c.N
			}
		}
		if size.Known() && size.N < 0 {
			return nil, fault.New(fault.Shape, "input 2: crops %v and %v of dimension %d of %v", crops[2*i], crops[2*i+1], a, in[0].Shape)
		}
		s.Dims[a] = size
	}
	return movedOne(declared, in[0], s, sameAxis(append(changed, 0)...))
}
