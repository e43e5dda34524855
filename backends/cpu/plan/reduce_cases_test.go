package plan

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// beyond is an input of float32 with some that are no finite numbers, one in so many; 0: none.
func (m *maker) beyond(oneIn int, dims ...int64) graph.Value {
	t := m.random(dims...)
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0}
	for i, v := 0, run.Floats(t.Data); oneIn > 0 && i < len(v); i++ {
		if m.rnd.IntN(oneIn) == 0 {
			v[i] = odd[m.rnd.IntN(len(odd))]
		}
	}
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// reducedShapes are sizes and axes of reductions: short and long lines, few and many columns.
var reducedShapes = []struct{ dims, axes []int64 }{
	{[]int64{5, 3}, []int64{1}}, {[]int64{7, 31}, []int64{1}}, {[]int64{3, 65}, []int64{1}},
	{[]int64{2, 2500}, []int64{1}},
	{[]int64{3, 4, 1}, []int64{1}}, {[]int64{40, 5}, []int64{0}}, {[]int64{3, 9, 8}, []int64{1}},
	{[]int64{2, 33, 75}, []int64{1}}, {[]int64{2, 7, 1100}, []int64{1}}, {[]int64{300, 20, 2}, []int64{1}},
	{[]int64{4, 6, 50}, []int64{1, 2}}, {[]int64{70, 600}, []int64{0}},
}

// reduceCases are graphs that fold float32.
var reduceCases = []testCase{
	{"folds", 0, func(m *maker) (out []graph.Value) {
		for _, s := range reducedShapes {
			x := m.input(s.dims...)
			near1 := m.Add(&op.Add{}, m.Add(&op.Mul{}, x, m.Float32(0.01)), m.Float32(1))
			out = append(out, m.Add(&op.ReduceProd{}, near1, m.Int64s(s.axes...)),
				m.Add(&op.ReduceLogSum{KeepDims: true}, m.Add(&op.Abs{}, x), m.Int64s(s.axes...)),
				m.Add(&op.ReduceL1{}, x, m.Int64s(s.axes...)), m.Add(&op.ReduceSumSquare{}, x, m.Int64s(s.axes...)))
		}
		return out
	}},
	{"folds of numbers that are not finite", 0, func(m *maker) (out []graph.Value) {
		for _, s := range reducedShapes {
			for _, oneIn := range []int{5, 200} {
				x := m.beyond(oneIn, s.dims...)
				out = append(out, m.Add(&op.ReduceProd{}, x, m.Int64s(s.axes...)),
					m.Add(&op.ReduceLogSum{}, m.Add(&op.Abs{}, x), m.Int64s(s.axes...)),
					m.Add(&op.ReduceL1{}, x, m.Int64s(s.axes...)), m.Add(&op.ReduceMax{}, x, m.Int64s(s.axes...)),
					m.Add(&op.ReduceMin{}, x, m.Int64s(s.axes...)))
			}
		}
		return out
	}},
	{"logarithms of sums that float32 does not hold, or near 1", 0, func(m *maker) (out []graph.Value) {
		for _, scale := range []float32{3e38, 1e-44, 1.0 / 64, 1.0 / 64 * (1 + 1e-6)} {
			t := tensor.New(tensor.Float32, 3, 64)
			for i, v := 0, run.Floats(t.Data); i < len(v); i++ {
				v[i] = scale
			}
			x := m.Const("", t.Type(), t.Data)
			zero := m.Add(&op.Mul{}, m.input(3, 64), m.Float32(0))
			for axis := range int64(2) {
				out = append(out, m.Add(&op.ReduceLogSum{}, m.Add(&op.Add{}, x, zero), m.Int64s(axis)))
			}
		}
		return out
	}},
}

