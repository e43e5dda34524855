package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// halvesAlone are graphs of one operator of halves, or of few that are one step.
func halvesAlone(d tensor.DType) []testCase {
	constant := func(m *maker, dims ...int64) graph.Value { return m.halfWeights(d, dims...) }
	single := func(name string, o graph.Op) testCase {
		return testCase{name, 1, func(m *maker) []graph.Value { return []graph.Value{m.Add(o, m.halfInput(d, 3, 5, 333))} }}
	}
	pair := func(name string, o graph.Op, first, second []int64) testCase {
		return testCase{name, 1, func(m *maker) []graph.Value {
			return []graph.Value{m.Add(o, m.halfInput(d, first...), m.halfInput(d, second...))}
		}}
	}
	whole, column, row, number := []int64{3, 5, 333}, []int64{5, 1}, []int64{333}, []int64{1}
	return []testCase{
		single("relu", &op.Relu{}), single("leaky relu", &op.LeakyRelu{Alpha: 0.1}), single("exp", &op.Exp{}),
		single("sqrt", &op.Sqrt{}), single("sin", &op.Sin{}), single("square", &op.Square{}),
		single("hard swish", &op.HardSwish{}),
		pair("add", &op.Add{}, whole, whole), pair("div", &op.Div{}, whole, column), pair("sub", &op.Sub{}, row, whole),
		pair("mul", &op.Mul{}, whole, number), pair("div of a number", &op.Div{}, number, whole),
		pair("min", &op.Min{NaN: op.NaNPropagates}, whole, row), pair("pow", &op.Pow{}, whole, column),
		{"add of a constant", 1, func(m *maker) []graph.Value {
			return []graph.Value{m.Add(&op.Add{}, m.halfInput(d, whole...), constant(m, row...))}
		}},
		{"slopes", 1, func(m *maker) []graph.Value {
			return []graph.Value{m.Add(&op.PRelu{}, m.halfInput(d, whole...), constant(m, column...))}
		}},
		{"batch norm", 1, func(m *maker) []graph.Value {
			v := m.Const("", tensor.T(d, 5), as(d, tensor.Tensor{DType: tensor.Float32, Dims: []int64{5},
				Data: mem.Bytes([]float32{0.5, 1, 2, 0.25, 3})}).Data)
			return []graph.Value{m.Add(&op.BatchNorm{Axis: 1, Epsilon: 1e-5}, m.halfInput(d, whole...), constant(m, 5),
				constant(m, 5), constant(m, 5), v)}
		}},
		single("softmax", &op.Softmax{Axis: -1}), single("log softmax", &op.LogSoftmax{Axis: -1}),
		{"softmax of long rows", 1, func(m *maker) []graph.Value {
			return []graph.Value{m.Add(&op.Softmax{Axis: 1}, m.halfInput(d, 3, 9001))}
		}},
		{"division by the root of the mean square", 1, func(m *maker) []graph.Value {
			return []graph.Value{m.Add(&op.RMSNorm{Axis: -1, Epsilon: 1e-5}, m.halfInput(d, whole...), constant(m, row...))}
		}},
		{"gelu in parts", 1, func(m *maker) []graph.Value {
			half := func(x float32) graph.Value {
				return m.Const("", tensor.T(d), as(d, tensor.Tensor{DType: tensor.Float32, Data: mem.Bytes([]float32{x})}).Data)
			}
			x := m.halfInput(d, whole...)
			e := m.Add(&op.Add{}, m.Add(&op.Erf{}, m.Add(&op.Div{}, x, half(1.4142135))), half(1))
			return []graph.Value{m.Add(&op.Mul{}, m.Add(&op.Mul{}, x, e), half(0.5))}
		}},
		{"read twice", 2, func(m *maker) []graph.Value {
			x := m.halfInput(d, whole...)
			return []graph.Value{m.Add(&op.Relu{}, x), m.Add(&op.Sub{}, m.halfInput(d, row...), x)}
		}},
	}
}

// Operators of halves between others of halves, or at the ends of a graph, take and give halves in one step: within a
// unit of the last place of the reference, which rounds after every operator.
func TestBuild_halvesStayHalves(t *testing.T) {
	t.Run("float16", func(t *testing.T) { halvesStay(t, tensor.Float16, 1e-3, 0x1p-14) })
	t.Run("bfloat16", func(t *testing.T) { halvesStay(t, tensor.BFloat16, 8e-3, 0x1p-126) })
}

