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
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// centred is codes less their zero point, as MatMulInteger becomes a graph.
func (m *maker) centred(x, zero graph.Value) graph.Value {
	to := func(v graph.Value) graph.Value { return m.Add(&op.Cast{To: tensor.Int32}, v) }
	if zero == graph.None {
		return to(x)
	}
	return m.Add(&op.Sub{}, to(x), to(zero))
}

// codesOf is a constant of all the codes of a type.
func (m *maker) codesOf(d tensor.DType, dims ...int64) graph.Value {
	t := tensor.New(d, dims...)
	for i := range t.Data {
		t.Data[i] = byte(m.rnd.IntN(256))
	}
	return m.Const("", t.Type(), t.Data)
}

// inputCodesOf is an input of all the codes of a type.
func (m *maker) inputCodesOf(d tensor.DType, dims ...int64) graph.Value {
	t := tensor.New(d, dims...)
	for i := range t.Data {
		t.Data[i] = byte(m.rnd.IntN(256))
	}
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// dynamicCases are integer products as quantize_dynamic writes them.
var dynamicCases = map[string]func(m *maker) []graph.Value{
	"dynamic": func(m *maker) []graph.Value {
		q := m.AddN(&op.DynamicQuantize{}, 3, m.input(2, 7, 90))
		var out []graph.Value
		for range 2 {
			y := m.Add(&op.MatMul{}, m.centred(q[0], q[2]), m.centred(m.codesOf(tensor.Int8, 90, 70), graph.None))
			out = append(out, m.Add(&op.Mul{}, m.Add(&op.Cast{To: tensor.Float32}, y), q[1]))
		}
		return append(out, q...)
	},
	"integers": func(m *maker) []graph.Value {
		x := m.inputCodesOf(tensor.Uint8, 30, 33)
		return []graph.Value{m.Add(&op.MatMul{}, m.centred(x, m.inputCodesOf(tensor.Uint8, 1)),
			m.centred(m.codesOf(tensor.Uint8, 33, 17), m.Const("", tensor.T(tensor.Uint8), []byte{128}))),
			m.Add(&op.MatMul{}, m.centred(x, graph.None), m.centred(m.codesOf(tensor.Int8, 33, 130), graph.None))}
	},
	"convolutions": func(m *maker) []graph.Value {
		x, zero := m.inputCodesOf(tensor.Uint8, 2, 5, 9, 8), m.inputCodesOf(tensor.Uint8)
		filter := func(outputs, rows, cols int64) graph.Value {
			return m.centred(m.codesOf(tensor.Uint8, outputs, rows, cols, 5), m.Const("", tensor.T(tensor.Uint8), []byte{128}))
		}
		q := m.AddN(&op.DynamicQuantize{}, 3, m.input(1, 5, 6, 7))
		y := m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, m.centred(q[0], q[2]), filter(20, 3, 3))
		known := m.Const("", tensor.T(tensor.Int8), []byte{0xfd})
		return []graph.Value{
			m.Add(&op.Conv{Pads: []int64{1, 0, 2, 1}, Strides: []int64{2, 1}}, m.centred(x, zero), filter(70, 3, 3)),
			m.Add(&op.Conv{}, m.centred(x, graph.None), filter(3, 1, 1)),
			m.Add(&op.Conv{Pads: []int64{2, 2, 2, 2}, Dilations: []int64{2, 2}},
				m.centred(m.inputCodesOf(tensor.Int8, 1, 5, 7, 6), known), filter(17, 3, 2)),
			m.Add(&op.Mul{}, m.Add(&op.Cast{To: tensor.Float32}, y), q[1])}
	},
	"signed codes": func(m *maker) []graph.Value {
		y := m.Add(&op.MatMul{}, m.centred(m.inputCodesOf(tensor.Int8, 1, 2000), m.inputCodesOf(tensor.Int8)),
			m.centred(m.codesOf(tensor.Int8, 2000, 65), graph.None))
		return []graph.Value{m.Add(&op.Cast{To: tensor.Float32}, y)}
	},
}

// Integer products of codes whose zero point follows from the run are the reference's, to the bit.
func TestBuild_integerProducts(t *testing.T) {
	for name, build := range dynamicCases {
		t.Run(name, func(t *testing.T) {
			for _, isa := range instructionSets() {
				restore, err := kernel.Select(isa)
				require.NoError(t, err)
				m := newMaker()
				g := m.graph(t, build(m)...)
				p, got := compute(t, g, m.in, 2)
				for _, s := range p.Steps {
					assert.True(t, s.Fast, s.Kind)
				}
				want, err := ref.Run(context.Background(), g, m.in)
				require.NoError(t, err)
				for i, w := range want {
					require.Equal(t, w.Type(), got[i].Type())
					require.Equal(t, w.Data, got[i].Data, "%v: output %d", isa, i)
				}
				restore()
			}
		})
	}
}

// Codes of numbers that have no limits are the reference's.
func TestBuild_dynamicCodesOfOddNumbers(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, x := range [][]float32{{0, 0, 0}, {1, nan, 2}, {inf, 1, -1}, {-3, -2, -1}, {3, 2, 1}, {1e-44, 0, 0},
		{3e38, -3e38, 1}} {
		m := newMaker()
		m.in = []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{3}, Data: run.BytesOf(x)}}
		g := m.graph(t, m.AddN(&op.DynamicQuantize{}, 3, m.Input("x", tensor.T(tensor.Float32, 3)))...)
		_, got := compute(t, g, m.in, 1)
		want, err := ref.Run(context.Background(), g, m.in)
		require.NoError(t, err)
		for i := range want {
			require.Equal(t, want[i].Data, got[i].Data, "%v: output %d", x, i)
		}
	}
}
