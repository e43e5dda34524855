package plan

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// moveCases are graphs that move elements.
var moveCases = []testCase{
	{"transposes", 0, func(m *maker) []graph.Value {
		x := m.input(4, 5, 6, 7)
		y := m.Add(&op.Transpose{}, m.Add(&op.Conv{}, x, m.weights(9, 1, 1, 5)), m.Int64s(0, 2, 3, 1))
		out := []graph.Value{y, m.Add(&op.Transpose{}, x), m.Add(&op.Transpose{}, m.input(130, 140))}
		for _, p := range [][]int64{{1, 0, 2, 3}, {0, 1, 3, 2}, {2, 3, 0, 1}, {3, 0, 1, 2}, {1, 3, 0, 2}, {0, 3, 1, 2}} {
			out = append(out, m.Add(&op.Transpose{}, x, m.Int64s(p...)))
		}
		return out
	}},
	{"slices", 0, func(m *maker) []graph.Value {
		x := m.input(2, 12, 6, 5)
		y := m.Add(&op.Conv{}, x, m.weights(16, 1, 1, 12))
		cut := func(x graph.Value, from, to, axis, step int64) graph.Value {
			return m.Add(&op.Slice{}, x, m.Int64s(from), m.Int64s(to), m.Int64s(axis), m.Int64s(step))
		}
		a, b := cut(y, 0, 6, 1, 1), cut(y, 6, 16, 1, 1)
		strided := m.Add(&op.StridedSlice{BeginMask: 1, ShrinkAxisMask: 2, NewAxisMask: 8}, x, m.Int64s(0, 3, 4, 0, 0),
			m.Int64s(2, 4, 0, 1, 5), m.Int64s(1, 1, -2, 1, 2))
		return []graph.Value{
			m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, a, m.weights(4, 3, 3, 6)), m.Add(&op.Sigmoid{}, b), cut(y, 1, 5, 2, 2),
			cut(x, -1, -7, 2, -1), cut(x, 1, 2, 0, 1),
			m.Add(&op.Relu{}, cut(m.Add(&op.Relu{}, x), 1, 2, 0, 1)), m.Add(&op.Slice{}, y, m.Int64s(1, 2), m.Int64s(9, 4),
				m.Int64s(1, 3)), strided,
		}
	}},
	{"leading rows as they lie", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Relu{}, m.input(6, 7, 5))
		s := m.AddN(&op.Split{Axis: 0}, 3, x)
		y := m.Add(&op.Concat{Axis: 0}, m.Add(&op.Abs{}, s[0]), m.Add(&op.Softmax{Axis: -1}, s[2]),
			m.Add(&op.Transpose{}, m.Add(&op.Square{}, m.input(5, 7, 2))))
		a := m.Add(&op.Slice{}, y, m.Int64s(1), m.Int64s(5))
		b := m.Add(&op.Slice{}, a, m.Int64s(2), m.Int64s(5), m.Int64s(2))
		return []graph.Value{m.Add(&op.Exp{}, m.Add(&op.Slice{}, a, m.Int64s(1), m.Int64s(2))), m.Add(&op.Tanh{}, b),
			m.Add(&op.ReduceSum{}, s[1], m.Int64s(1))}
	}},
	{"a part beside its whole", 0, func(m *maker) []graph.Value {
		whole := func() graph.Value { return m.Add(&op.Sigmoid{}, m.input(6, 7, 5)) }
		first := func(x graph.Value) graph.Value { return m.Add(&op.Slice{}, x, m.Int64s(0), m.Int64s(1)) }
		x, y, z := whole(), whole(), whole()
		turn := func(x graph.Value) graph.Value { return m.Add(&op.Transpose{}, x) }
		negative := m.Add(&op.Sub{}, z, m.positive(5))
		return []graph.Value{turn(m.Add(&op.Div{}, first(x), x)), turn(m.Add(&op.Sub{}, y, first(y))),
			turn(m.Add(&op.PRelu{}, negative, first(negative)))}
	}},
	{"repeated", 0, func(m *maker) []graph.Value {
		x := m.input(3, 1, 4)
		return []graph.Value{
			m.Add(&op.Expand{}, x, m.Int64s(2, 1, 5, 1)), m.Add(&op.Tile{}, x, m.Int64s(2, 2, 1, 3)),
			m.Add(&op.Tile{}, m.input(2, 3), m.Int64s(2, 3)),
			m.Add(&op.Expand{}, x, m.Int64s(1)), m.Add(&op.Add{}, x, m.input(5, 1)), m.Add(&op.Mul{}, m.input(4, 1, 3, 1, 2),
				m.input(1, 5, 1, 6, 1)),
		}
	}},
	{"padding", 0, func(m *maker) []graph.Value {
		x := m.input(2, 4, 5, 6)
		y := m.Add(&op.Pad{}, m.Add(&op.Conv{}, x, m.weights(3, 1, 1, 4)), m.Int64s(0, 1, -1, 2, 1, 0, 3, -2), m.Float32(1.5))
		p := m.Add(&op.Pad{}, x, m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
		return []graph.Value{
			y, m.Add(&op.Relu{}, y), p, m.Add(&op.Conv{}, p, m.weights(2, 3, 3, 4)),
			m.Add(&op.Pad{}, m.input(3), m.Int64s(-3, 2)),
			m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, m.Add(&op.Pad{}, x, m.Int64s(0, 0, 1, 1, 0, 0, 1, 1), m.Float32(-9))),
			m.Add(&op.AveragePool{Kernel: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}},
				m.Add(&op.Pad{}, x, m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))),
		}
	}},
	{"gathered and chosen", 0, func(m *maker) []graph.Value {
		x := m.input(4, 5, 6)
		run := tensor.New(tensor.Int32, 3)
		copy(run.Data, tensor.Int32s(-1, 0, 3))
		m.in = append(m.in, run)
		cond := tensor.New(tensor.Bool, 5, 1)
		copy(cond.Data, []byte{0, 1, 0, 1, 1})
		m.in = append(m.in, cond)
		index, c := m.Input("", run.Type()), m.Input("", cond.Type())
		return []graph.Value{
			m.Add(&op.Gather{}, x, m.Int64s(2, 2, 0)), m.Add(&op.Gather{NegativeWraps: true}, x, index, m.Int64s(1)),
			m.Add(&op.Gather{NegativeWraps: true}, m.weights(9, 4), index),
			m.Add(&op.Where{}, c, x, m.input(6)), m.Add(&op.Where{}, c, m.Float32(1), m.input(2, 5, 3)),
		}
	}},
	{"blocks of cells and channels", 0, func(m *maker) []graph.Value {
		x := m.input(2, 8, 4, 6)
		y := m.Add(&op.Conv{}, x, m.weights(16, 1, 1, 8))
		out := []graph.Value{m.Add(&op.DepthToSpace{Block: 2, ChannelsLast: true}, m.input(1, 3, 2, 12)),
			m.Add(&op.SpaceToDepth{Block: 2, ChannelsLast: true}, m.input(1, 4, 6, 3))}
		for _, v := range []graph.Value{x, y} {
			out = append(out, m.Add(&op.DepthToSpace{Block: 2}, v), m.Add(&op.DepthToSpace{Block: 2, Mode: op.CRD}, v),
				m.Add(&op.SpaceToDepth{Block: 2}, v), m.Add(&op.SpaceToDepth{Block: 2, Mode: op.CRD}, v))
		}
		return append(out, m.Add(&op.DepthToSpace{Block: 2, ChannelsLast: true, Mode: op.CRD}, m.input(1, 3, 2, 12)),
			m.Add(&op.SpaceToDepth{Block: 2, ChannelsLast: true, Mode: op.CRD}, m.input(1, 4, 6, 3)))
	}},
}
