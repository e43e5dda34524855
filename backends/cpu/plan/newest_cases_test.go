package plan

import (
	"math"
	"testing"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/stretchr/testify/assert"
)

// readingCases are graphs that read images and rows in unusual ways.
var readingCases = []testCase{
	{"places that follow from indices", 0, func(m *maker) []graph.Value {
		x := m.input(5, 3, 7)
		pooled := m.input(1, 2, 2, 3)
		return []graph.Value{
			m.Add(&op.ReverseSequence{BatchAxis: 1, TimeAxis: 0}, x, m.Int64s(0, 5, 3)),
			m.Add(&op.ReverseSequence{BatchAxis: 0, TimeAxis: 1}, x, m.Int64s(1, 2, 3, 0, 2)),
			m.Add(&op.MaxUnpool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, pooled, m.Add(&op.Reshape{},
				m.Int64s(0, 3, 4, 13, 15, 16, 24, 27, 29, 37, 39, 47), m.Int64s(1, 2, 2, 3))),
		}
	}},
	{"samples", 0, func(m *maker) []graph.Value {
		x, grid := m.input(2, 3, 5, 6), m.input(2, 9, 8, 2)
		out := []graph.Value{m.Add(&op.AffineGrid{}, m.input(2, 2, 3), m.Int64s(2, 3, 4, 5))}
		for _, mode := range []op.ResizeMode{op.ResizeNearest, op.ResizeLinear, op.ResizeCubic} {
			for _, padding := range []op.GridPadding{op.GridZeros, op.GridBorder, op.GridReflection} {
				out = append(out, m.Add(&op.GridSample{Mode: mode, Padding: padding, AlignCorners: padding == op.GridZeros}, x,
					m.Add(&op.Mul{}, grid, m.Float32(1.3))))
			}
		}
		rois := tensor.New(tensor.Float32, 4, 5)
		copy(run.Floats(rois.Data), []float32{0, 1, 2, 7, 8, 1, 0, 0, 4, 3, 0, -3, 6, 20, 9, 1, 30, 30, 40, 41})
		for _, o := range []*op.MaxRoiPool{{Height: 3, Width: 2}, {Height: 1, Width: 4, ScaleHeight: 0.5, ScaleWidth: 0.75}} {
			out = append(out, m.Add(o, m.input(2, 5, 9, 11), m.Const("", rois.Type(), rois.Data)))
		}
		beside := tensor.New(tensor.Float32, 3, 4)
		copy(run.Floats(beside.Data), []float32{1, 2, 7, 8, 0, 0, 4, 3, 10, 6, 11, 9})
		of := m.Const("", tensor.T(tensor.Int32, 3), []byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0})
		for _, last := range []bool{false, true} {
			sizes := []int64{2, 5, 9, 11}
			if last {
				sizes = []int64{2, 9, 11, 5}
			}
			out = append(out, m.Add(&op.MaxRoiPool{Height: 2, Width: 3, Inside: true, ChannelsLast: last}, m.input(sizes...),
				m.Const("", beside.Type(), beside.Data), of), m.Add(&op.RoiAlign{Height: 2, Width: 3, SamplesHeight: 2,
				SamplesWidth: 1, Inside: true, ChannelsLast: last, ScaleWidth: 0.5}, m.input(sizes...),
				m.Const("", beside.Type(), beside.Data), of))
		}
		offsets, mask := m.input(2, 2*9*2, 3, 6), m.input(2, 2*9, 3, 6)
		return append(out, m.Add(&op.DeformConv{Pads: []int64{1, 1, 1, 1}, Strides: []int64{2, 1}, OffsetGroups: 2},
			m.input(2, 4, 5, 6), m.weights(7, 3, 3, 4), offsets, m.weights(7), mask),
			m.Add(&op.DeformConv{OffsetGroups: 1}, m.input(1, 3, 6, 6), m.weights(5, 3, 3, 3), m.input(1, 18, 4, 4)),
			m.Add(&op.Col2Im{Pads: []int64{1, 0, 1, 2}, Strides: []int64{1, 2}, Dilations: []int64{2, 1}},
				m.input(2, 3*6, 35), m.Int64s(7, 9), m.Int64s(2, 3)),
			m.Add(&op.Col2Im{}, m.input(1, 2*9, 12), m.Int64s(5, 6), m.Int64s(3, 3)),
			m.Add(&op.Col2Im{Pads: []int64{1, 1, 1, 1}}, m.input(2, 3*9, 7*19), m.Int64s(7, 19), m.Int64s(3, 3)),
			m.Add(&op.Col2Im{Pads: []int64{3, 0, 2, 2}, Dilations: []int64{2, 3}}, m.input(1, 2*6, 8*25), m.Int64s(5, 29),
				m.Int64s(2, 3)))
	}},
	{"rows and angles", 0, func(m *maker) []graph.Value {
		x := m.input(4, 6, 130)
		q, cos, sin := m.input(2, 3, 5, 12), m.input(9, 4), m.input(9, 4)
		ids := m.Add(&op.Reshape{}, m.Int64s(0, 8, 3, 4, 1, 2, 7, 5, 6, 0), m.Int64s(2, 5))
		packed := m.Add(&op.Reshape{}, m.Add(&op.Relu{}, q), m.Int64s(2, 5, 36))
		return []graph.Value{
			m.Add(&op.RotaryEmbedding{Dim: 8}, q, cos, sin, ids),
			m.Add(&op.RotaryEmbedding{}, m.input(2, 3, 5, 34), m.input(2, 5, 17), m.input(2, 5, 17)),
			m.Add(&op.RotaryEmbedding{Heads: 3}, m.input(2, 5, 30), m.input(2, 5, 5), m.input(2, 5, 5)),
			m.Add(&op.RotaryEmbedding{Interleaved: true, Heads: 3, Dim: 8}, packed, m.input(2, 5, 4), m.input(2, 5, 4)),
			m.Add(&op.LpNorm{Axis: -1, P: 1}, x), m.Add(&op.LpNorm{Axis: 2, P: 2}, x),
			m.Add(&op.LpNorm{Axis: -1}, m.Add(&op.Mul{}, x, m.Float32(1e30))),
			m.Add(&op.ReduceLogSumExp{KeepDims: true}, x, m.Int64s(-1)), m.Add(&op.ReduceLogSumExp{}, x, m.Int64s(1)),
			m.Add(&op.ReduceLogSumExp{}, x), m.Add(&op.Hardmax{Axis: -1}, x),
			m.Add(&op.Celu{Alpha: 0.75}, x), m.Add(&op.Selu{Alpha: 1.67, Gamma: 1.05}, x),
			m.Add(&op.Exp{Base: 2}, x), m.Add(&op.Pow{}, m.Add(&op.Abs{}, x), m.Float32(0.3)),
			m.Add(&op.Pow{}, x, m.Add(&op.Round{}, m.input(6, 1))),
		}
	}},
}

