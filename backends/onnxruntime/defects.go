package onnxruntime

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// rightFrom is the first version that computes a node right which older ones do not get.
const rightFrom = 32

// defect names the known fault of a provider with a node that it takes, "" for none: runs that fail, and wrong results.
// All were found by devicetests of ONNX Runtime 1.24.1 and 1.32.0 on x86-64.
func (d *Device) defect(g *graph.Graph, n *graph.Node) string {
	if d.provider.Name != CPUProvider {
		return ""
	}
	x := g.Fact(n.In[0]).Type
	switch o := n.Op.(type) {
	case *op.GRU, *op.LSTM:
		if x.DType == tensor.Float64 {
			return "the CPU provider takes a recurrent layer of float64 and fails to run it"
		}
	case *op.Resize:
		if o.Mode == op.ResizeCubic && x.DType.IsInt() && x.Quant == nil {
			return "the CPU provider takes a cubic Resize of integers and fails to run it"
		}
	}
	if n, known := minor(d.lib.version); known && n >= rightFrom {
		return ""
	}
	switch o := n.Op.(type) {
	case *op.Attention:
		if o.Causal {
			return "a causal Attention of this version of ONNX Runtime is wrong"
		}
	case *op.STFT:
		if len(n.In) < 3 || n.In[2] == graph.None {
			return "an STFT without a window of this version of ONNX Runtime reads beyond its input"
		}
	case *op.Quantize:
		if x.DType == tensor.Float16 {
			return "QuantizeLinear of float16 of this version of ONNX Runtime rounds twice"
		}
	}
	return ""
}
