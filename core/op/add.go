package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Add is y = a + b with NumPy broadcasting. Integers wrap around.
//
// Inputs: a, b of one numeric type. Output: y of that type. Source: ONNX Add-14, OH_NN_OPS_ADD, ANEURALNETWORKS_ADD without activation.
type Add struct{}

func init() { graph.Register((*Add)(nil)) }

// Name returns "add".
func (*Add) Name() string { return "add" }

// Traits: element-wise, may reuse either input's memory.
func (*Add) Traits() graph.Traits { return graph.Traits{Elementwise: true, InPlace: []int{0, 1}} }

// Infer returns the broadcast shape. Small integer values are carried through so that shape arithmetic resolves.
func (*Add) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out, err := broadcast(in, declared, "a numeric type", numeric)
	if err != nil {
		return nil, err
	}
	out[0].Ints = foldInts(in, out[0], func(a, b int64) (int64, bool) { return a + b, true })
	return out, nil
}

// foldInts computes the values of a small integer result element by element where both operands are known; f's ok false means that the
// value stays unknown. It returns nil when nothing is known.
func foldInts(in []tensor.Fact, out tensor.Fact, f func(a, b int64) (int64, bool)) []tensor.Dim {
	if out.DType != tensor.Int32 && out.DType != tensor.Int64 || out.Shape.Rank() > 1 || out.Quant != nil {
		return nil
	}
	n, ok := out.Shape.Count()
	if !ok || n > tensor.MaxInts {
		return nil
	}
	a, b := in[0].IntValues(), in[1].IntValues()
	if a == nil || b == nil || int64(len(a)) != n && len(a) != 1 || int64(len(b)) != n && len(b) != 1 {
		return nil
	}
	d := make([]tensor.Dim, n)
	for i := range d {
		x, y := a[i%len(a)], b[i%len(b)]
		d[i] = tensor.AnyDim()
		if x.Known() && y.Known() {
			if v, ok := f(x.N, y.N); ok {
				d[i] = tensor.D(v)
			}
		}
	}
	return d
}