func TestBuild_readingEqualsReference(t *testing.T) {
	equalsReference(t, readingCases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		_, slow := p.Fast()
		assert.Zero(t, slow, "nodes by reference")
		for i := range want {
			near(t, want[i], got[i], 2e-5)
		}
	})
}

func TestState_readingAllocatesNothing(t *testing.T) {
	for _, c := range readingCases {
		m := newMaker()
		m.allocatesNothing(t, c.name, m.graph(t, c.build(m)...))
	}
}

// What compares, counts and moves gives the same elements, NaN and infinities included.
func TestBuild_integersEqualReference(t *testing.T) {
	exact := []testCase{
		{"comparisons", 0, func(m *maker) []graph.Value {
			special := tensor.New(tensor.Float32, 1, 70)
			for i, v := 0, run.Floats(special.Data); i < len(v); i++ {
				v[i] = [...]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, 1, -1, 2.5}[i%7]
			}
			x := m.Const("", special.Type(), special.Data)
			y := m.Add(&op.Add{}, m.input(3, 70), x)
			out := []graph.Value{m.Add(&op.IsNaN{}, y), m.Add(&op.IsInf{Positive: true}, y),
				m.Add(&op.IsInf{Positive: true, Negative: true}, y), m.Add(&op.IsInf{Negative: true}, y),
				m.Add(&op.Cast{To: tensor.Bool}, y), m.Add(&op.ArgMax{Axis: 0}, y), m.Add(&op.ArgMin{Axis: 1}, y),
				m.Add(&op.ArgMin{Axis: 0, SelectLast: true}, y), m.Add(&op.ArgMax{Axis: 1, SelectLast: true}, y)}
			for _, o := range []graph.Op{&op.Less{}, &op.LessEqual{}, &op.Greater{}, &op.GreaterEqual{}, &op.Equal{},
				&op.NotEqual{}} {
				out = append(out, m.Add(o, y, m.Float32(0.5)), m.Add(o, m.Float32(-0.25), y), m.Add(o, y, x),
					m.Add(o, m.input(3, 1), y), m.Add(o, m.input(5, 2, 64), m.input(5, 2, 1)), m.Add(o, m.input(5, 1), m.input(5, 64)))
			}
			return out
		}},
		{"integers", 0, func(m *maker) []graph.Value {
			a, b := m.inputOf(tensor.Int32, 3, 70), m.inputOf(tensor.Int32, 3, 1)
			c, d := m.inputOf(tensor.Int64, 2, 40), m.inputOf(tensor.Int64, 40)
			u := m.inputOf(tensor.Uint8, 77)
			out := []graph.Value{m.Add(&op.Mul{}, a, b), m.Add(&op.Mul{}, c, d), m.Add(&op.BitwiseNot{}, a),
				m.Add(&op.BitwiseNot{}, u), m.Add(&op.Relu{}, a), m.Add(&op.Relu{}, c),
				m.Add(&op.BitShift{}, u, u), m.Add(&op.BitShift{Right: true}, a, b),
			}
			for _, d := range []tensor.DType{tensor.Uint8, tensor.Int16, tensor.Float32, tensor.Int64} {
				image := m.inputOf(d, 1, 3, 5, 7)
				out = append(out, m.Add(&op.Resize{}, image, graph.None, graph.None, m.Int64s(1, 3, 11, 14)),
					m.Add(&op.Resize{}, image, graph.None, graph.None, m.Int64s(1, 3, 4, 17)))
			}
			for _, o := range []graph.Op{&op.Add{}, &op.Sub{}, &op.Min{}, &op.Max{}} {
				out = append(out, m.Add(o, a, b), m.Add(o, b, a), m.Add(o, c, d), m.Add(o, d, c), m.Add(o, a, a))
			}
			for _, o := range []graph.Op{&op.BitwiseAnd{}, &op.BitwiseOr{}, &op.BitwiseXor{}} {
				out = append(out, m.Add(o, a, b), m.Add(o, c, d), m.Add(o, u, u))
			}
			return out
		}},
	}
	equalsReference(t, exact, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		_, slow := p.Fast()
		assert.Zero(t, slow, "nodes by reference")
		assert.Equal(t, want, got)
	})
}
