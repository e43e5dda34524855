package plan

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// spatialCases are graphs of convolutions, pooling and resizing.
var spatialCases = []testCase{
	{"1x1 conv, channels first, relu6", 3, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 16, 7, 5), m.weights(24, 1, 1, 16), m.weights(24))
		return []graph.Value{m.Add(&op.Clip{}, x, m.Float32(0), m.Float32(6))}
	}},
	{"3x3 conv, stride 2, channels last", 1, func(m *maker) []graph.Value {
		return []graph.Value{m.Add(&op.Conv{Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}, ChannelsLast: true},
			m.input(1, 9, 8, 8), m.weights(5, 3, 3, 8))}
	}},
	{"winograd, norm, residual, relu", 3, func(m *maker) []graph.Value {
		x := m.input(1, 32, 17, 14)
		y := m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.weights(32, 3, 3, 32))
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.Add{}, m.norm(y, 32, 1), x))}
	}},
	{"residual after the activation", 3, func(m *maker) []graph.Value {
		x := m.input(1, 8, 6, 6)
		y := m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 8), m.weights(8))
		return []graph.Value{m.Add(&op.Add{}, x, m.Add(&op.LeakyRelu{Alpha: 0.1}, y))}
	}},
	{"silu of a convolution", 3, func(m *maker) []graph.Value {
		y := m.Add(&op.Conv{}, m.input(1, 8, 6, 6), m.weights(8, 1, 1, 8))
		return []graph.Value{m.Add(&op.Mul{}, y, m.Add(&op.Sigmoid{}, y))}
	}},
	{"depthwise chain", 5, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(1, 16, 9, 9), m.weights(32, 1, 1, 16))
		y := m.Add(&op.Conv{Groups: 32, Pads: []int64{1, 1, 1, 1}, Strides: []int64{2, 2}}, x, m.weights(32, 3, 3, 1),
			m.weights(32))
		y = m.Add(&op.Relu{}, m.norm(y, 32, 1))
		return []graph.Value{m.Add(&op.Conv{}, y, m.weights(16, 1, 1, 32))}
	}},
	{"groups and dilation", 0, func(m *maker) []graph.Value {
		o := &op.Conv{Groups: 2, Dilations: []int64{2, 1}, AutoPad: op.PadSameUpper}
		return []graph.Value{m.Add(&op.Relu{}, m.Add(o, m.input(2, 6, 8, 7), m.weights(10, 3, 2, 3), m.weights(10)))}
	}},
	{"depthwise with a multiplier", 0, func(m *maker) []graph.Value {
		return []graph.Value{m.Add(&op.Conv{Groups: 5}, m.input(1, 5, 8, 7), m.weights(15, 3, 3, 1))}
	}},
	{"first layer, planar", 2, func(m *maker) []graph.Value {
		o := &op.Conv{Strides: []int64{2, 2}, Pads: []int64{3, 3, 3, 3}}
		return []graph.Value{m.Add(&op.Relu{}, m.norm(m.Add(o, m.input(2, 3, 20, 22), m.weights(12, 7, 7, 3)), 12, 1))}
	}},
	{"one and three dimensions", 0, func(m *maker) []graph.Value {
		a := m.Add(&op.Conv{Pads: []int64{1, 1}}, m.input(2, 6, 11), m.weights(7, 3, 6))
		b := m.Add(&op.Conv{}, m.input(1, 5, 4, 5, 6), m.weights(3, 2, 3, 2, 5))
		return []graph.Value{a, b}
	}},
	{"largest of planes, in the order of the model", 12, func(m *maker) (out []graph.Value) {
		x, wide := m.input(2, 3, 9, 13), m.input(1, 5, 70, 41)
		for _, o := range []*op.MaxPool{
			{Kernel: []int64{3, 3}, Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}},
			{Kernel: []int64{2, 2}, Strides: []int64{2, 2}},
			{Kernel: []int64{5, 5}, Pads: []int64{2, 2, 2, 2}},
			{Kernel: []int64{1, 7}, Strides: []int64{3, 1}, Pads: []int64{0, 6, 0, 1}},
			{Kernel: []int64{4, 1}, Strides: []int64{1, 2}, Pads: []int64{3, 0, 0, 0}, Dilations: []int64{2, 1}},
			{Kernel: []int64{2, 6}, Strides: []int64{2, 2}, Pads: []int64{0, 1, 1, 4}, Ceil: op.RoundCeil},
		} {
			out = append(out, m.Add(o, x), m.Add(o, wide))
		}
		return out
	}},
	{"largest of planes between convolutions", 5, func(m *maker) []graph.Value {
		y := m.Add(&op.Conv{}, m.input(1, 8, 9, 16), m.weights(8, 1, 1, 8))
		return []graph.Value{m.Add(&op.Conv{}, m.Add(&op.MaxPool{Kernel: []int64{3, 3}}, y), m.weights(8, 1, 1, 8))}
	}},
	{"pooling", 0, func(m *maker) []graph.Value {
		x := m.input(1, 9, 11, 10)
		return []graph.Value{
			m.Add(&op.MaxPool{Kernel: []int64{3, 3}, Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, x),
			m.Add(&op.AveragePool{Kernel: []int64{2, 3}, Pads: []int64{1, 0, 1, 1}, CountPads: true, Ceil: op.RoundCeil,
				Strides: []int64{2, 2}}, x),
			m.Add(&op.Flatten{Axis: 1}, m.Add(&op.AveragePool{Global: true}, x)),
		}
	}},
	{"squeeze and excite, channels last inside", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 8, 6, 5), m.weights(16, 1, 1, 8))
		g := m.Add(&op.ReduceMean{KeepDims: true}, x, m.Int64s(2, 3))
		g = m.Add(&op.HardSigmoid{Alpha: 0.2, Beta: 0.5}, m.Add(&op.Conv{}, g, m.weights(16, 1, 1, 16)))
		y := m.Add(&op.Mul{}, x, g)
		y = m.Add(&op.Add{}, y, m.weights(16, 1, 1))
		return []graph.Value{m.Add(&op.Softmax{Axis: 1}, y), m.Add(&op.ReduceMax{}, y, m.Int64s(1))}
	}},
	{"branches joined", 0, func(m *maker) []graph.Value {
		x := m.input(1, 8, 7, 5)
		a := m.Add(&op.Relu{}, m.Add(&op.Conv{}, x, m.weights(6, 1, 1, 8)))
		b := m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.weights(10, 3, 3, 8))
		c := m.Add(&op.Concat{Axis: 1}, a, b, x)
		s := m.AddN(&op.Split{Axis: 1}, 2, c)
		s = append(s, m.AddN(&op.Split{Axis: 2}, 2, m.Add(&op.Concat{Axis: 2}, a, a))...)
		return append(s, c)
	}},
	{"split, bottlenecks, joined again", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 8, 9, 7), m.weights(24, 1, 1, 8))
		h := m.AddN(&op.Split{Axis: 1}, 2, m.Add(&op.Relu{}, x))
		y := m.Add(&op.Relu{}, m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, h[1], m.weights(12, 3, 3, 12)))
		z := m.Add(&op.Add{}, m.Add(&op.Conv{Groups: 12, Pads: []int64{1, 1, 1, 1}}, y, m.weights(12, 3, 3, 1)), h[1])
		w := m.Add(&op.Conv{}, z, m.weights(12, 1, 1, 12))
		w = m.Add(&op.Add{}, m.Add(&op.Conv{}, w, m.weights(12, 1, 1, 12)), w)
		return []graph.Value{m.Add(&op.Conv{}, m.Add(&op.Concat{Axis: 1}, h[0], h[1], y, z, w), m.weights(5, 1, 1, 60))}
	}},
	{"pooled and resized columns, one join in another", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(1, 8, 8, 8), m.weights(32, 1, 1, 8))
		pool := func(x graph.Value) graph.Value {
			return m.Add(&op.MaxPool{Kernel: []int64{5, 5}, Strides: []int64{1, 1}, Pads: []int64{2, 2, 2, 2}}, x)
		}
		a := pool(x)
		in := m.Add(&op.Concat{Axis: 1}, x, a, pool(a))
		two := m.Const("", tensor.T(tensor.Float32, 2), tensor.Float32s(2, 2))
		small := m.Add(&op.Conv{Strides: []int64{2, 2}}, x, m.weights(16, 1, 1, 32))
		up := m.Add(&op.Resize{Axes: []int64{2, 3}, Nearest: op.NearestFloor}, small, graph.None, two)
		wino := m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.weights(32, 3, 3, 32))
		out := m.Add(&op.Concat{Axis: 1}, in, up, m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, up, m.weights(7, 3, 3, 16)),
			wino)
		return []graph.Value{m.Add(&op.Relu{}, out), m.Add(&op.Conv{}, out, m.weights(3, 1, 1, 151)), in}
	}},
	{"joined twice, and an output", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(1, 8, 5, 6), m.weights(9, 1, 1, 8))
		y := m.Add(&op.Conv{}, x, m.weights(9, 1, 1, 9))
		a := m.Add(&op.Concat{Axis: 1}, x, x, y)
		b := m.Add(&op.Concat{Axis: 1}, y, a)
		c := m.Add(&op.Concat{Axis: 2}, x, y)
		return []graph.Value{m.Add(&op.Sigmoid{}, b), y, m.Add(&op.Conv{}, c, m.weights(4, 1, 1, 9)),
			m.Add(&op.Conv{}, a, m.weights(4, 2, 2, 27))}
	}},
	{"dense block in place", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(1, 4, 6, 6), m.weights(8, 1, 1, 4))
		for n := int64(8); n < 32; n += 8 {
			y := m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, m.Add(&op.Relu{}, m.norm(x, n, 1)), m.weights(8, 3, 3, n))
			x = m.Add(&op.Concat{Axis: 1}, x, y)
		}
		s := m.AddN(&op.Split{Axis: 1}, 4, m.Add(&op.Tanh{}, x))
		return []graph.Value{m.Add(&op.Conv{}, s[1], m.weights(3, 1, 1, 8)), m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, s[3],
			m.weights(8, 3, 3, 8)), m.Add(&op.Exp{}, s[2])}
	}},
	{"resizing", 0, func(m *maker) []graph.Value {
		x := m.input(2, 3, 5, 4)
		two := m.Const("", tensor.T(tensor.Float32, 2), tensor.Float32s(2, 2))
		near := m.Add(&op.Resize{Axes: []int64{2, 3}, Nearest: op.NearestFloor}, x, graph.None, two)
		lin := m.Add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordHalfPixel}, x, graph.None, graph.None,
			m.Int64s(2, 3, 8, 9))
		return []graph.Value{near, lin, m.Add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordAlignCorners,
			Axes: []int64{1, 2}}, m.input(1, 3, 4, 6), graph.None, graph.None, m.Int64s(7, 9))}
	}},
	{"transposed convolution", 0, func(m *maker) []graph.Value {
		x := m.input(2, 6, 5, 7)
		a := m.Add(&op.Relu{}, m.norm(m.Add(&op.ConvTranspose{Strides: []int64{2, 2}, Pads: []int64{1, 1, 0, 1},
			OutputPads: []int64{1, 0}}, x, m.weights(9, 4, 3, 6), m.weights(9)), 9, 1))
		b := m.Add(&op.Tanh{}, m.Add(&op.ConvTranspose{Groups: 3, Dilations: []int64{2, 1}, Strides: []int64{3, 1}}, x,
			m.weights(12, 2, 2, 2), m.weights(12)))
		c := m.Add(&op.ConvTranspose{ChannelsLast: true, Strides: []int64{2, 2}, AutoPad: op.PadSameUpper},
			m.input(1, 4, 3, 5), m.weights(8, 3, 3, 5))
		d := m.Add(&op.ConvTranspose{Strides: []int64{2}}, m.input(1, 4, 6), m.weights(3, 2, 4))
		return []graph.Value{a, b, c, d, m.Add(&op.Concat{Axis: 1}, a, m.Add(&op.Conv{}, a, m.weights(4, 1, 1, 9)))}
	}},
	{"volumes", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Relu{}, m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1, 1, 1}}, m.input(2, 3, 6, 7, 8),
			m.weights(9, 3, 3, 3, 3)))
		largest := m.Add(&op.MaxPool{Kernel: []int64{2, 2, 2}, Strides: []int64{2, 2, 2}}, x)
		mean := m.Add(&op.AveragePool{Kernel: []int64{3, 2, 3}, Strides: []int64{2, 3, 2},
			Pads: []int64{1, 0, 1, 1, 1, 1}}, x)
		padded := m.Add(&op.AveragePool{Kernel: []int64{3, 3, 1}, Pads: []int64{1, 2, 0, 1, 0, 0}, CountPads: true}, x)
		up := m.Add(&op.ConvTranspose{Strides: []int64{2, 2, 2}, OutputPads: []int64{0, 1, 0}}, largest,
			m.weights(9, 2, 2, 2, 9), m.weights(9))
		over := m.Add(&op.Tanh{}, m.norm(m.Add(&op.ConvTranspose{Groups: 3, Strides: []int64{1, 2, 3},
			Pads: []int64{1, 0, 1, 0, 1, 1}}, largest, m.weights(12, 3, 3, 4, 3)), 12, 1))
		last := m.Add(&op.ConvTranspose{ChannelsLast: true, Strides: []int64{2, 1, 2}, AutoPad: op.PadSameUpper},
			m.input(1, 2, 3, 4, 5), m.weights(4, 3, 2, 3, 5))
		return []graph.Value{m.Add(&op.Concat{Axis: 1}, up, x), largest, mean, padded, over, last,
			m.Add(&op.MaxPool{ChannelsLast: true, Kernel: []int64{1, 2, 3}, Pads: []int64{0, 1, 2, 0, 0, 0}}, last)}
	}},
	{"depthwise volumes, long rows and transposed", 0, func(m *maker) []graph.Value {
		x := m.input(2, 6, 5, 7, 8)
		a := m.Add(&op.Relu{}, m.norm(m.Add(&op.Conv{Groups: 6, Pads: []int64{1, 1, 1, 1, 1, 1}}, x,
			m.weights(6, 3, 3, 3, 1)), 6, 1))
		b := m.Add(&op.Conv{Groups: 6, Pads: []int64{2, 0, 0, 1, 0, 0}, Strides: []int64{2, 1, 1}}, a,
			m.weights(6, 4, 1, 1, 1))
		c := m.Add(&op.Conv{Groups: 6, Strides: []int64{1, 2, 2}}, b, m.weights(6, 1, 3, 3, 1), m.weights(6))
		image := m.input(1, 9, 12, 14)
		long := m.Add(&op.Add{}, m.Add(&op.Conv{Groups: 9, Pads: []int64{2, 6, 2, 6}, Dilations: []int64{2, 1}}, image,
			m.weights(9, 3, 13, 1)), image)
		up := m.Add(&op.Tanh{}, m.norm(m.Add(&op.ConvTranspose{Groups: 9, Strides: []int64{2, 2},
			Pads: []int64{1, 1, 1, 1}}, long, m.weights(9, 4, 4, 1), m.weights(9)), 9, 1))
		last := m.Add(&op.ConvTranspose{Groups: 5, ChannelsLast: true, Strides: []int64{3, 1}}, m.input(2, 3, 4, 5),
			m.weights(5, 2, 3, 1))
		return []graph.Value{a, b, c, long, up, last,
			m.Add(&op.ConvTranspose{Groups: 6, Strides: []int64{1, 2, 2}}, b, m.weights(6, 2, 2, 3, 1))}
	}},
	{"lines and volumes resized", 0, func(m *maker) (out []graph.Value) {
		line, volume := m.input(2, 5, 9), m.input(1, 3, 4, 5, 6)
		for _, to := range []graph.Value{m.Int64s(2, 5, 20), m.Int64s(2, 5, 4), m.Int64s(2, 5, 9), m.Int64s(2, 7, 9)} {
			out = append(out, m.Add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordHalfPixel}, line, graph.None, graph.None,
				to), m.Add(&op.Resize{Coord: op.CoordAsymmetric, Nearest: op.NearestFloor}, line, graph.None, graph.None, to))
		}
		ends := &op.Resize{Axes: []int64{4, 2}, Coord: op.CoordAlignCorners}
		return append(out, m.Add(ends, volume, graph.None, graph.None, m.Int64s(3, 9)),
			m.Add(&op.Resize{Coord: op.CoordHalfPixel}, volume, graph.None, graph.None, m.Int64s(1, 3, 8, 10, 12)),
			m.Add(&op.Resize{Mode: op.ResizeLinear}, volume, graph.None, graph.None, m.Int64s(1, 3, 7, 3, 12)))
	}},
	{"planes of volumes by Winograd", 0, func(m *maker) []graph.Value {
		x := m.input(2, 16, 5, 9, 10)
		a := m.Add(&op.Relu{}, m.norm(m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1, 1, 1}}, x, m.weights(16, 3, 3, 3, 16)), 16,
			1))
		b := m.Add(&op.Add{}, a, m.Add(&op.Conv{Pads: []int64{0, 1, 1, 0, 1, 1}}, x, m.weights(16, 1, 3, 3, 16)))
		return []graph.Value{b, m.Add(&op.Conv{Strides: []int64{2, 1, 1}, Dilations: []int64{2, 1, 1}}, b,
			m.weights(24, 2, 3, 3, 16), m.weights(24))}
	}},
	{"padding before convolutions", 0, func(m *maker) []graph.Value {
		x := m.input(1, 4, 9, 8)
		p := m.Add(&op.Pad{}, x, m.Int64s(0, 0, 0, 1, 0, 0, 2, 1))
		y := m.Add(&op.Conv{Strides: []int64{2, 2}, Pads: []int64{0, 1, 0, 0}}, p, m.weights(8, 3, 3, 4))
		q := m.Add(&op.Pad{}, y, m.Int64s(1, 1, 1, 1), graph.None, m.Int64s(2, 3))
		z := m.Add(&op.Conv{Groups: 8}, q, m.weights(8, 3, 3, 1))
		last := m.Add(&op.Pad{}, m.input(2, 5, 6, 3), m.Int64s(0, 1, 1, 0, 0, 0, 1, 0))
		return []graph.Value{
			z, m.Add(&op.AveragePool{Kernel: []int64{3, 3}}, q),
			m.Add(&op.AveragePool{Kernel: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}, CountPads: true}, q),
			m.Add(&op.Conv{ChannelsLast: true}, last, m.weights(7, 2, 2, 3)),
		}
	}},
}
