package plan

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// maker builds test graphs with random constants and inputs.
type maker struct {
	*graph.Builder
	rnd *rand.Rand
	in  []tensor.Tensor
}

func newMaker() *maker {
	return &maker{Builder: graph.NewBuilder("test"), rnd: rand.New(rand.NewPCG(1, 2))}
}

func (m *maker) random(dims ...int64) tensor.Tensor {
	t := tensor.New(tensor.Float32, dims...)
	for i, v := 0, floats(t.Data); i < len(v); i++ {
		v[i] = float32(m.rnd.NormFloat64())
	}
	return t
}

func (m *maker) input(dims ...int64) graph.Value {
	t := m.random(dims...)
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

func (m *maker) weights(dims ...int64) graph.Value {
	t := m.random(dims...)
	for i, v := 0, floats(t.Data); i < len(v); i++ {
		v[i] /= 4
	}
	return m.Const("", t.Type(), t.Data)
}

// positive is a constant between 0.5 and 1.5.
func (m *maker) positive(n int64) graph.Value {
	t := tensor.New(tensor.Float32, n)
	for i, v := 0, floats(t.Data); i < len(v); i++ {
		v[i] = 0.5 + m.rnd.Float32()
	}
	return m.Const("", t.Type(), t.Data)
}

func (m *maker) norm(x graph.Value, channels, axis int64) graph.Value {
	return m.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: axis}, x, m.positive(channels), m.weights(channels), m.weights(channels), m.positive(channels))
}

func (m *maker) graph(t testing.TB, out ...graph.Value) *graph.Graph {
	m.Output(out...)
	g, err := m.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	return g
}

// compute runs a plan of g and returns copies of the outputs.
func compute(t testing.TB, g *graph.Graph, in []tensor.Tensor, threads int) (*Plan, []tensor.Tensor) {
	var store Store
	defer store.Release()
	p, err := Build(context.Background(), g, &store, Options{})
	require.NoError(t, err)
	workers := pool.New(threads)
	defer workers.Close()
	run := workers.NewRun(0)
	require.NoError(t, run.Begin(context.Background()))
	defer run.End()
	s, err := p.NewState(run, threads)
	require.NoError(t, err)
	defer s.Release()
	var out []tensor.Tensor
	for range 2 { // the second run finds the memory of the first
		out = out[:0]
		res, err := s.Run(context.Background(), in, nil, false, func(context.Context) error { return nil })
		require.NoError(t, err)
		for _, r := range res {
			r.Data = append([]byte(nil), r.Data...)
			out = append(out, r)
		}
	}
	return p, out
}

// near compares with the reference: infinities and NaN at the same places, the rest within tol of the largest magnitude.
func near(t *testing.T, want, got tensor.Tensor, tol float64) {
	t.Helper()
	require.True(t, slices.Equal(want.Dims, got.Dims), "%v, want %v", got.Dims, want.Dims)
	w, g := floats(want.Data), floats(got.Data)
	require.Len(t, g, len(w))
	largest := 1.0
	for _, x := range w {
		if x-x == 0 {
			largest = max(largest, math.Abs(float64(x)))
		}
	}
	for i := range w {
		a, b := float64(w[i]), float64(g[i])
		if math.IsNaN(a) && math.IsNaN(b) || a == b || math.Abs(a-b) <= tol*largest {
			continue
		}
		require.Failf(t, "differs from the reference", "element %d of %d: want %v, got %v", i, len(w), a, b)
	}
}

type testCase struct {
	name  string
	steps int // 0: not looked at
	build func(m *maker) []graph.Value
}

