package plan

import (
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
		return []graph.Value{a, b, m.Add(&op.Softmax{Axis: -1}, c), m.Add(&op.Relu{}, d), m.Add(&op.MatMul{TransposeB: true}, x, x), b}
	}},
	{"the sum of two products of one value", 2, func(m *maker) []graph.Value {
		x := m.input(7, 12)
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.Add{}, m.Add(&op.MatMul{}, x, m.weights(12, 8)), m.Add(&op.MatMul{}, x, m.weights(12, 8))))}
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
		conv := func(x graph.Value, n, c int64) graph.Value { return m.Add(&op.Conv{}, x, m.weights(n, 1, 1, c), m.weights(n)) }
		a := m.Add(&op.Sigmoid{}, conv(x, 12, 16))
		b := m.Add(&op.Conv{Groups: 12, Pads: []int64{1, 1, 1, 1}}, a, m.weights(12, 3, 3, 1))
		late := m.Add(&op.Add{}, conv(x, 12, 16), m.Add(&op.Abs{}, b)) // waits, to add what is made later
		c := m.Add(&op.Add{}, x, conv(x, 16, 16))
		d := m.Add(&op.Conv{Strides: []int64{2, 2}}, x, m.weights(7, 1, 1, 16))
		e := m.Add(&op.Concat{Axis: 1}, b, conv(x, 4, 16), a)
		return []graph.Value{late, m.Add(&op.Relu{}, c), d, m.Add(&op.Conv{}, e, m.weights(3, 1, 1, 28))}
	}},
}
