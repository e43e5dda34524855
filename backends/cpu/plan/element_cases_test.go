package plan

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// elementCases are graphs of element-wise functions and of normalization over rows.
var elementCases = []testCase{
	{"broadcasting", 0, func(m *maker) []graph.Value {
		x := m.input(3, 4, 5, 6)
		y := m.Add(&op.Sub{}, m.weights(4, 1, 1), x)
		y = m.Add(&op.Mul{}, y, m.input(3, 4, 1, 1))
		y = m.Add(&op.Add{}, m.input(6), y)
		y = m.Add(&op.Max{}, y, m.input(3, 1, 5, 6))
		y = m.Add(&op.Div{}, m.Float32(2), m.Add(&op.Add{}, m.Add(&op.Abs{}, y), m.Float32(1)))
		y = m.Add(&op.Min{}, y, m.input(5, 1))
		return []graph.Value{y, m.Add(&op.Add{}, x, x), m.Add(&op.Mul{}, m.input(1, 4), m.input(4))}
	}},
	{"rows", 0, func(m *maker) []graph.Value {
		x := m.input(3, 5, 37)
		y := m.Add(&op.LayerNorm{Axis: -1, Epsilon: 1e-5}, x, m.weights(37), m.weights(37))
		return []graph.Value{
			y, m.Add(&op.LogSoftmax{Axis: 2}, x), m.Add(&op.LayerNorm{Axis: 1, Epsilon: 1e-3}, x), m.norm(x, 5, 1),
			m.norm(x, 37, 2),
			m.Add(&op.ReduceSum{}, x, m.Int64s(1)), m.Add(&op.ReduceMin{KeepDims: true}, x, m.Int64s(0, 1)),
			m.Add(&op.ReduceMean{}, x),
		}
	}},
	{"softmax with beta", 0, func(m *maker) []graph.Value {
		x := m.input(2, 6, 5, 7)
		return []graph.Value{
			m.Add(&op.Softmax{Axis: -1, Beta: 2.5}, x), m.Add(&op.Softmax{Axis: -1, Beta: -0.5}, x),
			m.Add(&op.Softmax{Axis: 1, Beta: 0.25}, x), m.Add(&op.LogSoftmax{Axis: -1, Beta: 2.5}, x),
			m.Add(&op.LogSoftmax{Axis: -1, Beta: -0.5}, x), m.Add(&op.LogSoftmax{Axis: 1, Beta: 0.25}, x),
		}
	}},
	{"prelu", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.PRelu{}, m.input(2, 6, 5, 7), m.weights(6, 1, 1))
		y := m.Add(&op.PRelu{}, m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 6)), m.weights(8, 1, 1))
		return []graph.Value{x, y, m.Add(&op.PRelu{}, m.input(3, 9), m.weights(1)), m.Add(&op.PRelu{}, m.input(3, 9),
			m.weights(9)), m.Add(&op.PRelu{}, m.input(2, 3, 4), m.weights(2, 3, 4))}
	}},
	{"more functions", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 6, 5, 7), m.weights(8, 1, 1, 6))
		y := m.Add(&op.Add{}, m.Add(&op.Abs{}, x), m.Float32(0.5))
		return []graph.Value{
			m.Add(&op.Elu{Alpha: 0.7}, x), m.Add(&op.Softplus{}, x), m.Add(&op.Mish{}, x), m.Add(&op.Log{}, y),
			m.Add(&op.Square{}, x),
			m.Add(&op.Reciprocal{}, y), m.Add(&op.Pow{}, x, m.Float32(2)), m.Add(&op.Pow{}, x, m.Float32(3)),
		}
	}},
	{"norms", 0, func(m *maker) []graph.Value {
		x := m.input(2, 6, 5, 7)
		y := m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 6))
		return []graph.Value{
			m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, x, m.weights(6), m.weights(6)),
			m.Add(&op.GroupNorm{Groups: 3, Epsilon: 1e-3}, x, m.weights(6), m.weights(6)),
			m.Add(&op.L2Normalize{Epsilon: 1e-12}, y, m.Int64s(1)), m.Add(&op.L2Normalize{Epsilon: 0.5, Mode: op.EpsAdd}, x,
				m.Int64s(2, 3)), m.Add(&op.L2Normalize{}, x),
			m.Add(&op.RMSNorm{Axis: -1, Epsilon: 1e-6}, x, m.weights(7)), m.Add(&op.GroupNorm{Groups: 2, Epsilon: 1e-5}, y,
				m.weights(8), m.weights(8)),
		}
	}},
}