// cases are graphs whose every node has a fast kernel.
var cases = []testCase{
	{"1x1 conv, channels first, relu6", 3, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 16, 7, 5), m.weights(24, 1, 1, 16), m.weights(24))
		return []graph.Value{m.Add(&op.Clip{}, x, m.Float32(0), m.Float32(6))}
	}},
	{"3x3 conv, stride 2, channels last", 1, func(m *maker) []graph.Value {
		return []graph.Value{m.Add(&op.Conv{Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}, ChannelsLast: true}, m.input(1, 9, 8, 8), m.weights(5, 3, 3, 8))}
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
		y := m.Add(&op.Conv{Groups: 32, Pads: []int64{1, 1, 1, 1}, Strides: []int64{2, 2}}, x, m.weights(32, 3, 3, 1), m.weights(32))
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
	{"pooling", 0, func(m *maker) []graph.Value {
		x := m.input(1, 9, 11, 10)
		return []graph.Value{
			m.Add(&op.MaxPool{Kernel: []int64{3, 3}, Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, x),
			m.Add(&op.AveragePool{Kernel: []int64{2, 3}, Pads: []int64{1, 0, 1, 1}, CountPads: true, Ceil: op.RoundCeil, Strides: []int64{2, 2}}, x),
			m.Add(&op.Flatten{Axis: 1}, m.Add(&op.AveragePool{Global: true}, x)),
		}
	}},
	{"products", 0, func(m *maker) []graph.Value {
		x := m.input(2, 5, 12)
		y := m.Add(&op.Gelu{}, m.Add(&op.FullyConnected{}, x, m.weights(20, 12), m.weights(20)))
		z := m.Add(&op.Add{}, x, m.Add(&op.MatMul{}, y, m.weights(20, 12), m.weights(12)))
		return []graph.Value{z, m.Add(&op.MatMul{TransposeB: true}, y, m.weights(3, 20), m.weights(1))}
	}},
	{"constants added", 5, func(m *maker) []graph.Value {
		x := m.Add(&op.Relu{}, m.Add(&op.Add{}, m.weights(1, 8, 1, 1), m.Add(&op.Conv{}, m.input(2, 6, 5, 5), m.weights(8, 1, 1, 6), m.weights(8))))
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
			return m.Add(&op.Transpose{}, m.Add(&op.Reshape{}, m.Add(&op.MatMul{}, x, m.weights(12, 12), m.weights(12)), m.Int64s(2, 7, 3, 4)), m.Int64s(perm...))
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
			add(product(), 5, 6), m.Add(&op.Relu{}, add(m.Add(&op.Mul{}, m.Float32(0.3), product()), 3, 1, 6)), add(product(), 6), add(product(), 2, 1, 5, 6), add(product(), 5, 1),
			m.Add(&op.Sub{}, m.Float32(2), m.Add(&op.Relu{}, add(product(), 1, 3, 5, 6))), m.Add(&op.Div{}, product(), m.Float32(1e30)), add(m.Add(&op.Add{}, product(), m.Float32(1)), 6),
			m.Add(&op.MatMul{}, t, m.input(2, 4, 3)), m.Add(&op.MatMul{TransposeB: true}, m.input(2, 3, 4), t), t,
			m.Add(&op.MatMul{}, m.Add(&op.Transpose{}, m.input(2, 4, 6), m.Int64s(0, 2, 1)), m.input(1, 4, 3)), m.Add(&op.Transpose{}, product(), m.Int64s(2, 0, 1, 3)), m.Add(&op.Transpose{}, product(), m.Int64s(0, 1, 3, 2)),
		}
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
		out := m.Add(&op.Concat{Axis: 1}, in, up, m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, up, m.weights(7, 3, 3, 16)), wino)
		return []graph.Value{m.Add(&op.Relu{}, out), m.Add(&op.Conv{}, out, m.weights(3, 1, 1, 151)), in}
	}},
	{"joined twice, and an output", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(1, 8, 5, 6), m.weights(9, 1, 1, 8))
		y := m.Add(&op.Conv{}, x, m.weights(9, 1, 1, 9))
		a := m.Add(&op.Concat{Axis: 1}, x, x, y)
		b := m.Add(&op.Concat{Axis: 1}, y, a)
		c := m.Add(&op.Concat{Axis: 2}, x, y)
		return []graph.Value{m.Add(&op.Sigmoid{}, b), y, m.Add(&op.Conv{}, c, m.weights(4, 1, 1, 9)), m.Add(&op.Conv{}, a, m.weights(4, 2, 2, 27))}
	}},
	{"dense block in place", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(1, 4, 6, 6), m.weights(8, 1, 1, 4))
		for n := int64(8); n < 32; n += 8 {
			y := m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, m.Add(&op.Relu{}, m.norm(x, n, 1)), m.weights(8, 3, 3, n))
			x = m.Add(&op.Concat{Axis: 1}, x, y)
		}
		s := m.AddN(&op.Split{Axis: 1}, 4, m.Add(&op.Tanh{}, x))
		return []graph.Value{m.Add(&op.Conv{}, s[1], m.weights(3, 1, 1, 8)), m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, s[3], m.weights(8, 3, 3, 8)), m.Add(&op.Exp{}, s[2])}
	}},
	{"rows of a product in columns", 3, func(m *maker) []graph.Value {
		y := m.Add(&op.MatMul{}, m.input(7, 9), m.weights(9, 12), m.weights(12))
		s := m.AddN(&op.Split{Axis: 1}, 3, y)
		return []graph.Value{m.Add(&op.MatMul{}, s[0], m.weights(4, 6)), m.Add(&op.Add{}, m.Add(&op.MatMul{}, s[1], m.weights(4, 4)), s[2])}
	}},
	{"quantised and back", 8, func(m *maker) []graph.Value {
		zero := func(v int8) graph.Value { return m.Const("", tensor.T(tensor.Int8), []byte{byte(v)}) }
		round := func(x graph.Value, scale float32, z graph.Value) []graph.Value {
			q := m.Add(&op.Quantize{Axis: 1}, x, m.Float32(scale), z)
			return []graph.Value{m.Add(&op.Dequantize{Axis: 1}, q, m.Float32(scale), z), m.Add(&op.Dequantize{}, q, m.Float32(scale), z)}
		}
		x := round(m.input(1, 8, 5, 6), 0.05, zero(-7))
		y := m.Add(&op.Relu{}, m.Add(&op.Conv{}, x[0], m.weights(12, 1, 1, 8)))
		y = round(y, 0.02, zero(-128))[1]
		y = m.Add(&op.Dequantize{}, m.Add(&op.Quantize{}, y, m.Float32(0.03)), m.Float32(0.04))
		return []graph.Value{m.Add(&op.Conv{}, y, m.weights(4, 1, 1, 12)), m.Add(&op.Add{}, x[0], x[1])}
	}},
	{"rows", 0, func(m *maker) []graph.Value {
		x := m.input(3, 5, 37)
		y := m.Add(&op.LayerNorm{Axis: -1, Epsilon: 1e-5}, x, m.weights(37), m.weights(37))
		return []graph.Value{
			y, m.Add(&op.LogSoftmax{Axis: 2}, x), m.Add(&op.LayerNorm{Axis: 1, Epsilon: 1e-3}, x), m.norm(x, 5, 1), m.norm(x, 37, 2),
			m.Add(&op.ReduceSum{}, x, m.Int64s(1)), m.Add(&op.ReduceMin{KeepDims: true}, x, m.Int64s(0, 1)), m.Add(&op.ReduceMean{}, x),
		}
	}},
	{"resizing", 0, func(m *maker) []graph.Value {
		x := m.input(2, 3, 5, 4)
		two := m.Const("", tensor.T(tensor.Float32, 2), tensor.Float32s(2, 2))
		near := m.Add(&op.Resize{Axes: []int64{2, 3}, Nearest: op.NearestFloor}, x, graph.None, two)
		lin := m.Add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordHalfPixel}, x, graph.None, graph.None, m.Int64s(2, 3, 8, 9))
		return []graph.Value{near, lin, m.Add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordAlignCorners, Axes: []int64{1, 2}}, m.input(1, 3, 4, 6), graph.None, graph.None, m.Int64s(7, 9))}
	}},
	{"transposes", 0, func(m *maker) []graph.Value {
		x := m.input(4, 5, 6, 7)
		y := m.Add(&op.Transpose{}, m.Add(&op.Conv{}, x, m.weights(9, 1, 1, 5)), m.Int64s(0, 2, 3, 1))
		out := []graph.Value{y, m.Add(&op.Transpose{}, x), m.Add(&op.Transpose{}, m.input(130, 140))}
		for _, p := range [][]int64{{1, 0, 2, 3}, {0, 1, 3, 2}, {2, 3, 0, 1}, {3, 0, 1, 2}, {1, 3, 0, 2}, {0, 3, 1, 2}} {
			out = append(out, m.Add(&op.Transpose{}, x, m.Int64s(p...)))
		}
		return out
	}},
	{"transposed convolution", 0, func(m *maker) []graph.Value {
		x := m.input(2, 6, 5, 7)
		a := m.Add(&op.Relu{}, m.norm(m.Add(&op.ConvTranspose{Strides: []int64{2, 2}, Pads: []int64{1, 1, 0, 1}, OutputPads: []int64{1, 0}}, x, m.weights(9, 4, 3, 6), m.weights(9)), 9, 1))
		b := m.Add(&op.Tanh{}, m.Add(&op.ConvTranspose{Groups: 3, Dilations: []int64{2, 1}, Strides: []int64{3, 1}}, x, m.weights(12, 2, 2, 2), m.weights(12)))
		c := m.Add(&op.ConvTranspose{ChannelsLast: true, Strides: []int64{2, 2}, AutoPad: op.PadSameUpper}, m.input(1, 4, 3, 5), m.weights(8, 3, 3, 5))
		d := m.Add(&op.ConvTranspose{Strides: []int64{2}}, m.input(1, 4, 6), m.weights(3, 2, 4))
		return []graph.Value{a, b, c, d, m.Add(&op.Concat{Axis: 1}, a, m.Add(&op.Conv{}, a, m.weights(4, 1, 1, 9)))}
	}},
	{"prelu", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.PRelu{}, m.input(2, 6, 5, 7), m.weights(6, 1, 1))
		y := m.Add(&op.PRelu{}, m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 6)), m.weights(8, 1, 1))
		return []graph.Value{x, y, m.Add(&op.PRelu{}, m.input(3, 9), m.weights(1)), m.Add(&op.PRelu{}, m.input(3, 9), m.weights(9)), m.Add(&op.PRelu{}, m.input(2, 3, 4), m.weights(2, 3, 4))}
	}},
	{"more functions", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Conv{}, m.input(2, 6, 5, 7), m.weights(8, 1, 1, 6))
		y := m.Add(&op.Add{}, m.Add(&op.Abs{}, x), m.Float32(0.5))
		return []graph.Value{
			m.Add(&op.Elu{Alpha: 0.7}, x), m.Add(&op.Softplus{}, x), m.Add(&op.Mish{}, x), m.Add(&op.Log{}, y), m.Add(&op.Square{}, x),
			m.Add(&op.Reciprocal{}, y), m.Add(&op.Pow{}, x, m.Float32(2)), m.Add(&op.Pow{}, x, m.Float32(3)),
		}
	}},
	{"slices", 0, func(m *maker) []graph.Value {
		x := m.input(2, 12, 6, 5)
		y := m.Add(&op.Conv{}, x, m.weights(16, 1, 1, 12))
		cut := func(x graph.Value, from, to, axis, step int64) graph.Value {
			return m.Add(&op.Slice{}, x, m.Int64s(from), m.Int64s(to), m.Int64s(axis), m.Int64s(step))
		}
		a, b := cut(y, 0, 6, 1, 1), cut(y, 6, 16, 1, 1)
		strided := m.Add(&op.StridedSlice{BeginMask: 1, ShrinkAxisMask: 2, NewAxisMask: 8}, x, m.Int64s(0, 3, 4, 0, 0), m.Int64s(2, 4, 0, 1, 5), m.Int64s(1, 1, -2, 1, 2))
		return []graph.Value{
			m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, a, m.weights(4, 3, 3, 6)), m.Add(&op.Sigmoid{}, b), cut(y, 1, 5, 2, 2), cut(x, -1, -7, 2, -1), cut(x, 1, 2, 0, 1),
			m.Add(&op.Relu{}, cut(m.Add(&op.Relu{}, x), 1, 2, 0, 1)), m.Add(&op.Slice{}, y, m.Int64s(1, 2), m.Int64s(9, 4), m.Int64s(1, 3)), strided,
		}
	}},
	{"leading rows as they lie", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.Relu{}, m.input(6, 7, 5))
		s := m.AddN(&op.Split{Axis: 0}, 3, x)
		y := m.Add(&op.Concat{Axis: 0}, m.Add(&op.Abs{}, s[0]), m.Add(&op.Softmax{Axis: -1}, s[2]), m.Add(&op.Transpose{}, m.Add(&op.Square{}, m.input(5, 7, 2))))
		a := m.Add(&op.Slice{}, y, m.Int64s(1), m.Int64s(5))
		b := m.Add(&op.Slice{}, a, m.Int64s(2), m.Int64s(5), m.Int64s(2))
		return []graph.Value{m.Add(&op.Exp{}, m.Add(&op.Slice{}, a, m.Int64s(1), m.Int64s(2))), m.Add(&op.Tanh{}, b), m.Add(&op.ReduceSum{}, s[1], m.Int64s(1))}
	}},
	{"repeated", 0, func(m *maker) []graph.Value {
		x := m.input(3, 1, 4)
		return []graph.Value{
			m.Add(&op.Expand{}, x, m.Int64s(2, 1, 5, 1)), m.Add(&op.Tile{}, x, m.Int64s(2, 2, 1, 3)), m.Add(&op.Tile{}, m.input(2, 3), m.Int64s(2, 3)),
			m.Add(&op.Expand{}, x, m.Int64s(1)), m.Add(&op.Add{}, x, m.input(5, 1)), m.Add(&op.Mul{}, m.input(4, 1, 3, 1, 2), m.input(1, 5, 1, 6, 1)),
		}
	}},
	{"padding before convolutions", 0, func(m *maker) []graph.Value {
		x := m.input(1, 4, 9, 8)
		p := m.Add(&op.Pad{}, x, m.Int64s(0, 0, 0, 1, 0, 0, 2, 1))
		y := m.Add(&op.Conv{Strides: []int64{2, 2}, Pads: []int64{0, 1, 0, 0}}, p, m.weights(8, 3, 3, 4))
		q := m.Add(&op.Pad{}, y, m.Int64s(1, 1, 1, 1), graph.None, m.Int64s(2, 3))
		z := m.Add(&op.Conv{Groups: 8}, q, m.weights(8, 3, 3, 1))
		last := m.Add(&op.Pad{}, m.input(2, 5, 6, 3), m.Int64s(0, 1, 1, 0, 0, 0, 1, 0))
		return []graph.Value{
			z, m.Add(&op.AveragePool{Kernel: []int64{3, 3}}, q), m.Add(&op.AveragePool{Kernel: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}, CountPads: true}, q),
			m.Add(&op.Conv{ChannelsLast: true}, last, m.weights(7, 2, 2, 3)),
		}
	}},
	{"padding", 0, func(m *maker) []graph.Value {
		x := m.input(2, 4, 5, 6)
		y := m.Add(&op.Pad{}, m.Add(&op.Conv{}, x, m.weights(3, 1, 1, 4)), m.Int64s(0, 1, -1, 2, 1, 0, 3, -2), m.Float32(1.5))
		p := m.Add(&op.Pad{}, x, m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
		return []graph.Value{
			y, m.Add(&op.Relu{}, y), p, m.Add(&op.Conv{}, p, m.weights(2, 3, 3, 4)), m.Add(&op.Pad{}, m.input(3), m.Int64s(-3, 2)),
			m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, m.Add(&op.Pad{}, x, m.Int64s(0, 0, 1, 1, 0, 0, 1, 1), m.Float32(-9))),
			m.Add(&op.AveragePool{Kernel: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, m.Add(&op.Pad{}, x, m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))),
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
			m.Add(&op.Gather{}, x, m.Int64s(2, 2, 0)), m.Add(&op.Gather{NegativeWraps: true}, x, index, m.Int64s(1)), m.Add(&op.Gather{NegativeWraps: true}, m.weights(9, 4), index),
			m.Add(&op.Where{}, c, x, m.input(6)), m.Add(&op.Where{}, c, m.Float32(1), m.input(2, 5, 3)),
		}
	}},
	{"norms", 0, func(m *maker) []graph.Value {
		x := m.input(2, 6, 5, 7)
		y := m.Add(&op.Conv{}, x, m.weights(8, 1, 1, 6))
		return []graph.Value{
			m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, x, m.weights(6), m.weights(6)), m.Add(&op.GroupNorm{Groups: 3, Epsilon: 1e-3}, x, m.weights(6), m.weights(6)),
			m.Add(&op.L2Normalize{Epsilon: 1e-12}, y, m.Int64s(1)), m.Add(&op.L2Normalize{Epsilon: 0.5, Mode: op.EpsAdd}, x, m.Int64s(2, 3)), m.Add(&op.L2Normalize{}, x),
			m.Add(&op.RMSNorm{Axis: -1, Epsilon: 1e-6}, x, m.weights(7)), m.Add(&op.GroupNorm{Groups: 2, Epsilon: 1e-5}, y, m.weights(8), m.weights(8)),
		}
	}},
	{"blocks of cells and channels", 0, func(m *maker) []graph.Value {
		x := m.input(2, 8, 4, 6)
		y := m.Add(&op.Conv{}, x, m.weights(16, 1, 1, 8))
		out := []graph.Value{m.Add(&op.DepthToSpace{Block: 2, ChannelsLast: true}, m.input(1, 3, 2, 12)), m.Add(&op.SpaceToDepth{Block: 2, ChannelsLast: true}, m.input(1, 4, 6, 3))}
		for _, v := range []graph.Value{x, y} {
			out = append(out, m.Add(&op.DepthToSpace{Block: 2}, v), m.Add(&op.DepthToSpace{Block: 2, Mode: op.CRD}, v), m.Add(&op.SpaceToDepth{Block: 2}, v))
		}
		return append(out, m.Add(&op.DepthToSpace{Block: 2, ChannelsLast: true, Mode: op.CRD}, m.input(1, 3, 2, 12)))
	}},
}

