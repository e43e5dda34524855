package devicecheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// normal is a constant of normally distributed numbers, as filters have them: the variance of a sum of fan products is
// that of one operand.
func normal(fan int64, dims ...int64) opcase.Operand {
	o := opcase.Real(dims...)
	n, _ := o.Type.Shape.Count()
	r := rand.New(rand.NewPCG(3, uint64(n)))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() / math.Sqrt(float64(fan)))
	}
	o.Constant = tensor.Float32s(v...)
	return o
}

// sizedCases are operators alone, at sizes that real networks have.
func sizedCases(long bool) (list []opcase.Case) {
	add := func(o graph.Op, in ...opcase.Operand) { list = append(list, opcase.One(o, in...)) }
	real, axes := opcase.Real, opcase.Numbers
	lengths := []int64{1024}
	if long {
		lengths = []int64{1000, 1024, 2049, 4096}
	}
	for _, k := range lengths {
		for _, rows := range []int64{1, 3, 4, 9} {
			add(&op.MatMul{}, real(rows, k), normal(k, k, 37))
			add(&op.MatMul{TransposeB: true}, real(rows, k), normal(k, 37, k), normal(1, 37))
		}
		add(&op.MatMul{}, real(2, 5, k), real(2, k, 19))
		add(&op.MatMul{}, real(1, k), real(k, 19))
		add(&op.MatMul{TransposeA: true}, real(k, 3), real(k, 5))
		add(&op.FullyConnected{}, real(3, k), normal(k, 21, k), normal(1, 21))
		add(&op.FullyConnected{}, real(3, k), real(21, k))
		add(&op.Einsum{Equation: "bik,bkj->bij"}, real(2, 3, k), real(2, k, 7))
		add(&op.Conv{Groups: 1}, real(1, k, 3, 5), normal(k, 19, 1, 1, k), normal(1, 19))
		add(&op.Conv{Groups: 1, ChannelsLast: true}, real(1, 3, 5, k), normal(k, 19, 1, 1, k), normal(1, 19))
		c := k / 16
		add(&op.Conv{Groups: 1, Pads: []int64{1, 1, 1, 1}}, real(1, c, 7, 9), normal(9*c, 33, 3, 3, c), normal(1, 33))
		add(&op.Conv{Groups: 1, Pads: []int64{1, 1, 1, 1}}, real(1, c, 14, 14), normal(9*c, c, 3, 3, c), normal(1, c))
		add(&op.Conv{Groups: 1, Pads: []int64{1, 0, 0, 2}, Strides: []int64{2, 1}, Dilations: []int64{1, 2}},
			real(1, c, 9, 9), normal(9*c, 17, 3, 3, c))
		add(&op.Conv{Groups: c, Pads: []int64{1, 1, 1, 1}}, real(1, c, 7, 9), normal(9, c, 3, 3, 1), normal(1, c))
		add(&op.Conv{Groups: c, Pads: []int64{2, 2, 2, 2}, Strides: []int64{2, 2}, ChannelsLast: true}, real(1, 9, 9, c),
			normal(25, c, 5, 5, 1), normal(1, c))
		add(&op.ConvTranspose{Groups: 1, Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, real(1, c, 5, 7),
			normal(4*c, 13, 4, 4, c), normal(1, 13))
		for _, o := range []graph.Op{&op.ReduceSum{}, &op.ReduceMean{}, &op.ReduceL1{}, &op.ReduceL2{}, &op.ReduceSumSquare{},
			&op.ReduceLogSum{}, &op.ReduceLogSumExp{}, &op.ReduceMax{}, &op.ReduceMin{}} {
			add(o, real(3, k), axes(-1))
			add(o, real(k, 5), axes(0))
			add(o, real(3, k/4, 7), axes(1))
			add(o, real(2, 3, k/8, 8), axes(2, 3))
		}
		for _, axis := range []int64{-1, 0} {
			shape := []int64{3, k}
			if axis == 0 {
				shape = []int64{k, 3}
			}
			add(&op.Softmax{Axis: axis}, real(shape...))
			add(&op.LogSoftmax{Axis: axis}, real(shape...))
			add(&op.LpNorm{Axis: axis, P: 2}, real(shape...))
			add(&op.L2Normalize{Epsilon: 1e-12}, real(shape...), axes(axis))
			add(&op.CumSum{}, real(shape...), opcase.Given(opcase.Of(tensor.Int64), float64(axis)))
		}
		add(&op.LayerNorm{Axis: -1, Epsilon: 1e-5}, real(5, k), normal(1, k), normal(1, k))
		add(&op.RMSNorm{Axis: -1, Epsilon: 1e-5}, real(5, k), normal(1, k))
		add(&op.GroupNorm{Groups: 4, Epsilon: 1e-5}, real(1, c/4*4, 7, 9), normal(1, c/4*4), normal(1, c/4*4))
		add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, real(1, 3, k/8, 9), normal(1, 3), normal(1, 3))
		add(&op.AveragePool{Global: true}, real(1, 5, k/8, 9))
		add(&op.AveragePool{Kernel: []int64{3, 3}, Strides: []int64{1, 2}, Pads: []int64{1, 0, 1, 2}}, real(1, c, 9, 11))
		add(&op.LpPool{Kernel: []int64{7, 7}}, real(1, c, 9, 11))
		add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordHalfPixel, Axes: []int64{2, 3}}, real(1, 5, 9, 13),
			opcase.Absent, opcase.Absent, axes(18, 29))
		add(&op.STFT{OneSided: true}, real(1, k, 1), opcase.Given(opcase.Of(tensor.Int64), 100),
			opcase.Positive(real(400)))
		add(&op.DFT{OneSided: true}, real(1, k, 1))
	}
	add(&op.BitCast{To: tensor.Int16}, real(5, 7))
	attention := []opcase.Operand{real(1, 2, 65, 64), real(1, 2, 65, 64), real(1, 2, 65, 64)}
	add(&op.Attention{}, attention...)
	add(&op.Attention{Causal: true}, attention...)
	add(&op.Attention{Heads: 4, KVHeads: 2}, real(1, 7, 128), real(1, 33, 64), real(1, 33, 64))
	add(&op.Attention{}, real(1, 2, 1, 64), real(1, 2, 129, 64), real(1, 2, 129, 64))
	add(&op.LRN{Before: 2, After: 2, Alpha: 1e-4, Beta: 0.75, Bias: 1, Axis: 1}, real(1, 33, 7, 9))
	add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, real(1, 33, 7, 9), normal(1, 33), normal(1, 33), normal(1, 33),
		opcase.Positive(real(33)))
	add(&op.RotaryEmbedding{}, real(1, 4, 9, 64), normal(2, 1, 9, 32), normal(2, 1, 9, 32))
	const hidden = 67
	add(&op.GRU{}, real(5, 2, 65), normal(65, 1, 3*hidden, 65), normal(hidden, 1, 3*hidden, hidden),
		normal(1, 1, 6*hidden))
	add(&op.LSTM{}, real(5, 2, 65), normal(65, 1, 4*hidden, 65), normal(hidden, 1, 4*hidden, hidden),
		normal(1, 1, 8*hidden))
	add(&op.RNN{}, real(5, 2, 65), normal(65, 1, hidden, 65), normal(hidden, 1, hidden, hidden), normal(1, 1, 2*hidden))
	for i := len(list) - 3; i < len(list); i++ {
		list[i] = list[i].Gives(2)
	}
	return list
}

