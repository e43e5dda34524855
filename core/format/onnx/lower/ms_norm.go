package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// SimplifiedLayerNormalization is of ai.onnx in the files that ONNX Runtime writes.
var msNormOperators = []Operator{
	{"", "SimplifiedLayerNormalization", 1, lowerSimplifiedNorm},
	{microsoft, "SkipLayerNormalization", 1, lowerSkipNorm},
	{microsoft, "SkipSimplifiedLayerNormalization", 1, lowerSkipSimplifiedNorm},
}

// asks reports whether the model names output i.
func (n *node) asks(i int) bool { return i < len(n.p.Node.Out) && n.p.Node.Out[i] != "" }

func lowerSimplifiedNorm(n *node) error {
	if err := n.want(2, 2); err != nil {
		return err
	}
	return n.rms(n.arg(0), n.arg(1), n.int("axis", -1), n.float("epsilon", 1e-5), 1)
}

// rms makes output 0 of the root mean square of x from axis on, and output inverse of its reciprocal where the model
// asks for it.
func (n *node) rms(x, scale graph.Value, axis int64, epsilon float32, inverse int) error {
	n.out[0] = n.b.Add(&op.RMSNorm{Axis: axis, Epsilon: epsilon}, x, scale)
	if !n.asks(inverse) {
		return n.b.Err()
	}
	r := n.b.Fact(x).Shape.Rank()
	if r < 0 {
		return fault.New(fault.Unsupported, "output %d: the rank of input 0 is not known", inverse)
	}
	first, err := op.Axis(axis, r)
	if err != nil {
		return err
	}
	var axes []int64
	for k := first; k < r; k++ {
		axes = append(axes, int64(k))
	}
	if n.b.Fact(x).DType != tensor.Float32 { // the deviation is float32 for every x
		x = n.b.Add(&op.Cast{To: tensor.Float32}, x)
	}
	m := n.b.Add(&op.ReduceMean{KeepDims: true}, n.b.Add(&op.Square{}, x), n.b.Int64s(axes...))
	n.out[inverse] = n.b.Add(&op.Rsqrt{}, n.b.Add(&op.Add{}, m, n.b.Float32(epsilon)))
	return n.b.Err()
}

// skipped returns the sum of input and skip, and of the bias at input b, which is output 3.
func (n *node) skipped(b int) graph.Value {
	x := n.b.Add(&op.Add{}, n.arg(0), n.arg(1))
	if n.has(b) {
		x = n.b.Add(&op.Add{}, x, n.arg(b))
	}
	if n.asks(3) {
		n.out[3] = x
	}
	return x
}

// lowerSkipNorm: input, skip, gamma, beta and a bias; the outputs are y, mean, the deviation's reciprocal and the sum.
func lowerSkipNorm(n *node) error {
	if err := n.want(3, 5); err != nil {
		return err
	}
	o := &op.LayerNorm{Axis: -1, Epsilon: n.float("epsilon", 1e-12)}
	x := n.skipped(4)
	in := []graph.Value{x, n.arg(2)}
	if n.has(3) {
		in = append(in, n.arg(3))
	}
	copy(n.out[:min(3, len(n.out))], n.b.AddN(o, min(3, len(n.out)), in...))
	return n.b.Err()
}

// lowerSkipSimplifiedNorm: input, skip, gamma and a bias; there is no mean.
func lowerSkipSimplifiedNorm(n *node) error {
	if err := n.want(3, 4); err != nil {
		return err
	}
	return n.rms(n.skipped(3), n.arg(2), -1, n.float("epsilon", 1e-12), 2)
}
