package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GroupNorm splits the channels of each image into Groups equal runs and normalizes each run over its channels and all
// spatial cells: y = (x - mean) / sqrt(variance + Epsilon) * scale[c] + bias[c], with the biased variance.
//
// Inputs: x [N,C,...] or with ChannelsLast [N,...,C], rank >= 2, float or quantized; scale, bias [C]. Output: y of x's
// type. Source: ONNX GroupNormalization-21.
type GroupNorm struct {
	Groups       int64
	Epsilon      float32
	ChannelsLast bool
}

func init() { graph.Register[*GroupNorm]("group_norm", graph.Traits{}) }

// ChannelAxis is the dimension that counts channels.
func (o *GroupNorm) ChannelAxis() int64 {
	if o.ChannelsLast {
		return -1
	}
	return 1
}

// Infer returns x's shape.
func (o *GroupNorm) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantReals(in); err != nil {
		return nil, err
	}
	if err := wantEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	if err := wantRankAtLeast(in, 0, 2); err != nil {
		return nil, err
	}
	if o.Groups < 1 {
		return nil, fault.New(fault.Argument, "groups %d: want at least 1", o.Groups)
	}
	s, err := perChannel(in, o.ChannelAxis())
	if err != nil {
		return nil, err
	}
	if s.Ranked {
		a, _ := Axis(o.ChannelAxis(), len(s.Dims))
		if c := s.Dims[a]; c.Known() && c.N%o.Groups != 0 {
			return nil, fault.New(fault.Shape, "input 0: %d channels do not divide into %d groups", c.N, o.Groups)
		}
	}
	return []tensor.Fact{outType(declared[0], in[0], s)}, nil
}
