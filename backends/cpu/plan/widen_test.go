package plan

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// as is a tensor of float32 in a 16-bit type.
func as(d tensor.DType, t tensor.Tensor) tensor.Tensor {
	h := tensor.New(d, t.Dims...)
	convert.Put(h.Data, d, run.Floats(t.Data), false)
	return h
}

// halfInput and halfWeights are input and weights in a 16-bit type.
func (m *maker) halfInput(d tensor.DType, dims ...int64) graph.Value {
	m.in = append(m.in, as(d, m.random(dims...)))
	return m.Input("", tensor.T(d, dims...))
}

func (m *maker) halfWeights(d tensor.DType, dims ...int64) graph.Value {
	t := m.random(dims...)
	for i, v := 0, run.Floats(t.Data); i < len(v); i++ {
		v[i] /= 8
	}
	return m.Const("", tensor.T(d, dims...), as(d, t).Data)
}

// halfCases are graphs of halves; apart is how many units of the last place of the largest result their results may
// differ from those of a graph that rounds after every operator.
var halfCases = []struct {
	name  string
	apart float64
	build func(m *maker, d tensor.DType) []graph.Value
}{
	{"convolutions", 2, func(m *maker, d tensor.DType) []graph.Value {
		x := m.halfInput(d, 1, 8, 6, 6)
		y := m.Add(&op.Relu{}, m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.halfWeights(d, 5, 3, 3, 8),
			m.halfWeights(d, 5)))
		return []graph.Value{y, m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, y)}
	}},
	{"product and softmax", 2, func(m *maker, d tensor.DType) []graph.Value {
		y := m.Add(&op.MatMul{}, m.halfInput(d, 4, 12), m.halfWeights(d, 12, 7))
		return []graph.Value{m.Add(&op.Softmax{Axis: -1}, y)}
	}},
	{"comparison of what was rounded", 0, func(m *maker, d tensor.DType) []graph.Value {
		x := m.halfInput(d, 40, 12)
		y := m.Add(&op.Add{}, x, m.halfInput(d, 40, 12))
		z := m.Add(&op.Sub{}, y, x) // without rounding of y another number
		return []graph.Value{m.Add(&op.Floor{}, m.Add(&op.Mul{}, y, y)), m.Add(&op.Greater{}, y, x), m.Add(&op.Abs{}, z)}[:2]
	}},
	{"a half for a while", 1, func(m *maker, d tensor.DType) []graph.Value {
		x := m.Add(&op.Cast{To: d}, m.input(3, 8))
		return []graph.Value{m.Add(&op.Cast{To: tensor.Float32}, m.Add(&op.Mul{}, x, m.halfWeights(d, 8)))}
	}},
	{"moved", 0, func(m *maker, d tensor.DType) []graph.Value {
		x := m.halfInput(d, 2, 3, 8)
		return []graph.Value{m.Add(&op.Concat{Axis: 1}, x, m.Add(&op.Transpose{}, m.halfInput(d, 2, 8, 3),
			m.Int64s(0, 2, 1))), m.Add(&op.ArgMax{Axis: 2}, x)}
	}},
}

// Graphs of halves are computed by the kernels for float32; each result is a half, and near to that of a graph which
// rounds after every operator.
func TestBuild_halvesAreComputedInFloat32(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		unit := map[tensor.DType]float64{tensor.Float16: 0x1p-11, tensor.BFloat16: 0x1p-8}[d]
		for _, c := range halfCases {
			t.Run(d.String()+"/"+c.name, func(t *testing.T) {
				for _, isa := range instructionSets() {
					restore, err := kernel.Select(isa)
					require.NoError(t, err)
					defer restore()
					m := newMaker()
					g := m.graph(t, c.build(m, d)...)
					p, got := compute(t, g, m.in, 1)
					for _, s := range p.Steps {
						assert.True(t, s.Fast || s.Kind == "reference" && c.apart == 0, "%s", s.Kind)
					}
					want, err := ref.Run(context.Background(), g, m.in)
					require.NoError(t, err)
					for i, w := range want {
						require.Equal(t, w.DType, got[i].DType)
						require.Equal(t, w.Dims, got[i].Dims)
						if !w.DType.IsFloat() || c.apart == 0 {
							require.Equal(t, w.Data, got[i].Data, "output %d", i)
							continue
						}
						for k := range w.Count() {
							a, b := tensor.FloatAt(w.DType, w.Data, k), tensor.FloatAt(w.DType, got[i].Data, k)
							require.InDelta(t, a, b, 2*c.apart*unit*math.Max(0.25, math.Abs(a)), "output %d, element %d", i, k)
						}
					}
				}
			})
		}
	}
}

// A graph without halves is not touched, and one with open sizes gets the nodes of the other.
func TestWiden_keepsWhatHasNoHalves(t *testing.T) {
	m := newMaker()
	g := m.graph(t, m.Add(&op.Relu{}, m.input(2, 3)))
	wide, open, _, err := widen(g, nil)
	require.NoError(t, err)
	assert.Same(t, g, wide)
	assert.Nil(t, open)
	m = newMaker()
	x := m.Input("x", tensor.Type{DType: tensor.Float16, Shape: tensor.OfDims(tensor.AnyDim(), tensor.D(3))})
	g = m.graph(t, m.Add(&op.Greater{}, m.Add(&op.Mul{}, x, m.halfWeights(tensor.Float16, 3)), x))
	sized := g.WithInputs([]tensor.Tensor{tensor.New(tensor.Float16, 2, 3)})
	require.NoError(t, sized.Infer())
	wide, open, _, err = widen(sized, g)
	require.NoError(t, err)
	require.Len(t, open.Values, len(wide.Values))
	for v := range wide.Values {
		assert.Equal(t, wide.Values[v].Fact.DType, open.Values[v].Fact.DType, "value %d", v)
	}
}

// Values that are copied stay halves although an operator computes with them, too, as with the keys and values of a
// decoder.
func TestWiden_copiesStayHalves(t *testing.T) {
	m := newMaker()
	past, key := m.halfInput(tensor.Float16, 2, 7, 8), m.halfInput(tensor.Float16, 2, 1, 8)
	keys := m.Add(&op.Concat{Axis: 1}, past, key)
	scores := m.Add(&op.MatMul{TransposeB: true}, m.halfInput(tensor.Float16, 2, 3, 8), keys)
	g := m.graph(t, keys, scores, m.Add(&op.Greater{}, keys, keys), m.Add(&op.Neg{}, keys))
	wide, _, half, err := widen(g, nil)
	require.NoError(t, err)
	for _, v := range []graph.Value{past, key, keys} {
		assert.Equal(t, tensor.Float16, wide.Values[v].Fact.DType)
		assert.False(t, half[v])
	}
	assert.True(t, half[scores])
	p, got := compute(t, g, m.in, 1)
	assert.Empty(t, byReference(p))
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	require.Equal(t, want[0].Data, got[0].Data)
	require.Equal(t, want[2].Data, got[2].Data)
	require.Equal(t, want[3].Data, got[3].Data)
	for k := range want[1].Count() {
		a, b := tensor.FloatAt(tensor.Float16, want[1].Data, k), tensor.FloatAt(tensor.Float16, got[1].Data, k)
		assert.InDelta(t, a, b, 2e-3)
	}
}
