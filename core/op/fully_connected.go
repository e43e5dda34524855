package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// FullyConnected is y = x * transpose(w) + bias over the last dimension of x: y[.., o] = bias[o] + sum over k of x[..,
// k] * w[o, k].
//
// Inputs: x [..,K] of rank >= 1; w [O,K]; bias? [O]. Output: y [..,O]. Types as Conv, weights quantized per tensor or
// per output (axis 0). Source: OH_NN_OPS_FULL_CONNECTION (docs/abi/ohnn.md, operators 4 and 6),
// ANEURALNETWORKS_FULLY_CONNECTED; flattening is left to the lowering.
type FullyConnected struct{}

func init() { graph.Register[*FullyConnected]("fully_connected", graph.Traits{}) }

// Infer replaces the last dimension of x by the number of outputs.
func (*FullyConnected) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantRank(in, 1, 2); err != nil {
		return nil, err
	}
	x, w := in[0].Shape, in[1].Shape
	if !w.Ranked {
		w = tensor.AnyOfRank(2)
	}
	outputs := w.Dims[0]
	if err := wantSized(in, 2, outputs, "one bias per output"); err != nil {
		return nil, err
	}
	if outputs.Sym != 0 && present(in, 2) && in[2].Shape.Rank() == 1 {
		outputs = in[2].Shape.Dims[0]
	}
	s := tensor.AnyShape()
	if x.Ranked {
		if err := wantRankAtLeast(in, 0, 1); err != nil {
			return nil, err
		}
		last := len(x.Dims) - 1
		if _, err := agree(x.Dims[last], w.Dims[1], "last dimensions of inputs 0 and 1"); err != nil {
			return nil, err
		}
		s = x.Clone()
		s.Dims[last] = outputs
	}
	out, err := linear(in, declared[0], s)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{out}, nil
}
