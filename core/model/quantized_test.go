package model

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// maker builds graphs of quantized values.
type maker struct{ *graph.Builder }

func (m maker) zero(d tensor.DType, z byte) graph.Value {
	return m.Const("", tensor.T(d), append([]byte{z}, make([]byte, d.Bits()/8-1)...))
}

func (m maker) quantize(x graph.Value, d tensor.DType) graph.Value {
	return m.Add(&op.Quantize{}, x, m.Float32(0.5), m.zero(d, 3))
}

func (m maker) dequantize(q graph.Value, d tensor.DType) graph.Value {
	return m.Add(&op.Dequantize{}, q, m.Float32(0.25), m.zero(d, 4))
}

func (m maker) input(name string) graph.Value { return m.Input(name, tensor.T(tensor.Float32, 2, 3)) }

func TestExposeQuantized_table(t *testing.T) {
	in, out := tensor.PerTensor(0.5, 3), tensor.PerTensor(0.25, 4)
	for _, c := range []struct {
		name    string
		build   func(m maker) []graph.Value
		in, out []*tensor.Quant
		nodes   []string // left
		types   []tensor.DType
	}{
		{"both ends", func(m maker) []graph.Value {
			x := m.dequantize(m.quantize(m.input("x"), tensor.Int8), tensor.Int8)
			return []graph.Value{m.dequantize(m.quantize(m.Add(&op.Relu{}, x), tensor.Uint16), tensor.Uint16)}
		}, []*tensor.Quant{in}, []*tensor.Quant{out}, []string{"dequantize", "relu", "quantize"},
			[]tensor.DType{tensor.Int8, tensor.Uint16}},
		{"copies of what was dequantized", func(m maker) []graph.Value {
			y := m.dequantize(m.quantize(m.Add(&op.Relu{}, m.input("x")), tensor.Int8), tensor.Int8)
			return []graph.Value{m.Add(&op.Identity{}, m.Add(&op.Identity{}, y))}
		}, []*tensor.Quant{nil}, []*tensor.Quant{out}, []string{"relu", "quantize"}, []tensor.DType{tensor.Float32,
			tensor.Int8}},
		{"a copy that something else reads stays", func(m maker) []graph.Value {
			y := m.Add(&op.Identity{}, m.dequantize(m.quantize(m.Add(&op.Relu{}, m.input("x")), tensor.Int8), tensor.Int8))
			return []graph.Value{m.Add(&op.Identity{}, y), m.Add(&op.Exp{}, y)}
		}, []*tensor.Quant{nil}, []*tensor.Quant{out, nil}, []string{"relu", "quantize", "dequantize", "identity", "exp"},
			[]tensor.DType{tensor.Float32, tensor.Int8, tensor.Float32}},
		{"an input with two readers", func(m maker) []graph.Value {
			x := m.input("x")
			return []graph.Value{m.Add(&op.Relu{}, m.dequantize(m.quantize(x, tensor.Int8), tensor.Int8)), m.Add(&op.Exp{}, x)}
		}, []*tensor.Quant{nil}, []*tensor.Quant{nil, nil}, []string{"quantize", "dequantize", "relu", "exp"},
			[]tensor.DType{tensor.Float32, tensor.Float32, tensor.Float32}},
		{"wide integers", func(m maker) []graph.Value {
			x := m.dequantize(m.quantize(m.input("x"), tensor.Int32), tensor.Int32)
			return []graph.Value{m.Add(&op.Relu{}, x)}
		}, []*tensor.Quant{nil}, []*tensor.Quant{nil}, []string{"quantize", "dequantize", "relu"},
			[]tensor.DType{tensor.Float32, tensor.Float32}},
		{"quantized and dequantized alone", func(m maker) []graph.Value {
			return []graph.Value{m.dequantize(m.quantize(m.input("x"), tensor.Int8), tensor.Int8)}
		}, []*tensor.Quant{in}, []*tensor.Quant{nil}, []string{"dequantize"}, []tensor.DType{tensor.Int8, tensor.Float32}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := maker{graph.NewBuilder("test")}
			outs := c.build(m)
			m.Output(outs...)
			g, err := m.Graph()
			require.NoError(t, err)
			require.NoError(t, g.Infer())
			for i, v := range g.Out {
				g.Values[v].Name = []string{"y", "z"}[i]
			}
			gotIn, gotOut := ExposeQuantized(g, nil)
			assert.Equal(t, c.in, gotIn)
			assert.Equal(t, c.out, gotOut)
			require.NoError(t, g.Validate())
			require.NoError(t, g.Infer())
			var names []string
			for i := range g.Nodes {
				names = append(names, graph.NameOf(g.Nodes[i].Op))
			}
			assert.Equal(t, c.nodes, names)
			assert.Equal(t, "x", g.Values[g.In[0]].Name)
			assert.Equal(t, "y", g.Values[g.Out[0]].Name)
			var types []tensor.DType
			for _, v := range append(append([]graph.Value{}, g.In...), g.Out...) {
				types = append(types, g.Fact(v).DType)
			}
			assert.Equal(t, c.types, types)
		})
	}
}

// Codes of 32 bits cross at outputs where that is asked for, and nowhere else.
func TestExposeQuantized_wide(t *testing.T) {
	for _, wide := range []bool{false, true} {
		b := maker{graph.NewBuilder("test")}
		c := b.Add(&op.Cast{To: tensor.Int32}, b.input("x"))
		b.Output(b.Add(&op.Dequantize{}, c, b.Float32(0.25)))
		g, err := b.Graph()
		require.NoError(t, err)
		require.NoError(t, g.Infer())
		_, out := expose(g, nil, wide)
		if !wide {
			assert.Nil(t, out[0])
			continue
		}
		assert.Equal(t, tensor.PerTensor(0.25, 0), out[0])
		assert.Equal(t, tensor.Int32, g.Fact(g.Out[0]).DType)
	}
}
