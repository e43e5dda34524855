package plan

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var update = flag.Bool("update", false, "write testdata/passes anew")

// passCases are graphs that show what passes do; testdata/passes has the text after each pass.
var passCases = []struct {
	name  string
	build func(m *maker) []graph.Value
}{
	{"epilogue", func(m *maker) []graph.Value { // batch normalization, a residual and an activation
		x := m.input(1, 16, 6, 6)
		y := m.Add(&op.Relu{}, m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.weights(16, 3, 3, 16), m.weights(16)))
		z := m.norm(m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, y, m.weights(16, 3, 3, 16)), 16, 1)
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.Add{}, z, y))}
	}},
	{"joint_products", func(m *maker) []graph.Value {
		x := m.input(4, 12)
		a, b := m.Add(&op.MatMul{}, x, m.weights(12, 8)), m.Add(&op.MatMul{}, x, m.weights(12, 20), m.weights(20))
		return []graph.Value{m.Add(&op.Tanh{}, a), b}
	}},
	{"padding_is_absorbed", func(m *maker) []graph.Value {
		p := m.Add(&op.Pad{}, m.input(1, 8, 5, 5), m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
		return []graph.Value{m.Add(&op.Conv{}, p, m.weights(4, 3, 3, 8))}
	}},
	{"padding_is_made", func(m *maker) []graph.Value {
		p := m.Add(&op.Pad{}, m.input(1, 8, 5, 5), m.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
		return []graph.Value{m.Add(&op.Conv{}, p, m.weights(4, 3, 3, 8)), m.Add(&op.Abs{}, p)}
	}},
	{"attention", func(m *maker) []graph.Value { // transpositions that products read through
		q, k := m.input(1, 6, 2, 4), m.input(1, 6, 2, 4)
		turn := func(x graph.Value) graph.Value { return m.Add(&op.Transpose{}, x, m.Int64s(0, 2, 1, 3)) }
		s := m.Add(&op.Mul{}, m.Add(&op.MatMul{TransposeB: true}, turn(q), turn(k)), m.Float32(0.5))
		return []graph.Value{m.Add(&op.Softmax{Axis: -1}, s)}
	}},
	{"layouts", func(m *maker) []graph.Value { // one conversion for a chain, one back
		x := m.Add(&op.Abs{}, m.input(1, 6, 8, 8))
		y := m.Add(&op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, x)
		return []graph.Value{m.Add(&op.Softmax{Axis: -1}, m.Add(&op.Sigmoid{}, y))}
	}},
	{"layouts_by_cost", func(m *maker) []graph.Value { // what is converted is the small value, not the large ones
		y := m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, m.input(1, 6, 5, 5))
		z := m.Add(&op.Sigmoid{}, m.Add(&op.Concat{Axis: 1}, y, y, y))
		return []graph.Value{m.Add(&op.Softmax{Axis: -1}, z), z}
	}},
	{"concatenation_is_views", func(m *maker) []graph.Value {
		x := m.input(1, 8, 6, 6)
		a, b := m.Add(&op.Conv{}, x, m.weights(4, 3, 3, 8)), m.Add(&op.Conv{}, x, m.weights(5, 3, 3, 8))
		return []graph.Value{m.Add(&op.MaxPool{Kernel: []int64{2, 2}}, m.Add(&op.Concat{Axis: 1}, a, b))}
	}},
	{"fold", func(m *maker) []graph.Value { // a filter that is computed, and a node that nothing needs
		w := m.Add(&op.Mul{}, m.weights(3, 5), m.Float32(2))
		x := m.input(2, 5)
		m.Add(&op.Exp{}, x)
		return []graph.Value{m.Add(&op.FullyConnected{}, x, w)}
	}},
	{"layer_norm_in_parts", func(m *maker) []graph.Value {
		x := m.input(3, 8)
		last := m.Int64s(-1)
		d := m.Add(&op.Sub{}, x, m.Add(&op.ReduceMean{KeepDims: true}, x, last))
		v := m.Add(&op.ReduceMean{KeepDims: true}, m.Add(&op.Mul{}, d, d), last)
		root := m.Add(&op.Sqrt{}, m.Add(&op.Add{}, v, m.Float32(1e-5)))
		return []graph.Value{m.Add(&op.Mul{}, m.Add(&op.Div{}, d, root), m.weights(8))}
	}},
	{"qdq", func(m *maker) []graph.Value { // an integer convolution between codes; its filter stays codes
		x := m.qdq(m.input(1, 8, 6, 5), wide)
		y := m.qdq(m.Add(&op.Relu{}, m.Add(&op.Conv{}, x, m.imageFilter(12, 8, 1, 1), m.weights(12))), ramp)
		return []graph.Value{m.Add(&op.Sigmoid{}, y)}
	}},
	{"qdq_held_filter", func(m *maker) []graph.Value { // the input is no codes, so the filter is computed
		return []graph.Value{m.Add(&op.MatMul{}, m.input(3, 20), m.filter(1, 20, 7))}
	}},
	{"quantized_types", func(m *maker) []graph.Value {
		in := tensor.T(tensor.Int8, 1, 6, 5, 8)
		in.Quant = tensor.PerTensor(0.05, 3)
		x := m.inputCodes(in)
		w := tensor.T(tensor.Int8, 4, 3, 3, 8)
		w.Quant = tensor.PerTensor(0.02, 0)
		out := tensor.T(tensor.Int8, 1, 4, 3, 4)
		out.Quant = tensor.PerTensor(0.1, -2)
		y := m.AddTyped(&op.Conv{ChannelsLast: true}, "", []tensor.Type{out}, x, m.weightCodes(w))[0]
		return []graph.Value{m.AddTyped(&op.Relu{}, "", []tensor.Type{out}, y)[0]}
	}},
	{"reference", func(m *maker) []graph.Value { // a node without a fast kernel between two that have one
		y := m.Add(&op.Relu{}, m.input(2, 3))
		return []graph.Value{m.Add(&op.Abs{}, m.Add(&op.Hardmax{Axis: 0}, y))}
	}},
}

// The text after every pass, with the portable kernels: which kernels are fast depends on the instruction set.
func TestPasses_text(t *testing.T) {
	restore, err := kernel.Select(kernel.Generic)
	require.NoError(t, err)
	defer restore()
	for _, c := range passCases {
		t.Run(c.name, func(t *testing.T) {
			m := newMaker()
			g := m.graph(t, c.build(m)...)
			var text strings.Builder
			var store run.Store
			defer store.Release()
			_, err := Build(context.Background(), g, &store, Options{Trace: func(pass, made string) {
				text.WriteString("# " + pass + "\n" + made)
			}})
			require.NoError(t, err)
			file := filepath.Join("testdata", "passes", c.name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), text.String())
		})
	}
}
