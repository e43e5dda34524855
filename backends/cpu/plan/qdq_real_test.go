package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// skewed is a filter with 256 codes between the least and the largest number of each output and 0, as the converters of
// boards make them: [outputs, inputs, spatial].
func (m *maker) skewed(dims ...int64) graph.Value {
	n, fan := dims[0], int64(1)
	for _, d := range dims[1:] {
		fan *= d
	}
	w, scale, zero := tensor.New(tensor.Int8, dims...), tensor.New(tensor.Float32, n), tensor.New(tensor.Int8, n)
	for j := range n {
		z := []int{-128, 127, -50, 3, 90}[j%5]
		zero.Data[j], run.Floats(scale.Data)[j] = byte(z), (0.5+m.rnd.Float32())/(80*float32(fan))
		row := w.Data[j*fan:][:fan]
		for k := range row {
			row[k] = byte(m.rnd.IntN(256))
		}
		row[m.rnd.IntN(int(fan))] = 0x7f // both ends, as far as there is room
		row[m.rnd.IntN(int(fan))] = 0x80
	}
	perm := []int64{0}
	for i := range len(dims) - 2 {
		perm = append(perm, int64(i+2))
	}
	v := m.Add(&op.Dequantize{}, m.Const("", w.Type(), w.Data), m.Const("", scale.Type(), scale.Data),
		m.Const("", zero.Type(), zero.Data))
	return m.Add(&op.Transpose{}, v, m.Int64s(append(perm, 1)...))
}

func (m *maker) conv3(x graph.Value, o, i int64) graph.Value {
	return m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.skewed(o, i, 3, 3), m.weights(o))
}

// realCases are graphs in which values are rounded once for several operators, as boards do.
var realCases = []testCase{
	{"depthwise filters of nine bits", 4, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 70, 9, 8), wide)
		y := m.qdq(m.Add(&op.Conv{Groups: 70, Pads: []int64{1, 1, 1, 1}}, x, m.skewed(70, 1, 3, 3), m.weights(70)), wide)
		z := m.qdq(m.Add(&op.Conv{Groups: 70, Pads: []int64{1, 1, 1, 1}, Strides: []int64{2, 2}}, y,
			m.skewed(70, 1, 3, 3), m.weights(70)), signed)
		five := m.qdq(m.Add(&op.Conv{Groups: 70, Pads: []int64{2, 2, 2, 2}}, x, m.skewed(70, 1, 5, 5)), signed)
		return []graph.Value{z, five, m.qdq(m.Add(&op.Conv{Groups: 70}, x, m.skewed(70, 1, 1, 3)), wide)}
	}},
	{"residuals", 8, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 20, 7, 9), wide)
		a := m.qdq(m.Add(&op.Relu{}, m.Add(&op.Add{}, m.conv3(x, 20, 20), x)), ramp)
		first := m.Add(&op.Conv{}, a, m.skewed(20, 20, 1, 1), m.weights(20))
		second := m.qdq(m.conv3(a, 20, 20), signed)
		b := m.qdq(m.Add(&op.Add{}, first, second), wide) // the second is there later
		c := m.qdq(m.Add(&op.Add{}, b, m.Add(&op.Relu{}, m.conv3(b, 20, 20))), wide)
		other := m.Add(&op.Relu{}, m.Add(&op.Conv{}, c, m.imageFilter(20, 20, 1, 1)))
		d := m.qdq(m.Add(&op.Add{}, other, m.qdq(m.conv3(x, 20, 20), signed)), wide)
		flat := m.qdq(m.input(3, 20), wide)
		e := m.qdq(m.Add(&op.Add{}, flat, m.Add(&op.MatMul{}, flat, m.filter(1, 20, 20))), signed)
		return []graph.Value{d, e, m.qdq(m.Add(&op.Add{}, x, x), signed)}
	}},
	{"functions", 7, func(m *maker) []graph.Value {
		x := m.qdq(m.input(1, 9, 8, 9), wide)
		silu := func(v graph.Value) graph.Value { return m.Add(&op.Mul{}, v, m.Add(&op.Sigmoid{}, v)) }
		a := m.qdq(silu(m.conv3(x, 30, 9)), wide)
		b := m.qdq(m.Add(&op.LeakyRelu{Alpha: 0.1}, m.Add(&op.Conv{}, a, m.skewed(70, 30, 1, 1), m.weights(70))), wide)
		c := m.qdq(m.Add(&op.HardSwish{}, m.Add(&op.Conv{Strides: []int64{2, 2}}, b, m.imageFilter(12, 70, 3, 3))), wide)
		d := m.qdq(m.Add(&op.Sigmoid{}, m.Add(&op.MatMul{}, m.qdq(m.input(5, 33), wide), m.filter(1, 33, 12))),
			testParams{1. / 255, 0, tensor.Uint8})
		e := m.qdq(m.Add(&op.Add{}, silu(m.conv3(x, 9, 9)), x), wide)
		f := m.qdq(m.Add(&op.Tanh{}, m.Add(&op.Add{}, m.conv3(x, 9, 9), x)), testParams{2. / 255, 128, tensor.Uint8})
		late := m.Add(&op.HardSwish{}, m.conv3(x, 9, 9))
		return []graph.Value{c, d, f, m.qdq(m.Add(&op.Add{}, late, e), wide)}
	}},
	{"sums in parts", 5, func(m *maker) []graph.Value {
		x, y, z := m.qdq(m.input(1, 9, 8, 7), wide), m.qdq(m.input(1, 20, 8, 7), wide), m.qdq(m.input(1, 5, 8, 7), signed)
		part := m.qdq(m.conv3(x, 12, 9), signed)
		next := m.qdq(m.conv3(y, 12, 20), wide)
		sum := m.Add(&op.Add{}, m.Add(&op.Add{}, part, next), m.conv3(z, 12, 5))
		two := m.Add(&op.Add{}, m.qdq(m.conv3(x, 6, 9), signed), m.Add(&op.Conv{}, z, m.skewed(6, 5, 1, 1), m.weights(6)))
		return []graph.Value{m.qdq(m.Add(&op.Relu{}, sum), wide), m.qdq(m.Add(&op.HardSwish{}, two), wide)}
	}},
	{"means in two steps", 8, func(m *maker) []graph.Value {
		x := m.qdq(m.conv3(m.qdq(m.input(1, 5, 7, 7), wide), 24, 5), wide)
		y := m.qdq(m.conv3(m.qdq(m.input(2, 3, 20, 16), wide), 20, 3), ramp)
		steps := func(v graph.Value, before, after []int64, root float32) graph.Value {
			v = m.Add(&op.AveragePool{Kernel: []int64{7, 7}, Strides: []int64{7, 7}, Pads: append(before, after...),
				CountPads: true}, v)
			v = m.qdq(m.Add(&op.Mul{}, v, m.Float32(49/root)), testParams{0.05, 100, tensor.Uint8})
			v = m.Add(&op.ReduceSum{KeepDims: true}, v, m.Int64s(2, 3))
			return m.qdq(m.Add(&op.Mul{}, v, m.Float32(1/root)), wide)
		}
		return []graph.Value{steps(x, []int64{0, 0}, []int64{0, 0}, 7), steps(y, []int64{0, 2}, []int64{1, 3}, 17.888544),
			m.qdq(m.Add(&op.ReduceMean{KeepDims: true}, x, m.Int64s(-1, -2)), signed),
			m.qdq(m.Add(&op.AveragePool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, y), wide)}
	}},
}
