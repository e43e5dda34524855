package plan

import (
	"math"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// productCases are graphs of matrix products.
var productCases = []testCase{
	{"products", 0, func(m *maker) []graph.Value {
		x := m.input(2, 5, 12)
		y := m.Add(&op.Gelu{}, m.Add(&op.FullyConnected{}, x, m.weights(20, 12), m.weights(20)))
		z := m.Add(&op.Add{}, x, m.Add(&op.MatMul{}, y, m.weights(20, 12), m.weights(12)))
		return []graph.Value{z, m.Add(&op.MatMul{TransposeB: true}, y, m.weights(3, 20), m.weights(1))}
	}},
	{"products with one column", 0, func(m *maker) []graph.Value {
		x := m.input(3, 5, 37)
		return []graph.Value{m.Add(&op.MatMul{}, x, m.input(3, 37, 1)), m.Add(&op.MatMul{TransposeB: true}, x,
			m.input(1, 37)), m.Add(&op.Relu{}, m.Add(&op.MatMul{}, x, m.Add(&op.Abs{}, m.input(37, 1))))}
	}},
	{"constants added", 5, func(m *maker) []graph.Value {
		x := m.Add(&op.Relu{}, m.Add(&op.Add{}, m.weights(1, 8, 1, 1), m.Add(&op.Conv{}, m.input(2, 6, 5, 5),
			m.weights(8, 1, 1, 6), m.weights(8))))
		y := m.Add(&op.Add{}, m.norm(m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 8)), 8, 1), m.Float32(3))
		z := m.Add(&op.Add{}, m.Add(&op.MatMul{}, y, m.weights(5, 8)), m.weights(8))
		return []graph.Value{m.Add(&op.Tanh{}, z)}
	}},
	{"gelu in parts", 2, func(m *maker) []graph.Value {
		gelu := func(y, inner graph.Value) graph.Value {
			y = m.Add(&op.Mul{}, y, m.Add(&op.Add{}, m.Add(&op.Erf{}, inner), m.Float32(1)))
			return m.Add(&op.Mul{}, m.Float32(0.5), y)
		}
		y := m.Add(&op.MatMul{}, m.input(3, 9), m.weights(9, 12), m.weights(12))
		y = gelu(y, m.Add(&op.Div{}, y, m.Float32(math.Sqrt2)))
		y = m.Add(&op.MatMul{}, y, m.weights(12, 12), m.weights(12))
		return []graph.Value{gelu(y, m.Add(&op.Mul{}, m.Float32(math.Sqrt2/2), y))}
	}},
	{"hard swish in parts", 6, func(m *maker) []graph.Value {
		x := m.input(1, 8, 6, 6)
		conv := func(x graph.Value) graph.Value { return m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 8)) }
		gate := func(x graph.Value) graph.Value {
			return m.Add(&op.Clip{}, m.Add(&op.Add{}, m.Float32(3), x), m.Float32(0), m.Float32(6))
		}
		x = conv(x)
		x = conv(m.Add(&op.Mul{}, x, m.Add(&op.HardSigmoid{Alpha: 1. / 6, Beta: 0.5}, x)))
		x = conv(m.Add(&op.Div{}, m.Add(&op.Mul{}, x, gate(x)), m.Float32(6)))
		x = conv(m.Add(&op.Mul{}, m.Add(&op.Mul{}, gate(x), m.Float32(1./6)), x))
		return []graph.Value{x}
	}},
	{"almost hard swish", 0, func(m *maker) []graph.Value {
		conv := func(x graph.Value) graph.Value { return m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 8)) }
		x := conv(m.input(1, 8, 6, 6))
		y := conv(m.Add(&op.Mul{}, x, m.Add(&op.HardSigmoid{Alpha: 0.2, Beta: 0.5}, x)))
		g := m.Add(&op.Clip{}, m.Add(&op.Add{}, y, m.Float32(3)), m.Float32(0), m.Float32(6))
		z := conv(m.Add(&op.Div{}, m.Add(&op.Mul{}, y, g), m.Float32(6)))
		h := m.Add(&op.Clip{}, m.Add(&op.Add{}, z, m.Float32(3)), m.Float32(0), m.Float32(5))
		return []graph.Value{g, m.Add(&op.Div{}, m.Add(&op.Mul{}, z, h), m.Float32(6))}
	}},
	{"heads of attention as they lie", 7, func(m *maker) []graph.Value {
		x := m.input(2, 7, 12)
		head := func(perm ...int64) graph.Value {
			return m.Add(&op.Transpose{}, m.Add(&op.Reshape{}, m.Add(&op.MatMul{}, x, m.weights(12, 12), m.weights(12)),
				m.Int64s(2, 7, 3, 4)), m.Int64s(perm...))
		}
		s := m.Add(&op.Div{}, m.Add(&op.MatMul{}, head(0, 2, 1, 3), head(0, 2, 3, 1)), m.Float32(2))
		s = m.Add(&op.Softmax{Axis: -1}, m.Add(&op.Add{}, s, m.Add(&op.Abs{}, m.input(2, 1, 1, 7))))
		y := m.Add(&op.Transpose{}, m.Add(&op.MatMul{}, s, head(0, 2, 1, 3)), m.Int64s(0, 2, 1, 3))
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.Reshape{}, y, m.Int64s(2, 7, 12)))}
	}},
	{"scaled and masked products", 0, func(m *maker) []graph.Value {
		q, k := m.input(2, 3, 5, 8), m.input(2, 3, 8, 6)
		product := func() graph.Value { return m.Add(&op.MatMul{}, q, k) }
		add := func(x graph.Value, dims ...int64) graph.Value { return m.Add(&op.Add{}, m.input(dims...), x) }
		t := m.Add(&op.Transpose{}, m.input(4, 2, 5), m.Int64s(1, 2, 0))
		return []graph.Value{
			add(product(), 5, 6), m.Add(&op.Relu{}, add(m.Add(&op.Mul{}, m.Float32(0.3), product()), 3, 1, 6)),
			add(product(), 6), add(product(), 2, 1, 5, 6), add(product(), 5, 1),
			m.Add(&op.Sub{}, m.Float32(2), m.Add(&op.Relu{}, add(product(), 1, 3, 5, 6))),
			m.Add(&op.Div{}, product(), m.Float32(1e30)), add(m.Add(&op.Add{}, product(), m.Float32(1)), 6),
			m.Add(&op.MatMul{}, t, m.input(2, 4, 3)), m.Add(&op.MatMul{TransposeB: true}, m.input(2, 3, 4), t), t,
			m.Add(&op.MatMul{}, m.Add(&op.Transpose{}, m.input(2, 4, 6), m.Int64s(0, 2, 1)), m.input(1, 4, 3)),
			m.Add(&op.Transpose{}, product(), m.Int64s(2, 0, 1, 3)), m.Add(&op.Transpose{}, product(), m.Int64s(0, 1, 3, 2)),
		}
	}},
	{"products that threads share", 0, func(m *maker) []graph.Value {
		a, b, c := m.input(2, 20, 1000), m.input(1000, 130), m.input(130, 1000)
		y := m.Add(&op.Mul{}, m.Add(&op.MatMul{}, a, b), m.Float32(0.1))
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.Add{}, y, m.input(1, 20, 130))),
			m.Add(&op.Add{}, m.Add(&op.MatMul{TransposeB: true}, a, c), m.input(130)),
			m.Add(&op.MatMul{}, m.input(1, 110, 100), m.input(1, 100, 131)),
			m.Add(&op.MatMul{}, a, m.input(2, 1000, 98))}
	}},
	{"gelu with another number", 0, func(m *maker) []graph.Value {
		y := m.Add(&op.MatMul{}, m.input(3, 9), m.weights(9, 12), m.weights(12))
		z := m.Add(&op.Add{}, m.Add(&op.Erf{}, m.Add(&op.Div{}, y, m.Float32(1.5))), m.Float32(1))
		return []graph.Value{m.Add(&op.Mul{}, m.Add(&op.Mul{}, z, y), m.Float32(0.5)), z}
	}},
	{"attention", 0, func(m *maker) []graph.Value {
		q, k, v := m.input(2, 3, 7, 8), m.input(2, 3, 6, 8), m.input(1, 3, 6, 5)
		s := m.Add(&op.Div{}, m.Add(&op.MatMul{TransposeB: true}, q, k), m.Float32(2.8))
		y := m.Add(&op.MatMul{}, m.Add(&op.Softmax{Axis: -1}, s), v)
		y = m.Add(&op.Transpose{}, y, m.Int64s(0, 2, 1, 3))
		return []graph.Value{m.Add(&op.Reshape{}, y, m.Int64s(2, 7, -1))}
	}},
	{"rows of a product in columns", 3, func(m *maker) []graph.Value {
		y := m.Add(&op.MatMul{}, m.input(7, 9), m.weights(9, 12), m.weights(12))
		s := m.AddN(&op.Split{Axis: 1}, 3, y)
		return []graph.Value{m.Add(&op.MatMul{}, s[0], m.weights(4, 6)),
			m.Add(&op.Add{}, m.Add(&op.MatMul{}, s[1], m.weights(4, 4)), s[2])}
	}},
	{"quantized and back", 8, func(m *maker) []graph.Value {
		zero := func(v int8) graph.Value { return m.Const("", tensor.T(tensor.Int8), []byte{byte(v)}) }
		round := func(x graph.Value, scale float32, z graph.Value) []graph.Value {
			q := m.Add(&op.Quantize{Axis: 1}, x, m.Float32(scale), z)
			return []graph.Value{m.Add(&op.Dequantize{Axis: 1}, q, m.Float32(scale), z),
				m.Add(&op.Dequantize{}, q, m.Float32(scale), z)}
		}
		x := round(m.input(1, 8, 5, 6), 0.05, zero(-7))
		y := m.Add(&op.Relu{}, m.Add(&op.Conv{}, x[0], m.weights(12, 1, 1, 8)))
		y = round(y, 0.02, zero(-128))[1]
		y = m.Add(&op.Dequantize{}, m.Add(&op.Quantize{}, y, m.Float32(0.03)), m.Float32(0.04))
		return []graph.Value{m.Add(&op.Conv{}, y, m.weights(4, 1, 1, 12)), m.Add(&op.Add{}, x[0], x[1])}
	}},
}
