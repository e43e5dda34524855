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
	{microsoft, "EmbedLayerNormalization", 1, lowerEmbedNorm},
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

// lowerEmbedNorm: words and segments by their numbers, the tables of words, places and segments, gamma, beta, a mask of
// words, and places by their numbers; the outputs are y, how many words the mask lets through in each row, and the sum
// of the rows of the tables. Without a mask the count is 0.
func lowerEmbedNorm(n *node) error {
	if count := len(n.p.Node.In); count < 7 || count > 9 {
		return fault.New(fault.File, "want 7 to 9 inputs, got %d", count)
	}
	for _, i := range []int{0, 2, 3, 5, 6} {
		if !n.has(i) {
			return fault.New(fault.File, "input %d is missing", i)
		}
	}
	if n.has(1) != n.has(4) {
		return fault.New(fault.File, "inputs 1 and 4: numbers of segments and their table come together")
	}
	places := n.arg(3)
	if n.has(8) {
		places = n.b.Add(&op.Gather{}, places, n.arg(8))
	} else {
		words := n.b.Add(&op.Shape{Start: 1}, n.arg(0))
		places = n.b.Add(&op.Slice{}, places, n.b.Int64s(0), words, n.b.Int64s(0))
	}
	sum := n.b.Add(&op.Add{}, n.b.Add(&op.Gather{}, n.arg(2), n.arg(0)), places)
	if n.has(1) {
		sum = n.b.Add(&op.Add{}, sum, n.b.Add(&op.Gather{}, n.arg(4), n.arg(1)))
	}
	n.out[0] = n.b.Add(&op.LayerNorm{Axis: -1, Epsilon: n.float("epsilon", 1e-12)}, sum, n.arg(5), n.arg(6))
	if n.asks(1) {
		through := n.b.Add(&op.Sub{}, n.arg(0), n.arg(0))
		if n.has(7) {
			one := n.b.Add(&op.Cast{To: n.fact(7).DType}, n.b.Int64s(1))
			through = n.b.Add(&op.Cast{To: tensor.Int32}, n.b.Add(&op.Equal{}, n.arg(7), one))
		}
		n.out[1] = n.b.Add(&op.ReduceSum{}, through, n.b.Int64s(1))
	}
	if n.asks(2) {
		n.out[2] = sum
	}
	return n.b.Err()
}
