package lowering

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.Quantized16BitLSTM: lowerQuantized16BitLSTM,
		nnapi.QuantizedLSTM:      lowerQuantizedLSTM,
	})
}

// lowerQuantized16BitLSTM gives the biases the scale that the model declares: elsewhere a bias needs none.
func lowerQuantized16BitLSTM(n *node) {
	in := make([]graph.Value, len(n.op.Inputs))
	for i := range in {
		in[i] = n.in(i)
		if o := n.operand(i); o.Type == nnapi.TensorInt32 {
			in[i] = n.typed(&op.Cast{To: tensor.Int32}, tensor.Type{DType: tensor.Int32, Quant: tensor.PerTensor(o.Scale,
				o.ZeroPoint)},
				in[i])
		}
	}
	n.emit(&op.Quantized16BitLSTM{}, in...)
}

// lowerQuantizedLSTM returns the hidden state twice.
func lowerQuantizedLSTM(n *node) {
	o := &op.QuantizedLSTM{ClipCell: n.float(24), ClipProjection: n.float(25), HiddenZero: n.int(30),
		HiddenScale: n.float(31)}
	for i := 26; i < 30; i++ {
		o.Intermediate = append(o.Intermediate, n.float(i))
	}
	in := make([]graph.Value, 24)
	for i := range in {
		in[i] = n.in(i)
	}
	out := n.many(o, []tensor.Type{n.outType(0), n.outType(1)}, in...)
	n.put(0, out[0])
	n.put(1, out[1])
	n.put(2, out[0])
}
