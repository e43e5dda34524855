package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// MaxPool is the maximum over a sliding window; padding is ignored. A NaN in the window makes the result NaN. A window
// that lies wholly in padding gives the lowest value of the type (-infinity). Indices tell where the maximum was found
// (the first in row-major order of the window, or the first NaN): the element's position in x counted as if x were
// [N,C,spatial], with the spatial part row-major, or column-major (the first spatial dimension fastest) with
// ColumnMajor; -1 for a window wholly in padding.
//
// Input: x [N,C,spatial] or with ChannelsLast [N,spatial,C], float, integer or quantized. Outputs: y of x's type,
// indices? int64 of y's shape. Global takes the whole image as the window and ignores Kernel, Strides, Dilations and
// padding. Source: ONNX MaxPool-22 and GlobalMaxPool, OH_NN_OPS_MAX_POOL (docs/abi/ohnn.md, operators 3),
// ANEURALNETWORKS_MAX_POOL_2D.
type MaxPool struct {
	Kernel, Strides, Dilations []int64 // empty strides, dilations: ones
	Pads                       []int64 // beginnings, then ends; empty: zeros; read for PadExplicit only
	AutoPad                    AutoPad
	Ceil                       CeilMode
	Global, ChannelsLast       bool
	ColumnMajor                bool
}

func init() { graph.Register[*MaxPool]("max_pool", graph.Traits{}) }

func (o *MaxPool) pooling() pooling {
	return pooling{sliding{o.Strides, o.Dilations, o.Pads, o.AutoPad, o.Ceil, false}, o.Kernel, o.Global, o.ChannelsLast}
}

// Windows resolves the geometry for the spatial sizes of x.
func (o *MaxPool) Windows(in []int64) ([]Window, error) { return o.pooling().resolve(in) }

// Infer returns the pooled shape for both outputs.
func (o *MaxPool) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 1, declared, 1, 2); err != nil {
		return nil, err
	}
	out, err := o.pooling().infer(in, declared[0], numberWords, isNumber)
	if err != nil {
		return nil, err
	}
	facts := []tensor.Fact{out}
	if len(declared) == 2 {
		facts = append(facts, tensor.Fact{Type: tensor.Type{DType: tensor.Int64, Shape: out.Shape}})
	}
	return facts, nil
}