func TestBuild_equalsReference(t *testing.T) {
	for _, isa := range kernel.Supported() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		for _, c := range slices.Concat(cases, fusionCases, recurrentCases) {
			t.Run(isa.String()+"/"+c.name, func(t *testing.T) {
				m := newMaker()
				g := m.graph(t, c.build(m)...)
				want, err := ref.Run(context.Background(), g, m.in)
				require.NoError(t, err)
				for _, threads := range []int{1, 3} {
					p, got := compute(t, g, m.in, threads)
					_, slow := p.Fast()
					assert.Zero(t, slow, "nodes by reference")
					if c.steps > 0 {
						assert.Len(t, p.steps, c.steps)
					}
					for i := range want {
						near(t, want[i], got[i], 2e-5)
					}
				}
			})
		}
		restore()
	}
}

func TestState_runAllocatesNothing(t *testing.T) {
	for _, c := range slices.Concat(cases, fusionCases, recurrentCases, quantizedCases) {
		m := newMaker()
		g := m.graph(t, c.build(m)...)
		var store Store
		p, err := Build(context.Background(), g, &store, Options{})
		require.NoError(t, err)
		s, err := p.NewState(nil, 1)
		require.NoError(t, err)
		ctx := context.Background()
		between := func(context.Context) error { return nil }
		assert.Zero(t, testing.AllocsPerRun(3, func() {
			if _, err := s.Run(ctx, m.in, nil, false, between); err != nil {
				t.Fatal(err)
			}
		}), c.name)
		s.Release()
		store.Release()
	}
}