// halvesStay takes the size of a unit of 1 and the least normal number.
func halvesStay(t *testing.T, d tensor.DType, unit, normal float64) {
	equalsReference(t, halvesAlone(d), func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		require.Empty(t, byReference(p))
		require.Len(t, p.Steps, c.steps)
		for _, st := range p.Steps {
			require.Contains(t, strings.ToLower(taskOf(p, st)), "halves")
		}
		most, least := unit, normal
		if c.name == "gelu in parts" { // the reference rounds 1 + erf(x), which is little, to the units of 1
			least = 1
		}
		for i := range want {
			a, b := make([]float32, want[i].Count()), make([]float32, want[i].Count())
			convert.Floats(a, want[i].DType, want[i].Data)
			convert.Floats(b, got[i].DType, got[i].Data)
			for k := range a {
				w, g := float64(a[k]), float64(b[k])
				if w != g && !(math.IsNaN(w) && math.IsNaN(g)) && math.Abs(w-g) > most*math.Max(math.Abs(w), least) {
					t.Fatalf("result %d, element %d: %v, want %v", i, k, g, w)
				}
			}
		}
	})
}

// Constant matrices of halves stay halves in memory for products of few rows.
func TestBuild_productsOfFewRowsWithHalves(t *testing.T) {
	var cases []testCase
	for _, rows := range []int64{1, 2, 3, 4, 5} {
		cases = append(cases, testCase{fmt.Sprint(rows, " rows"), 0, func(m *maker) []graph.Value {
			x := m.halfInput(tensor.Float16, rows, 257)
			w, wt := m.halfWeights(tensor.Float16, 257, 300), m.halfWeights(tensor.Float16, 320, 257)
			y := m.Add(&op.FullyConnected{}, x, wt, m.halfWeights(tensor.Float16, 320))
			return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.MatMul{}, x, w)), y,
				m.Add(&op.MatMul{TransposeB: true}, x, wt)}
		}})
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		few := 0
		for _, st := range p.Steps {
			if taskOf(p, st) == "halfProductTask" {
				few++
			}
		}
		if (&kernel.HalfMatrix{}).Fast() && c.name != "5 rows" {
			require.Equal(t, 3, few)
		} else {
			require.Zero(t, few)
		}
		for i := range want {
			a, b := make([]float32, want[i].Count()), make([]float32, want[i].Count())
			convert.Floats(a, want[i].DType, want[i].Data)
			convert.Floats(b, got[i].DType, got[i].Data)
			for k := range a {
				require.InDelta(t, a[k], b[k], 1e-3*math.Max(1, math.Abs(float64(a[k]))), "result %d, element %d", i, k)
			}
		}
	})
}

// Products of few rows read right sides of halves as they are, transposed ones and columns of others.
func TestBuild_rightSidesOfHalves(t *testing.T) {
	var cases []testCase
	for _, rows := range []int64{1, 3, 4} {
		for _, size := range [][2]int64{{64, 1500}, {24, 16}, {300, 70}, {30, 2000}} {
			cases = append(cases, testCase{fmt.Sprint(rows, size), 0, func(m *maker) []graph.Value {
				depth, cols := size[0], size[1]
				x := m.Add(&op.Exp{}, m.input(1, 3, rows, depth))
				keys := m.halfInput(tensor.Float16, 1, 3, cols, depth)
				values := m.halfInput(tensor.Float16, 1, 3, depth, cols)
				wide := func(v graph.Value) graph.Value { return m.Add(&op.Cast{To: tensor.Float32}, v) }
				turned := m.Add(&op.Transpose{}, wide(keys), m.Int64s(0, 1, 3, 2))
				return []graph.Value{m.Add(&op.MatMul{}, x, turned), m.Add(&op.MatMul{}, x, wide(values)),
					m.Add(&op.MatMul{TransposeB: true}, x, wide(keys)), m.Add(&op.Identity{}, keys)}
			}})
		}
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		casts := 0
		for _, st := range p.Steps {
			if st.Kind == "cast" {
				casts++
			}
		}
		require.Equal(t, c.name[0] == '4', casts > 0)
		for i := range want[:3] {
			near(t, want[i], got[i], 2e-6)
		}
		require.Equal(t, want[3].Data, got[3].Data)
	})
}
