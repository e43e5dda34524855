package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LpPool is the p-norm over a sliding window: y = (sum |x|^P)^(1/P); padding counts as 0. With Mean the sum is divided
// by the number of cells inside x before the root is taken (ANEURALNETWORKS_L2_POOL_2D); a window wholly in padding
// gives 0.
//
// Input: x [N,C,spatial] or with ChannelsLast [N,spatial,C], float or quantized; P >= 1, 0 means 2. Source: ONNX
// LpPool-22 and GlobalLpPool.
type LpPool struct {
	Kernel, Strides, Dilations []int64 // empty strides, dilations: ones
	Pads                       []int64 // beginnings, then ends; empty: zeros; read for PadExplicit only
	AutoPad                    AutoPad
	Ceil                       CeilMode
	P                          int64
	Mean                       bool
	Global, ChannelsLast       bool
}

func init() { graph.Register[*LpPool]("lp_pool", graph.Traits{}) }

func (o *LpPool) pooling() pooling {
	return pooling{sliding{o.Strides, o.Dilations, o.Pads, o.AutoPad, o.Ceil, false}, o.Kernel, o.Global, o.ChannelsLast}
}

// Windows resolves the geometry for the spatial sizes of x.
func (o *LpPool) Windows(in []int64) ([]Window, error) { return o.pooling().resolve(in) }

// Infer returns the pooled shape.
func (o *LpPool) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.P < 0 {
		return nil, fault.New(fault.Argument, "p %d: want at least 1", o.P)
	}
	out, err := o.pooling().infer(in, declared[0], realWords, isReal)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{out}, nil
}