// network makes a graph of halves; operands are added in type d.
type network struct {
	*graph.Builder
	d  tensor.DType
	in []tensor.Tensor
	r  *rand.Rand
}

func (n *network) input(dims ...int64) graph.Value {
	x := tensor.New(n.d, dims...)
	spread(n.r, n.d, x.Data)
	n.in = append(n.in, x)
	return n.Input("", x.Type())
}

func (n *network) weights(fan int64, dims ...int64) graph.Value {
	o := normal(fan, dims...)
	count, _ := o.Type.Shape.Count()
	return n.Const("", tensor.T(n.d, dims...), widened(tensor.Float32, tensor.Float32, n.d, int(count), o.Constant))
}

func (n *network) number(x float64) graph.Value { return n.named("", x) }

func (n *network) named(name string, x float64) graph.Value {
	c := tensor.New(n.d)
	tensor.PutFloat(n.d, c.Data, 0, x, false)
	return n.Const(name, c.Type(), c.Data)
}

// networkCases are graphs of several operators, which plans fuse.
func networkCases(long bool) (list []halfCase) {
	add := func(name string, build func(n *network) []graph.Value) {
		list = append(list, halfCase{name, "", func(d tensor.DType) (*graph.Graph, []tensor.Tensor, bool) {
			n := &network{graph.NewBuilder(name), d, nil, rand.New(rand.NewPCG(5, uint64(len(name))))}
			n.Output(build(n)...)
			g, err := n.Graph()
			if err != nil {
				panic(fmt.Sprintf("%s: %v", name, err))
			}
			return g, n.in, true
		}})
	}
	activations := map[string]func(n *network, x graph.Value) graph.Value{
		"relu":  func(n *network, x graph.Value) graph.Value { return n.Add(&op.Relu{}, x) },
		"relu6": func(n *network, x graph.Value) graph.Value { return n.Add(&op.Clip{}, x, n.number(0), n.number(6)) },
		"silu":  func(n *network, x graph.Value) graph.Value { return n.Add(&op.Mul{}, x, n.Add(&op.Sigmoid{}, x)) },
		"hard swish": func(n *network, x graph.Value) graph.Value {
			return n.Add(&op.HardSwish{}, x)
		},
		"leaky": func(n *network, x graph.Value) graph.Value { return n.Add(&op.LeakyRelu{Alpha: 0.1}, x) },
		"gelu":  func(n *network, x graph.Value) graph.Value { return n.Add(&op.Gelu{}, x) },
		"gelu erf": func(n *network, x graph.Value) graph.Value {
			e := n.Add(&op.Erf{}, n.Add(&op.Div{}, x, n.named(rootOfTwo, math.Sqrt2)))
			return n.Add(&op.Mul{}, n.Add(&op.Mul{}, x, n.Add(&op.Add{}, e, n.number(1))), n.number(0.5))
		},
		"gelu tanh": func(n *network, x graph.Value) graph.Value { return n.Add(&op.Gelu{Approximate: op.GeluTanh}, x) },
		"mish":      func(n *network, x graph.Value) graph.Value { return n.Add(&op.Mish{}, x) },
		"tanh":      func(n *network, x graph.Value) graph.Value { return n.Add(&op.Tanh{}, x) },
	}
	var names []string
	for name := range activations {
		names = append(names, name)
	}
	slices.Sort(names)
	c := int64(48)
	k := int64(512)
	if long {
		c, k = 160, 2048
	}
	for _, name := range names {
		act := activations[name]
		add("conv, bias, "+name, func(n *network) []graph.Value {
			x := n.input(1, c, 9, 11)
			pads := []int64{1, 1, 1, 1}
			y := n.Add(&op.Conv{Groups: 1, Pads: pads}, x, n.weights(9*c, 35, 3, 3, c), n.weights(1, 35))
			z := n.Add(&op.Conv{Groups: c, Pads: pads}, x, n.weights(9, c, 3, 3, 1), n.weights(1, c))
			return []graph.Value{act(n, y), act(n, z)}
		})
		add("matmul, bias, "+name, func(n *network) []graph.Value {
			y := n.Add(&op.MatMul{}, n.input(5, k), n.weights(k, k, 67))
			return []graph.Value{act(n, n.Add(&op.Add{}, y, n.weights(1, 67)))}
		})
	}
	add("conv, norm, sum, relu", func(n *network) []graph.Value {
		y := n.Add(&op.Conv{Groups: 1}, n.input(1, c, 9, 11), n.weights(c, 35, 1, 1, c))
		positive := n.Add(&op.Exp{}, n.weights(1, 35))
		y = n.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, y, n.weights(1, 35), n.weights(1, 35), n.weights(1, 35), positive)
		return []graph.Value{n.Add(&op.Relu{}, n.Add(&op.Add{}, y, n.input(1, 35, 9, 11)))}
	})
	add("attention of parts", func(n *network) []graph.Value {
		q, kt, v := n.input(1, 3, 33, 64), n.input(1, 3, 64, 65), n.input(1, 3, 65, 64)
		s := n.Add(&op.Mul{}, n.Add(&op.MatMul{}, q, kt), n.number(0.125))
		return []graph.Value{n.Add(&op.MatMul{}, n.Add(&op.Softmax{Axis: -1}, n.Add(&op.Add{}, s, n.input(33, 65))), v)}
	})
	add("layer norm of parts", func(n *network) []graph.Value {
		x := n.input(7, k+3)
		mean := func(x graph.Value) graph.Value { return n.Add(&op.ReduceMean{KeepDims: true}, x, n.Int64s(-1)) }
		centered := n.Add(&op.Sub{}, x, mean(x))
		variance := mean(n.Add(&op.Mul{}, centered, centered))
		y := n.Add(&op.Div{}, centered, n.Add(&op.Sqrt{}, n.Add(&op.Add{}, variance, n.number(1e-3))))
		return []graph.Value{n.Add(&op.Add{}, n.Add(&op.Mul{}, y, n.weights(1, k+3)), n.weights(1, k+3))}
	})
	add("feed forward", func(n *network) []graph.Value {
		x := n.input(5, 96)
		y := n.Add(&op.LayerNorm{Axis: -1, Epsilon: 1e-5}, x, n.weights(1, 96), n.weights(1, 96))
		y = n.Add(&op.Gelu{}, n.Add(&op.MatMul{}, y, n.weights(96, 96, 384)))
		return []graph.Value{n.Add(&op.Add{}, n.Add(&op.MatMul{}, y, n.weights(384, 384, 96)), x)}
	})
	return list
}