// rowCases are graphs of functions of rows.
var rowCases = []testCase{
	{"log softmax", 0, func(m *maker) (out []graph.Value) {
		for _, cols := range []int64{1, 5, 24, 25, 32, 100, 1000, 8192, 8200} {
			for _, oneIn := range []int{0, 300} {
				out = append(out, m.Add(&op.LogSoftmax{Axis: -1}, m.beyond(oneIn, 7, cols)),
					m.Add(&op.LogSoftmax{Axis: 0}, m.beyond(oneIn, 7, cols)))
			}
		}
		least := m.Add(&op.Add{}, m.Add(&op.Mul{}, m.input(3, 40), m.Float32(0)), m.Float32(float32(math.Inf(-1))))
		return append(out, m.Add(&op.LogSoftmax{Axis: -1}, least), m.Add(&op.LogSoftmax{Axis: -1},
			m.Add(&op.Mul{}, m.input(3, 40), m.Float32(1e30))))
	}},
	{"division by the root of the mean square", 0, func(m *maker) (out []graph.Value) {
		for _, cols := range []int64{1, 7, 64, 100, 4100} {
			for _, oneIn := range []int{0, 100} {
				out = append(out, m.Add(&op.RMSNorm{Axis: -1, Epsilon: 1e-5}, m.beyond(oneIn, 9, cols), m.weights(cols)))
			}
			for _, scale := range []float32{1e-30, 1e25, 0} {
				out = append(out, m.Add(&op.RMSNorm{Axis: -1}, m.Add(&op.Mul{}, m.input(9, cols), m.Float32(scale)),
					m.weights(cols)))
			}
		}
		return out
	}},
}

func TestBuild_reductionsAreTheReferences(t *testing.T) {
	all := slices.Concat(reduceCases, rowCases)
	equalsReference(t, all, func(t *testing.T, _ testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for i := range want {
			near(t, want[i], got[i], 1e-6)
		}
	})
}

// rankCases are graphs that look for the best of lines, also among numbers that are equal or no numbers.
var rankCases = []testCase{
	{"places of the best", 0, func(m *maker) (out []graph.Value) {
		for _, s := range reducedShapes {
			axis := s.axes[0]
			whole, x := m.of(tensor.Int32, s.dims...), m.beyond(7, s.dims...)
			half := m.halved()
			for _, last := range []bool{false, true} {
				for _, v := range []graph.Value{x, whole, m.Add(&op.Round{}, x), half} {
					out = append(out, m.Add(&op.ArgMax{Axis: axis, SelectLast: last}, v),
						m.Add(&op.ArgMin{Axis: axis, SelectLast: last}, v))
				}
			}
		}
		return out
	}},
	{"best of lines", 0, func(m *maker) (out []graph.Value) {
		for _, s := range [][3]int64{{1, 8400, 300}, {2, 5000, 4999}, {3, 700, 1}, {2, 3000, 1000},
			{2, 1000, 100}, {5, 33, 33}} {
			for _, oneIn := range []int{0, 2, 500} {
				x := m.beyond(oneIn, s[0], s[1])
				half := m.halved()
				for i, v := range []graph.Value{x, m.Add(&op.Round{}, x), half, m.of(tensor.Int16, s[0], s[1])} {
					o := &op.TopK{Axis: 1, Smallest: i%2 == oneIn%2, SelectLast: oneIn == 2}
					if oneIn == 500 {
						o.Order = op.TopKByIndex
					}
					out = append(out, m.AddN(o, 2, v, m.Int64s(s[2]))...)
				}
			}
		}
		x := m.input(40, 600, 3)
		return append(out, m.AddN(&op.TopK{Axis: 1}, 2, x, m.Int64s(150))...)
	}},
}

// halved is an input of the numbers of the last one as binary16.
func (m *maker) halved() graph.Value {
	h := as(tensor.Float16, m.in[len(m.in)-1])
	m.in = append(m.in, h)
	return m.Input("", h.Type())
}

func TestBuild_ranksAreTheReferences(t *testing.T) {
	equalsReference(t, rankCases, func(t *testing.T, _ testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for i := range want {
			require.Equal(t, want[i].Type(), got[i].Type())
			require.True(t, bytes.Equal(want[i].Data, got[i].Data), "output %d", i)
		}
	})
}
