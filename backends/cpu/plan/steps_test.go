package plan

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// unread returns the steps of which no step reads anything and that make no output.
func unread(p *run.Plan) []string {
	read := map[int]bool{}
	for _, o := range p.Outputs {
		read[p.Root(o.Buf)] = true
	}
	var list []string
	for _, s := range slices.Backward(p.Steps) {
		used := slices.ContainsFunc(s.Writes, func(x int) bool { return read[p.Root(x)] })
		if !used {
			list = append(list, s.Kind)
		}
		for _, x := range s.Reads {
			read[p.Root(x)] = true
		}
	}
	return list
}

// A rule that does not fit in the end leaves nothing behind: here sums, clamps and products of codes whose meanings are
// too far apart for the kernels.
func TestBuild_refusedRulesLeaveNoStep(t *testing.T) {
	far := testParams{5000, 0, tensor.Uint8}
	for name, build := range map[string]func(m *maker) []graph.Value{
		"sum": func(m *maker) []graph.Value {
			x, y := m.inputCodes(tensor.T(tensor.Uint8, 1, 12, 7, 8)), m.qdq(m.input(1, 12, 7, 8), wide)
			z := m.qdq(m.Add(&op.Conv{}, y, m.imageFilter(12, 12, 1, 1)), wide)
			return []graph.Value{z, m.qdq(m.Add(&op.Add{}, z, m.dequantize(x, far)), wide)}
		},
		"clamp": func(m *maker) []graph.Value {
			x := m.dequantize(m.inputCodes(tensor.T(tensor.Uint8, 1, 12, 7, 8)), far)
			return []graph.Value{m.qdq(m.Add(&op.Relu{}, x), wide)}
		},
		"product": func(m *maker) []graph.Value { // a bias out of reach
			x := m.dequantize(m.inputCodes(tensor.T(tensor.Uint8, 1, 12, 7, 8)), wide)
			bias := tensor.New(tensor.Float32, 5)
			run.Floats(bias.Data)[3] = 1e30
			y := m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.imageFilter(5, 12, 3, 3),
				m.Const("", bias.Type(), bias.Data))
			return []graph.Value{m.qdq(y, wide)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMaker()
			g := m.graph(t, build(m)...)
			p, got := compute(t, g, m.in, 1)
			assert.Empty(t, unread(p))
			want, err := ref.Run(context.Background(), g, m.in)
			require.NoError(t, err)
			for i := range want {
				for k := range want[i].Count() {
					require.InDelta(t, run.Floats(want[i].Data)[k], run.Floats(got[i].Data)[k], float64(wide.scale)+1e-6)
				}
			}
		})
	}
}

// A softmax over the channels has a kernel whatever the order of the images is.
func TestBuild_softmaxOverChannels(t *testing.T) {
	for _, o := range []graph.Op{&op.Softmax{Axis: 1}, &op.LogSoftmax{Axis: 1}} {
		m := newMaker()
		x := m.input(2, 7, 5, 4)
		y := m.Add(&op.Conv{}, x, m.weights(6, 1, 1, 7))
		g := m.graph(t, m.Add(o, x), m.Add(o, y))
		want, err := ref.Run(context.Background(), g, m.in)
		require.NoError(t, err)
		p, got := compute(t, g, m.in, 2)
		assert.Empty(t, byReference(p))
		for i := range want {
			near(t, want[i], got[i], 1e-5)
		}
	}
}

// Steps that no node asks for are named by what they do.
func TestState_profileNamesSteps(t *testing.T) {
	m := newMaker()
	x := m.dequantize(m.inputCodes(tensor.T(tensor.Int8, 1, 8, 6, 5)), signed)
	y := m.qdq(m.Add(&op.Conv{}, x, m.imageFilter(12, 8, 1, 1)), wide)
	in := tensor.T(tensor.Int8, 2, 700)
	in.Quant = tensor.PerTensor(0.05, 3)
	w := tensor.T(tensor.Int8, 4, 700)
	w.Quant = tensor.PerTensor(0.02, -100)
	out := tensor.T(tensor.Int8, 2, 4)
	out.Quant = tensor.PerTensor(0.1, -2)
	z := m.AddTyped(&op.FullyConnected{}, "", []tensor.Type{out}, m.inputCodes(in), m.weightCodes(w))[0]
	g := m.graph(t, m.Add(&op.Sigmoid{}, y), z, m.Add(&op.Add{}, m.input(3, 1, 2), m.input(1, 4, 2)))
	s, release := stateOf(t, g)
	defer release()
	_, err := runOnce(s, m.in, true)
	require.NoError(t, err)
	times, _ := s.Profile()
	var names []string
	for _, n := range times {
		if n.Node < 0 {
			names = append(names, n.Op)
		}
	}
	for _, want := range []string{"layout", "unsign", "decode", "centre", "requantize", "repeat"} {
		assert.Contains(t, names, want)
	}
}
