package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// EpsilonMode says how a small constant keeps a norm from being 0.
type EpsilonMode uint8

// The uses of epsilon.
const (
	EpsMax EpsilonMode = iota // sqrt(max(sum, epsilon))
	EpsAdd                    // sqrt(sum + epsilon)
)

// L2Normalize is y = x / sqrt(max(sum x*x, Epsilon)), or with EpsAdd x / sqrt(sum x*x + Epsilon), the sum running over
// axes. With Epsilon 0 a slice of zeros gives NaN.
//
// Inputs: x, float or quantized; axes? rank 0 or 1, each once; absent or empty: all axes. Output: y of x's type.
// Source: OH_NN_OPS_L2_NORMALIZE (docs/abi/ohnn.md, operators 8), ANEURALNETWORKS_L2_NORMALIZATION
// (Epsilon 1e-12).
type L2Normalize struct {
	Epsilon float32
	Mode    EpsilonMode
}

func init() { graph.Register[*L2Normalize]("l2_normalize", graph.Traits{}) }

// Infer returns x's shape.
func (o *L2Normalize) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Mode > EpsAdd {
		return nil, fault.New(fault.Argument, "unknown use of epsilon %d", o.Mode)
	}
	if err := wantEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	if err := wantReals(in[:1]); err != nil {
		return nil, err
	}
	if err := axesInput(in, 1, in[0].Shape.Rank()); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}, nil
}
