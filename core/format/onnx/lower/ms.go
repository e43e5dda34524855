package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// microsoft is the domain of the operators that ONNX Runtime adds to those of ONNX. Its optimizer and its quantizer
// write them. They become compositions of the operators that also models in QDQ form consist of.
const microsoft = "com.microsoft"

// singleScales refuses scales and zero points at inputs that are not a single element.
func (n *node) singleScales(inputs ...int) error {
	for _, i := range inputs {
		if c, ok := n.fact(i).Shape.Count(); n.has(i) && ok && c != 1 {
			return fault.New(fault.Shape, "input %d: want a single element, got %v", i, n.fact(i).Shape)
		}
	}
	return nil
}

// codes makes y output 0, quantized with the scale s and the zero point s+1, as codes of the type of input like where
// that is not given.
func (n *node) codes(y graph.Value, s, like int) error {
	to := n.fact(like).DType
	if n.has(s + 1) {
		to = n.fact(s + 1).DType
	}
	return n.emit(&op.Quantize{To: to, Saturate: true}, y, n.arg(s), n.arg(s+1))
}

// scaled returns v times a constant, which is of v's type.
func (n *node) scaled(v graph.Value, by float32) (graph.Value, error) {
	if by == 1 {
		return v, nil
	}
	d := n.b.Fact(v).DType
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	s, err := n.scalarOf(d, float64(by))
	if err != nil {
		return graph.None, err
	}
	return n.b.Add(&op.Mul{}, v, s), nil
}

// scalar returns an int64 constant without dimensions.
func (n *node) scalar(v int64) graph.Value {
	data := make([]byte, 8)
	tensor.PutInt(tensor.Int64, data, 0, v)
	return n.b.Const("", tensor.T(tensor.Int64), data)
}
