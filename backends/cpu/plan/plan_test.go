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
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
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
	for i, v := 0, run.Floats(t.Data); i < len(v); i++ {
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
	for i, v := 0, run.Floats(t.Data); i < len(v); i++ {
		v[i] /= 4
	}
	return m.Const("", t.Type(), t.Data)
}

// positive is a constant between 0.5 and 1.5.
func (m *maker) positive(n int64) graph.Value {
	t := tensor.New(tensor.Float32, n)
	for i, v := 0, run.Floats(t.Data); i < len(v); i++ {
		v[i] = 0.5 + m.rnd.Float32()
	}
	return m.Const("", t.Type(), t.Data)
}

func (m *maker) norm(x graph.Value, channels, axis int64) graph.Value {
	return m.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: axis}, x, m.positive(channels), m.weights(channels),
		m.weights(channels), m.positive(channels))
}

func (m *maker) graph(t testing.TB, out ...graph.Value) *graph.Graph {
	m.Output(out...)
	g, err := m.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	return g
}

// instructionSets lists this processor's, with -short the highest alone: the race detector looks at how threads meet,
// which is the same for each, and makes the portable kernels take minutes.
func instructionSets() []kernel.ISA {
	all := kernel.Supported()
	if testing.Short() {
		return all[len(all)-1:]
	}
	return all
}

// cases are graphs whose every node has a fast kernel.
var cases = slices.Concat(spatialCases, productCases, elementCases, moveCases)

func TestBuild_equalsReference(t *testing.T) {
	all := slices.Concat(cases, fusionCases, recurrentCases, neighbourCases)
	equalsReference(t, all, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		_, slow := p.Fast()
		assert.Zero(t, slow, "nodes by reference")
		assert.Empty(t, unread(p), "steps that nobody reads")
		if c.steps > 0 {
			assert.Len(t, p.Steps, c.steps)
		}
		for i := range want {
			near(t, want[i], got[i], 2e-5)
		}
	})
}

func TestState_runAllocatesNothing(t *testing.T) {
	for _, c := range slices.Concat(cases, fusionCases, recurrentCases, quantizedCases, imageCases, neighbourCases) {
		m := newMaker()
		m.allocatesNothing(t, c.name, m.graph(t, c.build(m)...))
	}
}

