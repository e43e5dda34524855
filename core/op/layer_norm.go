package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LayerNorm normalizes over the dimensions from Axis on: y = (x - mean) * invstd * gamma + beta, invstd = 1 /
// sqrt(variance + Epsilon), with the biased variance. An absent gamma is 1, an absent beta 0.
//
// Inputs: x, float or quantized; gamma?, beta? that broadcast to x. Outputs: y of x's type; mean?, invstd? with the
// dimensions from Axis on set to 1, float64 for float64 x, else float32. Source: ONNX LayerNormalization-17,
// OH_NN_OPS_LAYER_NORM.
type LayerNorm struct {
	Axis    int64
	Epsilon float32
}

func init() { graph.Register[*LayerNorm]("layer_norm", graph.Traits{}) }

// Infer returns x's shape and the shape of the statistics.
func (o *LayerNorm) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 3, declared, 1, 3); err != nil {
		return nil, err
	}
	if err := normInputs(in, o.Axis, o.Epsilon); err != nil {
		return nil, err
	}
	out := []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}
	stat := in[0].Shape.Clone()
	if stat.Ranked {
		a, _ := Axis(o.Axis, len(stat.Dims))
		for i := a; i < len(stat.Dims); i++ {
			stat.Dims[i] = tensor.D(1)
		}
	}
	for range declared[1:] {
		t := tensor.Type{DType: tensor.Float32, Shape: stat}
		if d := in[0].DType; d == tensor.Invalid || d == tensor.Float64 {
			t.DType = d
		}
		out = append(out, tensor.Fact{Type: t})
	}
	return out, nil
}

// normInputs checks x and parameters that broadcast to it, the axis from which is normalized, and epsilon.
func normInputs(in []tensor.Fact, axis int64, epsilon float32) error {
	if err := wantReals(in); err != nil {
		return err
	}
	if err := wantEpsilon(epsilon); err != nil {
		return err
	}
	if x := in[0].Shape; x.Ranked {
		if _, err := Axis(axis, len(x.Dims)); err != nil {
			return fault.Wrap(err, "input 0")
		}
	}
	for i := 1; i < len(in); i++ {
		if err := wantBroadcastTo(in, i, in[0].Shape); err != nil {
			return err
		}
	}
	return nil
}