// Nodes that have no fast kernel, with results whose sizes only the run knows, between nodes that have one.
func TestBuild_referenceSteps(t *testing.T) {
	m := newMaker()
	x := m.input(1, 6, 8, 8)
	y := m.Add(&op.Relu{}, m.Add(&op.Conv{}, x, m.weights(6, 1, 1, 6)))
	z := m.Add(&op.Sin{}, y)
	w := m.Add(&op.Conv{}, z, m.weights(4, 1, 1, 6))
	g := m.graph(t, w, m.Add(&op.NonZero{}, y), m.Add(&op.Shape{}, w), x)
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	p, got := compute(t, g, m.in, 1)
	fast, slow := p.Fast()
	assert.Equal(t, [2]int{3, 2}, [2]int{fast, slow})
	near(t, want[0], got[0], 1e-5)
	assert.Equal(t, want[1:], got[1:])
}

func TestBuild_loopWithoutCount(t *testing.T) {
	b := graph.NewBuilder("body")
	b.Input("trip", tensor.T(tensor.Int64))
	b.Input("cond", tensor.T(tensor.Bool))
	v := b.Add(&op.Add{}, b.Input("v", tensor.T(tensor.Float32, 3)), b.Float32(1))
	b.Output(b.Add(&op.Less{}, b.Add(&op.ReduceMax{}, v), b.Float32(10)), v)
	body, err := b.Graph()
	require.NoError(t, err)
	m := newMaker()
	g := m.graph(t, m.Add(&op.Loop{Body: body, Carried: 1}, graph.None, graph.None, m.Add(&op.Relu{}, m.input(3))))
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	_, got := compute(t, g, m.in, 1)
	assert.Equal(t, want, got)
}

