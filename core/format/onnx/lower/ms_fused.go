package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

var msFusedOperators = []Operator{
	{microsoft, "FusedConv", 1, lowerFusedConv},
	{microsoft, "FusedGemm", 1, lowerFusedGemm},
	{microsoft, "FusedMatMul", 1, lowerFusedMatMul},
	{microsoft, "Gelu", 1, withAttrs(func(*node) graph.Op { return &op.Gelu{Approximate: op.GeluErf} })},
	{microsoft, "FastGelu", 1, biased(1, func(n *node, x graph.Value) graph.Value {
		return n.b.Add(&op.Gelu{Approximate: op.GeluTanh}, x)
	})},
	{microsoft, "BiasGelu", 1, biased(2, func(n *node, x graph.Value) graph.Value {
		return n.b.Add(&op.Gelu{Approximate: op.GeluErf}, x)
	})},
	{microsoft, "QuickGelu", 1, lowerQuickGelu},
}

// activated applies the activation of a fused operator. params give its numbers, if there are any.
func (n *node) activated(y graph.Value, params []float32) (graph.Value, error) {
	at := func(i int, otherwise float32) float32 {
		if i < len(params) {
			return params[i]
		}
		return otherwise
	}
	switch a := n.string("activation", ""); a {
	case "":
		return y, nil
	case "Relu":
		return n.b.Add(&op.Relu{}, y), nil
	case "Sigmoid":
		return n.b.Add(&op.Sigmoid{}, y), nil
	case "Tanh":
		return n.b.Add(&op.Tanh{}, y), nil
	case "Softplus":
		return n.b.Add(&op.Softplus{}, y), nil
	case "Softsign":
		return n.b.Add(&op.Softsign{}, y), nil
	case "HardSwish":
		return n.b.Add(&op.HardSwish{}, y), nil
	case "LeakyRelu":
		return n.b.Add(&op.LeakyRelu{Alpha: at(0, 0.01)}, y), nil
	case "Elu":
		return n.b.Add(&op.Elu{Alpha: at(0, 1)}, y), nil
	case "ThresholdedRelu":
		return n.b.Add(&op.ThresholdedRelu{Alpha: at(0, 1)}, y), nil
	case "HardSigmoid":
		return n.b.Add(&op.HardSigmoid{Alpha: at(0, 0.2), Beta: at(1, 0.5)}, y), nil
	case "Clip":
		if len(params) != 2 {
			return y, fault.New(fault.File, "attribute activation_params: want 2 numbers, got %d", len(params))
		}
		return n.b.Add(&op.Clip{}, y, n.b.Float32(params[0]), n.b.Float32(params[1])), nil
	default:
		return y, fault.New(fault.Unsupported, "attribute activation: %q", a)
	}
}

// lowerFusedConv: a convolution, then a sum with input 3, then an activation.
func lowerFusedConv(n *node) error {
	if err := n.want(2, 4); err != nil {
		return err
	}
	o, w, err := n.conv()
	if err != nil {
		return err
	}
	in := []graph.Value{n.arg(0), w}
	if n.has(2) {
		in = append(in, n.arg(2))
	}
	y := n.b.Add(o, in...)
	if n.has(3) {
		y = n.b.Add(&op.Add{}, y, n.arg(3))
	}
	if y, err = n.activated(y, n.floats("activation_params")); err != nil {
		return err
	}
	return n.result(y)
}

func lowerFusedGemm(n *node) error {
	if err := lowerGemm(n); err != nil {
		return err
	}
	var params []float32
	for _, name := range []string{"activation_alpha", "activation_beta"} {
		if a := n.p.Attrs[name]; a != nil {
			params = append(params, a.F)
		} else {
			break
		}
	}
	y, err := n.activated(n.out[0], params)
	if err != nil {
		return err
	}
	return n.result(y)
}

// lowerFusedMatMul: alpha A B. With transBatchA the first dimension of A stands before the last when the product is
// made, with transA these two change places; B likewise.
func lowerFusedMatMul(n *node) error {
	if err := n.want(2, 2); err != nil {
		return err
	}
	var in [2]graph.Value
	for i, name := range []string{"transBatchA", "transBatchB"} {
		if in[i] = n.arg(i); n.int(name, 0) == 0 {
			continue
		}
		r, err := n.rank(i)
		if err != nil {
			return err
		}
		if r < 3 {
			return fault.New(fault.Shape, "attribute %s: want rank 3 or more, got %v", name, n.fact(i).Shape)
		}
		var perm []int64
		for k := 1; k < r-1; k++ {
			perm = append(perm, int64(k))
		}
		in[i] = n.b.Add(&op.Transpose{}, n.arg(i), n.b.Int64s(append(perm, 0, int64(r-1))...))
	}
	var trans [2]bool
	for i, name := range []string{"transA", "transB"} {
		r, err := n.rank(i)
		if err != nil {
			return err
		}
		trans[i] = n.int(name, 0) != 0 && r > 1 // a vector has nothing to change places
	}
	y, err := n.scaled(n.b.Add(&op.MatMul{TransposeA: trans[0], TransposeB: trans[1]}, in[0], in[1]), n.float("alpha", 1))
	if err != nil {
		return err
	}
	return n.result(y)
}

// biased adds input 1, which is given where there are least 2 inputs, and then computes.
func biased(least int, f func(n *node, x graph.Value) graph.Value) lowering {
	return func(n *node) error {
		if err := n.want(least, 2); err != nil {
			return err
		}
		x := n.arg(0)
		if n.has(1) {
			x = n.b.Add(&op.Add{}, x, n.arg(1))
		}
		return n.result(f(n, x))
	}
}

// lowerQuickGelu is x sigmoid(alpha x).
func lowerQuickGelu(n *node) error {
	if err := n.want(1, 1); err != nil {
		return err
	}
	if a := n.float("alpha", 1.702); a != 0 {
		return n.emit(&op.Swish{Alpha: a}, n.arg(0))
	}
	y, err := n.scaled(n.arg(0), 0.5) // sigmoid(0)
	if err != nil {
		return err
	}
	return n.result(y)
}
