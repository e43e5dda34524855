package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// activation returns the kernel function of an element-wise node with one input, ok false when there is none of the
// same meaning.
func activation(g *ir.Network, n *graph.Node) (a kernel.Act, ok bool) {
	switch o := n.Op.(type) {
	case *op.Relu:
		return kernel.Act{Op: kernel.Relu}, true
	case *op.Clip:
		return clip(g, n)
	case *op.LeakyRelu:
		return kernel.Act{Op: kernel.LeakyRelu, Alpha: o.Alpha}, true
	case *op.HardSwish:
		return kernel.Act{Op: kernel.HardSwish}, true
	case *op.HardSigmoid:
		return kernel.Act{Op: kernel.HardSigmoid, Alpha: o.Alpha, Beta: o.Beta}, true
	case *op.Sigmoid:
		return kernel.Act{Op: kernel.Sigmoid}, true
	case *op.Swish:
		return kernel.Act{Op: kernel.SiLU}, o.Alpha == 0 || o.Alpha == 1
	case *op.Tanh:
		return kernel.Act{Op: kernel.Tanh}, true
	case *op.Erf:
		return kernel.Act{Op: kernel.Erf}, true
	case *op.Gelu:
		if o.Approximate == op.GeluTanh {
			return kernel.Act{Op: kernel.GeluTanh}, true
		}
		return kernel.Act{Op: kernel.Gelu}, true
	case *op.Exp:
		return kernel.Act{Op: kernel.Exp}, o.Base == 0 && (o.Scale == 0 || o.Scale == 1) && o.Shift == 0
	case *op.Log:
		return kernel.Act{Op: kernel.Log}, true
	case *op.Softplus:
		return kernel.Act{Op: kernel.Softplus}, true
	case *op.Mish:
		return kernel.Act{Op: kernel.Mish}, true
	case *op.Elu:
		return kernel.Act{Op: kernel.Elu, Alpha: o.Alpha}, true
	case *op.Celu:
		return kernel.Act{Op: kernel.Celu, Alpha: o.Alpha, Beta: 1 / o.Alpha}, o.Alpha > 0
	case *op.Selu:
		return kernel.Act{Op: kernel.Selu, Alpha: o.Alpha * o.Gamma, Beta: o.Gamma}, true
	case *op.Softsign:
		return kernel.Act{Op: kernel.Softsign}, true
	case *op.Sign:
		return kernel.Act{Op: kernel.Sign}, true
	case *op.ThresholdedRelu:
		return kernel.Act{Op: kernel.Threshold, Alpha: o.Alpha}, true
	case *op.Shrink:
		return kernel.Act{Op: kernel.Shrink, Alpha: o.Lambda, Beta: o.Bias}, o.Lambda >= 0
	case *op.Sin:
		return kernel.Act{Op: kernel.Sin}, true
	case *op.Cos:
		return kernel.Act{Op: kernel.Cos}, true
	case *op.Tan:
		return kernel.Act{Op: kernel.Tan}, true
	case *op.Asin:
		return kernel.Act{Op: kernel.Asin}, true
	case *op.Acos:
		return kernel.Act{Op: kernel.Acos}, true
	case *op.Atan:
		return kernel.Act{Op: kernel.Atan}, true
	case *op.Sinh:
		return kernel.Act{Op: kernel.Sinh}, true
	case *op.Cosh:
		return kernel.Act{Op: kernel.Cosh}, true
	case *op.Asinh:
		return kernel.Act{Op: kernel.Asinh}, true
	case *op.Acosh:
		return kernel.Act{Op: kernel.Acosh}, true
	case *op.Atanh:
		return kernel.Act{Op: kernel.Atanh}, true
	case *op.Sqrt:
		return kernel.Act{Op: kernel.Sqrt}, true
	case *op.Rsqrt:
		return kernel.Act{Op: kernel.Rsqrt}, true
	case *op.Abs:
		return kernel.Act{Op: kernel.Abs}, true
	case *op.Neg:
		return kernel.Act{Op: kernel.Neg}, true
	case *op.Floor:
		return kernel.Act{Op: kernel.Floor}, true
	case *op.Ceil:
		return kernel.Act{Op: kernel.Ceil}, true
	case *op.Round:
		return kernel.Act{Op: kernel.Round}, o.Ties == op.RoundEven
	}
	return a, false
}

// clip is a clamp between constant bounds in order; a bound that is absent is infinite.
func clip(g *ir.Network, n *graph.Node) (a kernel.Act, ok bool) {
	inf := float32(math.Inf(1))
	bounds := [2]float32{-inf, inf}
	for i := range bounds {
		if !ir.Given(n.In, i+1) {
			continue
		}
		c := g.Constant(n.In[i+1])
		if len(c) != 1 {
			return a, false
		}
		bounds[i] = c[0]
	}
	return kernel.Act{Op: kernel.Clamp, Alpha: bounds[0], Beta: bounds[1]}, bounds[0] <= bounds[1]
}

// siluFrom recognizes v * sigmoid(v).
func siluFrom(p *ir.Program, v graph.Value, first, multiply int) *gate {
	g := p.Net
	sig, mul := &g.Graph.Nodes[first], &g.Graph.Nodes[multiply]
	if _, ok := sig.Op.(*op.Sigmoid); !ok || g.OnlyUse(sig.Out[0]) != multiply {
		return nil
	}
	if _, ok := mul.Op.(*op.Mul); !ok || !slices.Contains(mul.In, v) || !slices.Contains(mul.In, sig.Out[0]) ||
		!g.IsFloat32(mul.Out[0]) {
		return nil
	}
	return &gate{kernel.Act{Op: kernel.SiLU}, mul.Out[0], []int{first, multiply}}
}

// gate is a value times a function of it, by several nodes.
type gate struct {
	act   kernel.Act
	out   graph.Value
	nodes []int
}

func finite(x float32) bool { return x-x == 0 }

// withNumber returns the output of node i when it combines v with one number close to c by an operator like o.
func withNumber(p *ir.Program, i int, v graph.Value, o graph.Op, c float64) (graph.Value, bool) {
	if p.Taken(i) || graph.NameOf(p.Net.Graph.Nodes[i].Op) != graph.NameOf(o) {
		return graph.None, false
	}
	n := &p.Net.Graph.Nodes[i]
	other := n.In[1]
	if _, div := o.(*op.Div); !div && other == v {
		other = n.In[0]
	} else if n.In[0] != v {
		return graph.None, false
	}
	off := 1e-6
	if p.Net.WasHalf(other) { // rounded to 11 bits
		off = c * 0x1p-11
	}
	x := p.Net.Constant(other)
	if len(x) != 1 || math.Abs(float64(x[0])-c) > off {
		return graph.None, false
	}
	return n.Out[0], true
}