// A filter that is not finite makes NaN of zeros around an image, but not of padding of the convolution itself.
func TestBuild_paddingKeepsNaN(t *testing.T) {
	m := newMaker()
	w := m.random(3, 3, 3, 2)
	floats(w.Data)[5] = float32(math.Inf(1))
	p := m.Add(&op.Pad{}, m.input(1, 2, 5, 5), m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
	g := m.graph(t, m.Add(&op.Conv{}, p, m.Const("", w.Type(), w.Data)))
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	_, got := compute(t, g, m.in, 1)
	near(t, want[0], got[0], 1e-5)
}

func TestState_gatherOutside(t *testing.T) {
	for _, index := range []int32{-1, 4, math.MaxInt32} {
		m := newMaker()
		run := tensor.New(tensor.Int32, 2)
		copy(run.Data, tensor.Int32s(3, index))
		x := m.input(4, 5)
		g := m.graph(t, m.Add(&op.Gather{}, x, m.Input("", run.Type())))
		m.in = append(m.in, run)
		_, want := ref.Run(context.Background(), g, m.in)
		require.Equal(t, fault.Data, fault.KindOf(want))
		var store Store
		p, err := Build(context.Background(), g, &store, Options{})
		require.NoError(t, err)
		s, err := p.NewState(nil, 1)
		require.NoError(t, err)
		_, err = s.Run(context.Background(), m.in, nil, false, func(context.Context) error { return nil })
		assert.EqualError(t, err, want.Error())
		assert.Equal(t, fault.Data, fault.KindOf(err))
		s.Release()
		store.Release()
	}
}

func TestBuild_notANumberAndInfinities(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, isa := range kernel.Supported() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		m := newMaker()
		x := m.input(1, 5, 6, 6)
		for i, v := 0, floats(m.in[0].Data); i < len(v); i += 7 {
			v[i] = []float32{nan, inf, -inf}[i/7%3]
		}
		one := tensor.New(tensor.Float32, 5, 1, 1, 5)
		for c := range 5 {
			floats(one.Data)[c*5+c] = 1
		}
		clip := func(x graph.Value) graph.Value { return m.Add(&op.Clip{}, x, m.Float32(-1), m.Float32(1)) }
		slopes := func(dims ...int64) graph.Value {
			s := m.input(dims...)
			for i, v := 0, floats(m.in[len(m.in)-1].Data); i < len(v); i++ {
				v[i] = []float32{0.5, inf, nan, -inf, 0}[i%5]
			}
			return s
		}
		pad := m.Add(&op.Pad{}, m.Add(&op.Relu{}, x), m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
		depthwise := m.Add(&op.Conv{Groups: 5, Pads: []int64{1, 1, 1, 1}}, x, m.weights(5, 3, 3, 1))
		g := m.graph(t,
			m.Add(&op.PRelu{}, x, slopes(5, 1, 1)), m.Add(&op.PRelu{}, x, slopes(6)), m.Add(&op.PRelu{}, x, slopes(6, 1)), m.Add(&op.PRelu{}, x, slopes(5, 6, 6)),
			m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, pad), clip(m.Add(&op.Add{}, x, depthwise)),
			m.Add(&op.LayerNorm{Axis: -1}, m.Add(&op.Add{}, x, m.input(1, 5, 6, 6))),
			m.Add(&op.Relu{}, x), clip(x), m.Add(&op.Max{}, x, m.Float32(0)), m.Add(&op.Min{}, m.Float32(0), x),
			m.Add(&op.LeakyRelu{Alpha: 0.5}, x), m.Add(&op.HardSwish{}, x), m.Add(&op.Sigmoid{}, x), m.Add(&op.Tanh{}, x),
			m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, x), m.Add(&op.AveragePool{Kernel: []int64{2, 2}}, x),
			m.Add(&op.ReduceMax{}, x, m.Int64s(3)), m.Add(&op.ReduceMin{}, x, m.Int64s(1)),
			m.Add(&op.Softmax{Axis: -1}, x), m.Add(&op.LogSoftmax{Axis: -1}, x),
			clip(m.Add(&op.Conv{}, x, m.Const("", one.Type(), one.Data))),
			m.Add(&op.Relu{}, m.Add(&op.Conv{Groups: 5, Pads: []int64{1, 1, 1, 1}}, x, m.weights(5, 3, 3, 1))),
			m.Add(&op.MaxPool{Kernel: []int64{1, 1}, Pads: []int64{0, 0, 0, 0}, Strides: []int64{2, 2}}, x),
			m.Add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordAlignCorners}, x, graph.None, graph.None, m.Int64s(1, 5, 11, 6)),
			m.Add(&op.PRelu{}, x, m.weights(5, 1, 1)), m.Add(&op.PRelu{}, x, m.weights(6)), m.Add(&op.Elu{Alpha: 0.5}, x), m.Add(&op.Softplus{}, x),
			m.Add(&op.Mish{}, x), m.Add(&op.Log{}, x), m.Add(&op.Square{}, x), m.Add(&op.Reciprocal{}, x), m.Add(&op.Pow{}, x, m.Float32(3)),
			m.Add(&op.L2Normalize{Epsilon: 1e-12}, x, m.Int64s(3)), m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, x, m.weights(5), m.weights(5)),
			m.Add(&op.L2Normalize{}, m.Add(&op.Mul{}, m.weights(3, 4), m.Float32(1e30)), m.Int64s(1)), m.Add(&op.L2Normalize{Epsilon: 1e-30}, m.Add(&op.Mul{}, m.input(3, 4), m.Float32(1e-25))),
			m.Add(&op.L2Normalize{}, m.Add(&op.Mul{}, m.input(3, 4), m.Float32(1e30)), m.Int64s(1)),
		)
		want, err := ref.Run(context.Background(), g, m.in)
		require.NoError(t, err)
		_, got := compute(t, g, m.in, 1)
		for i := range want {
			t.Run(isa.String(), func(t *testing.T) { near(t, want[i], got[i], 1e-5) })
		}
		restore()
	}
}
