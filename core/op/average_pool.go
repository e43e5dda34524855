package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// AveragePool is the mean over a sliding window. The divisor is the number of cells inside x; with CountPads also those
// in the padding that was asked for (not those a rounded-up last window hangs over). A window wholly in padding gives
// 0.
//
// Input: x [N,C,spatial] or with ChannelsLast [N,spatial,C], float or quantized. Output: y of x's type. Quantized means
// are computed exactly and rounded once, half away from zero. Global takes the whole image as the window. Source: ONNX
// AveragePool-22 and GlobalAveragePool, OH_NN_OPS_AVG_POOL (docs/abi/ohnn.md, operators 3),
// ANEURALNETWORKS_AVERAGE_POOL_2D.
type AveragePool struct {
	Kernel, Strides, Dilations []int64 // empty strides, dilations: ones
	Pads                       []int64 // beginnings, then ends; empty: zeros; read for PadExplicit only
	AutoPad                    AutoPad
	Ceil                       CeilMode
	CountPads                  bool
	Global, ChannelsLast       bool
}

func init() {
	graph.Register[*AveragePool]("average_pool", graph.Traits{Sign: graph.NonNegativeIfFirst})
}

func (o *AveragePool) pooling() pooling {
	return pooling{sliding{o.Strides, o.Dilations, o.Pads, o.AutoPad, o.Ceil, false}, o.Kernel, o.Global, o.ChannelsLast}
}

// Windows resolves the geometry for the spatial sizes of x.
func (o *AveragePool) Windows(in []int64) ([]Window, error) { return o.pooling().resolve(in) }

// Infer returns the pooled shape.
func (o *AveragePool) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 1); err != nil {
		return nil, err
	}
	out, err := o.pooling().infer(in, declared[0], realWords, isReal)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{out}, nil
}
