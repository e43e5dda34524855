package plan

import (
	"math"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// fusionCases are graphs of several nodes that become few steps.
var fusionCases = []testCase{
	{"products of one value are one", 3, func(m *maker) []graph.Value {
		x, r := m.input(2, 7, 12), m.input(2, 7, 9)
		a := m.Add(&op.Relu{}, m.Add(&op.MatMul{}, x, m.weights(12, 33), m.weights(33)))
		b := m.Add(&op.Add{}, r, m.Add(&op.MatMul{}, x, m.weights(12, 9)))
		c := m.Add(&op.Tanh{}, m.Add(&op.FullyConnected{}, x, m.weights(64, 12), m.weights(64)))
		d := m.Add(&op.MatMul{TransposeB: true}, x, m.weights(1, 5, 12))
		return []graph.Value{a, b, m.Add(&op.Softmax{Axis: -1}, c), m.Add(&op.Relu{}, d), m.Add(&op.MatMul{TransposeB: true},
			x, x), b}
	}},
	{"values times functions of them", 5, func(m *maker) []graph.Value {
		x := m.input(3, 70)
		silu := m.Add(&op.Mul{}, m.Add(&op.Sigmoid{}, x), x)
		y := m.input(2, 33)
		erf := m.Add(&op.Erf{}, m.Add(&op.Div{}, y, m.Float32(math.Sqrt2)))
		gelu := m.Add(&op.Mul{}, m.Add(&op.Mul{}, y, m.Add(&op.Add{}, erf, m.Float32(1))), m.Float32(0.5))
		z := m.input(5, 9)
		swish := m.Add(&op.Mul{}, z, m.Add(&op.HardSigmoid{Alpha: 1.0 / 6, Beta: 0.5}, z))
		return []graph.Value{silu, gelu, swish, m.Add(&op.Mul{}, m.input(4, 9), m.Add(&op.Sigmoid{}, m.input(1, 9)))}
	}},
	{"the sum of two products of one value", 2, func(m *maker) []graph.Value {
		x := m.input(7, 12)
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.Add{}, m.Add(&op.MatMul{}, x, m.weights(12, 8)),
			m.Add(&op.MatMul{}, x, m.weights(12, 8))))}
	}},
	{"a shortcut beside the first layer of a block", 5, func(m *maker) []graph.Value {
		x := m.input(1, 32, 9, 14)
		conv := func(x graph.Value, n, k, c int64) graph.Value {
			return m.Add(&op.Conv{Pads: []int64{k / 2, k / 2, k / 2, k / 2}}, x, m.weights(n, k, k, c), m.weights(n))
		}
		y := m.Add(&op.Relu{}, conv(x, 32, 1, 32))
		y = m.Add(&op.Relu{}, conv(y, 32, 3, 32))
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.Add{}, conv(y, 48, 1, 32), m.norm(conv(x, 48, 1, 32), 48, 1)))}
	}},
	{"branches of 1x1 convolutions", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 8, 6, 5), m.weights(16, 1, 1, 8))
		conv := func(x graph.Value, n, c int64) graph.Value {
			return m.Add(&op.Conv{}, x, m.weights(n, 1, 1, c), m.weights(n))
		}
		a := m.Add(&op.Sigmoid{}, conv(x, 12, 16))
		b := m.Add(&op.Conv{Groups: 12, Pads: []int64{1, 1, 1, 1}}, a, m.weights(12, 3, 3, 1))
		late := m.Add(&op.Add{}, conv(x, 12, 16), m.Add(&op.Abs{}, b)) // waits, to add what is made later
		c := m.Add(&op.Add{}, x, conv(x, 16, 16))
		d := m.Add(&op.Conv{Strides: []int64{2, 2}}, x, m.weights(7, 1, 1, 16))
		e := m.Add(&op.Concat{Axis: 1}, b, conv(x, 4, 16), a)
		return []graph.Value{late, m.Add(&op.Relu{}, c), d, m.Add(&op.Conv{}, e, m.weights(3, 1, 1, 28))}
	}},
	{"a sum and its normalization", 4, func(m *maker) []graph.Value {
		x, r := m.input(3, 5, 37), m.input(3, 5, 37)
		norm := func(x graph.Value) graph.Value {
			return m.Add(&op.LayerNorm{Axis: -1, Epsilon: 1e-5}, x, m.weights(37), m.weights(37))
		}
		a := m.Add(&op.Add{}, x, r)
		b := norm(m.Add(&op.Add{}, norm(a), m.Add(&op.Abs{}, a)))
		return []graph.Value{b, a, m.Add(&op.LayerNorm{Axis: 1, Epsilon: 1e-3}, m.Add(&op.Add{}, x, x), m.input(5, 37))}
	}},
	{"sums that are not normalized at once", 7, func(m *maker) []graph.Value {
		x, r := m.input(3, 5, 37), m.input(5, 37)
		g := m.Add(&op.Exp{}, m.input(37))
		a := m.Add(&op.LayerNorm{Axis: -1}, m.Add(&op.Add{}, x, r), g)
		b := m.Add(&op.Add{}, x, x)
		return []graph.Value{a, m.Add(&op.LayerNorm{Axis: -1}, b,
			m.Add(&op.Abs{}, m.Add(&op.ReduceMax{}, b, m.Int64s(0, 1))))}
	}},
	{"normalization in parts", 4, func(m *maker) []graph.Value {
		mean := func(x graph.Value, axes ...int64) graph.Value {
			return m.Add(&op.ReduceMean{KeepDims: true}, x, m.Int64s(axes...))
		}
		x := m.input(2, 5, 33)
		sum := m.Add(&op.Add{}, x, m.input(2, 5, 33))
		d := m.Add(&op.Sub{}, sum, mean(sum, -1))
		y := m.Add(&op.Div{}, d, m.Add(&op.Sqrt{}, m.Add(&op.Add{}, mean(m.Add(&op.Pow{}, d, m.Float32(2)), -1),
			m.Float32(1e-5))))
		y = m.Add(&op.Add{}, m.weights(33), m.Add(&op.Mul{}, y, m.weights(33)))
		mu := mean(y, 1, 2)
		d, e := m.Add(&op.Sub{}, y, mu), m.Add(&op.Sub{}, y, mu)
		root := m.Add(&op.Sqrt{}, m.Add(&op.Add{}, m.Float32(1e-3), mean(m.Add(&op.Mul{}, e, e), 1, 2)))
		y = m.Add(&op.Mul{}, m.Add(&op.Reciprocal{}, root), d)
		d = m.Add(&op.Sub{}, y, mean(y, 2))
		y = m.Add(&op.Mul{}, d, m.Add(&op.Rsqrt{}, m.Add(&op.Add{}, mean(m.Add(&op.Square{}, d), 2), m.Float32(0.1))))
		return []graph.Value{m.Add(&op.Add{}, y, m.weights(33)), m.Add(&op.Relu{}, sum)}
	}},
	{"almost a normalization", 0, func(m *maker) []graph.Value {
		mean := func(x graph.Value, axis int64) graph.Value {
			return m.Add(&op.ReduceMean{KeepDims: true}, x, m.Int64s(axis))
		}
		x := m.input(2, 5, 33)
		norm := func(d, square graph.Value, axis int64) graph.Value {
			return m.Add(&op.Div{}, d, m.Add(&op.Sqrt{}, m.Add(&op.Add{}, mean(square, axis), m.Float32(0.1))))
		}
		centred := func(axis int64) graph.Value { return m.Add(&op.Sub{}, x, mean(x, axis)) }
		a, b, c, d := centred(2), centred(1), centred(2), centred(2)
		cube := m.Add(&op.Abs{}, m.Add(&op.Pow{}, c, m.Float32(3)))
		return []graph.Value{
			norm(a, m.Add(&op.Square{}, a), 1), norm(b, m.Add(&op.Square{}, b), 1), norm(c, cube, 2),
			norm(d, m.Add(&op.Square{}, d), 2), d,
			norm(x, m.Add(&op.Square{}, centred(2)), 2),
		}
	}},
	{"residual and activation of depthwise convolutions", 3, func(m *maker) []graph.Value {
		conv := func(x graph.Value) graph.Value {
			return m.Add(&op.Conv{Groups: 12, Pads: []int64{1, 1, 1, 1}, ChannelsLast: true}, x, m.weights(12, 3, 3, 1),
				m.weights(12))
		}
		x := m.input(2, 7, 9, 12)
		y := m.Add(&op.Relu{}, m.Add(&op.Add{}, conv(x), x))
		y = m.Add(&op.Add{}, m.Add(&op.Clip{}, conv(y), m.Float32(0), m.Float32(6)), y)
		return []graph.Value{m.Add(&op.Add{}, x, m.Add(&op.HardSwish{}, conv(y)))}
	}},
	{"residual of a depthwise convolution in columns", 6, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 8, 9, 7), m.weights(24, 1, 1, 8))
		h := m.AddN(&op.Split{Axis: 1}, 2, x)
		y := m.Add(&op.Sigmoid{}, m.Add(&op.Add{}, h[0], m.Add(&op.Conv{Groups: 12, Pads: []int64{1, 1, 1, 1}}, h[1],
			m.weights(12, 3, 3, 1))))
		return []graph.Value{m.Add(&op.Conv{}, m.Add(&op.Concat{Axis: 1}, h[0], y), m.weights(5, 1, 1, 24))}
	}},
	{"bounds that are made of constants", 1, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{ChannelsLast: true}, m.input(1, 6, 6, 8), m.weights(8, 1, 1, 8))
		top := m.Add(&op.Mul{}, m.Float32(2), m.Add(&op.Identity{}, m.Float32(3)))
		return []graph.Value{m.Add(&op.Clip{}, x, m.Add(&op.Identity{}, m.Float32(0)), top)}
	}},
	{"slopes that only the run knows", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 6, 5, 7), m.weights(8, 1, 1, 6))
		s := m.Add(&op.Conv{}, m.input(2, 6, 1, 1), m.weights(8, 1, 1, 6))
		return []graph.Value{
			m.Add(&op.PRelu{}, x, s), m.Add(&op.PRelu{}, x, m.input(8, 5, 7)), m.Add(&op.PRelu{}, x, m.input(1)),
			m.Add(&op.PRelu{}, m.input(3, 9), m.input(9)),
			m.Add(&op.PRelu{}, x, m.input(8, 1, 1)),
		}
	}},
	{"padding before the largest", 6, func(m *maker) []graph.Value {
		pad := func(x graph.Value, v float32) graph.Value {
			return m.Add(&op.Pad{}, x, m.Int64s(0, 0, 1, 1, 0, 0, 1, 2), m.Float32(v))
		}
		pool := func(x graph.Value, pads ...int64) graph.Value {
			return m.Add(&op.MaxPool{Kernel: []int64{3, 3}, Strides: []int64{2, 2}, Pads: pads}, x)
		}
		x := m.Add(&op.Conv{}, m.input(1, 6, 9, 8), m.weights(8, 1, 1, 6))
		y := pool(pad(x, float32(math.Inf(-1))), 1, 0, 1, 0)
		z := m.Add(&op.Clip{}, m.Add(&op.Conv{}, y, m.weights(8, 1, 1, 8)), m.Float32(0), m.Float32(6))
		return []graph.Value{pool(pad(m.Add(&op.Identity{}, z), 0))}
	}},
	{"padding that may be the largest", 0, func(m *maker) []graph.Value {
		pad := func(x graph.Value, v float32) graph.Value {
			return m.Add(&op.Pad{}, x, m.Int64s(0, 0, 3, 0, 0, 0, 0, 3), m.Float32(v))
		}
		pool := func(x graph.Value) graph.Value { return m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, x) }
		x := m.input(1, 2, 5, 6)
		y := m.Add(&op.Relu{}, x)
		return []graph.Value{pool(pad(x, 0)), pool(pad(y, 0)), pool(pad(y, 0.5)), pool(pad(x, -1)),
			pool(pad(x, float32(math.Inf(-1))))}
	}},
	{"normalizations of NHWC images", 7, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 6, 21, 19), m.weights(12, 1, 1, 6))
		y := m.Add(&op.GroupNorm{Groups: 3, Epsilon: 1e-5}, m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-3}, x, m.weights(12),
			m.weights(12)), m.weights(12), m.weights(12))
		z := m.Add(&op.Transpose{}, m.Add(&op.Conv{}, y, m.weights(64, 1, 1, 12)), m.Int64s(0, 2, 3, 1))
		z = m.Add(&op.GroupNorm{Groups: 8, Epsilon: 1e-5, ChannelsLast: true}, z, m.weights(64), m.weights(64))
		return []graph.Value{m.Add(&op.InstanceNorm{Axis: -1, Epsilon: 1e-5}, z, m.weights(64), m.weights(64))}
	}},
}