// Nodes that have no fast kernel, with results whose sizes only the run knows, between nodes that have one.
func TestBuild_referenceSteps(t *testing.T) {
	m := newMaker()
	x := m.input(1, 6, 8, 8)
	y := m.Add(&op.Relu{}, m.Add(&op.Conv{}, x, m.weights(6, 1, 1, 6)))
	z := m.Add(&op.Hardmax{Axis: 1}, y)
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
	run.Floats(w.Data)[5] = float32(math.Inf(1))
	p := m.Add(&op.Pad{}, m.input(1, 2, 5, 5), m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
	g := m.graph(t, m.Add(&op.Conv{}, p, m.Const("", w.Type(), w.Data)))
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	_, got := compute(t, g, m.in, 1)
	near(t, want[0], got[0], 1e-5)
}

func TestState_gatherElementsOutside(t *testing.T) {
	for _, wraps := range []bool{false, true} {
		for _, index := range []int64{-1, -5, -6, 4, 5, math.MaxInt64, math.MinInt64} {
			m := newMaker()
			at := tensor.New(tensor.Int64, 2, 3)
			copy(at.Data, tensor.Int64s(3, 0, index, 1, 2, 4))
			x := m.input(2, 5)
			y := m.Add(&op.GatherElements{Axis: 1, NegativeWraps: wraps}, x, m.Input("", at.Type()))
			g := m.graph(t, y)
			m.in = append(m.in, at)
			want, refused := ref.Run(context.Background(), g, m.in)
			s, release := stateOf(t, g)
			got, err := runOnce(s, m.in, false)
			if inside := index >= 0 && index < 5 || wraps && index >= -5 && index < 0; inside {
				require.NoError(t, err)
				require.Equal(t, want[0].Data, got[0].Data, "index %d", index)
			} else {
				require.Error(t, refused)
				assert.EqualError(t, err, refused.Error())
			}
			release()
		}
	}
}

func TestState_gatherOutside(t *testing.T) {
	for _, index := range []int32{-1, 4, math.MaxInt32} {
		m := newMaker()
		at := tensor.New(tensor.Int32, 2)
		copy(at.Data, tensor.Int32s(3, index))
		x := m.input(4, 5)
		g := m.graph(t, m.Add(&op.Gather{}, x, m.Input("", at.Type())))
		m.in = append(m.in, at)
		_, want := ref.Run(context.Background(), g, m.in)
		require.Equal(t, fault.Data, fault.KindOf(want))
		s, release := stateOf(t, g)
		_, err := runOnce(s, m.in, false)
		assert.EqualError(t, err, want.Error())
		assert.Equal(t, fault.Data, fault.KindOf(err))
		release()
	}
}

// TestState_regionsOutside: regions that are no part of an image are refused as the reference refuses them.
func TestState_regionsOutside(t *testing.T) {
	for name, c := range map[string]struct {
		corners []float32
		image   int32
	}{
		"image": {[]float32{0, 0, 1, 1}, 2}, "below": {[]float32{-1, 0, 1, 1}, 0}, "beyond": {[]float32{0, 0, 1, 10}, 1},
		"order": {[]float32{3, 0, 2, 1}, 0}, "NaN": {[]float32{0, float32(math.NaN()), 1, 1}, 0},
	} {
		for _, o := range []graph.Op{&op.MaxRoiPool{Height: 2, Width: 2, Inside: true, ChannelsLast: true},
			&op.RoiAlign{Height: 2, Width: 2, SamplesHeight: 1, SamplesWidth: 1, Inside: true, ChannelsLast: true}} {
			m := newMaker()
			corners, images := tensor.New(tensor.Float32, 2, 4), tensor.New(tensor.Int32, 2)
			copy(run.Floats(corners.Data), append([]float32{0, 0, 4, 4}, c.corners...))
			copy(images.Data, tensor.Int32s(1, c.image))
			x := m.input(2, 9, 11, 3)
			g := m.graph(t, m.Add(o, x, m.Input("", corners.Type()), m.Input("", images.Type())))
			m.in = append(m.in, corners, images)
			_, want := ref.Run(context.Background(), g, m.in)
			require.Equal(t, fault.Data, fault.KindOf(want), name)
			s, release := stateOf(t, g)
			_, err := runOnce(s, m.in, false)
			assert.EqualError(t, err, want.Error(), name)
			assert.Equal(t, fault.Data, fault.KindOf(err), name)
			release()
		}
	}
}

func TestBuild_notANumberAndInfinities(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, isa := range instructionSets() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		m := newMaker()
		x := m.input(1, 5, 6, 6)
		for i, v := 0, run.Floats(m.in[0].Data); i < len(v); i += 7 {
			v[i] = []float32{nan, inf, -inf}[i/7%3]
		}
		one := tensor.New(tensor.Float32, 5, 1, 1, 5)
		for c := range 5 {
			run.Floats(one.Data)[c*5+c] = 1
		}
		clip := func(x graph.Value) graph.Value { return m.Add(&op.Clip{}, x, m.Float32(-1), m.Float32(1)) }
		slopes := func(dims ...int64) graph.Value {
			s := m.input(dims...)
			for i, v := 0, run.Floats(m.in[len(m.in)-1].Data); i < len(v); i++ {
				v[i] = []float32{0.5, inf, nan, -inf, 0}[i%5]
			}
			return s
		}
		pad := m.Add(&op.Pad{}, m.Add(&op.Relu{}, x), m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
		depthwise := m.Add(&op.Conv{Groups: 5, Pads: []int64{1, 1, 1, 1}}, x, m.weights(5, 3, 3, 1))
		g := m.graph(t,
			m.Add(&op.PRelu{}, x, slopes(5, 1, 1)), m.Add(&op.PRelu{}, x, slopes(6)), m.Add(&op.PRelu{}, x, slopes(6, 1)),
			m.Add(&op.PRelu{}, x, slopes(5, 6, 6)),
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
			m.Add(&op.Resize{Mode: op.ResizeLinear, Coord: op.CoordAlignCorners}, x, graph.None, graph.None,
				m.Int64s(1, 5, 11, 6)),
			m.Add(&op.PRelu{}, x, m.weights(5, 1, 1)), m.Add(&op.PRelu{}, x, m.weights(6)), m.Add(&op.Elu{Alpha: 0.5}, x),
			m.Add(&op.Softplus{}, x),
			m.Add(&op.Mish{}, x), m.Add(&op.Log{}, x), m.Add(&op.Square{}, x), m.Add(&op.Reciprocal{}, x),
			m.Add(&op.Pow{}, x, m.Float32(3)),
			m.Add(&op.L2Normalize{Epsilon: 1e-12}, x, m.Int64s(3)), m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, x,
				m.weights(5), m.weights(5)),
			m.Add(&op.L2Normalize{}, m.Add(&op.Mul{}, m.weights(3, 4), m.Float32(1e30)), m.Int64s(1)),
			m.Add(&op.L2Normalize{Epsilon: 1e-30}, m.Add(&op.Mul{}, m.input(3, 4), m.Float32(1e-25))),
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
