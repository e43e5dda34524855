package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A chain of operators between a value of codes and a QuantizeLinear is a table, whatever is quantized on the way.
func TestBuild_functionsBetweenCodes(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to testParams
	}{
		{"uint8", testParams{1. / 32, 128, tensor.Uint8}, testParams{1. / 64, 20, tensor.Uint8}},
		{"int8", testParams{1. / 32, -5, tensor.Int8}, testParams{1. / 16, 3, tensor.Int8}},
		{"mixed", testParams{1. / 32, 100, tensor.Uint8}, testParams{1. / 64, -100, tensor.Int8}},
	} {
		for name, f := range map[string]func(m *maker, codes, x graph.Value) graph.Value{
			"tanh": func(m *maker, _, x graph.Value) graph.Value { return m.Add(&op.Tanh{}, x) },
			"silu": func(m *maker, _, x graph.Value) graph.Value {
				return m.Add(&op.Mul{}, x, m.qdq(m.Add(&op.Sigmoid{}, x), testParams{1. / 256, 0, tensor.Uint8}))
			},
			"silu by two dequantizations": func(m *maker, codes, x graph.Value) graph.Value {
				s := m.qdq(m.Add(&op.Sigmoid{}, x), testParams{1. / 256, 0, tensor.Uint8})
				return m.Add(&op.Mul{}, s, m.dequantize(codes, c.from))
			},
			"hard swish": func(m *maker, _, x graph.Value) graph.Value {
				y := m.Add(&op.Clip{}, m.Add(&op.Add{}, x, m.Float32(3)), m.Float32(0), m.Float32(6))
				return m.Add(&op.Div{}, m.Add(&op.Mul{}, y, x), m.Float32(6))
			},
			"gelu": func(m *maker, _, x graph.Value) graph.Value {
				y := m.Add(&op.Erf{}, m.Add(&op.Div{}, x, m.Float32(1.4142135)))
				return m.Add(&op.Mul{}, m.Add(&op.Mul{}, x, m.Add(&op.Add{}, y, m.Float32(1))), m.Float32(0.5))
			},
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				m := newMaker()
				codes := m.inputCodesOf(c.from.typ, 1, 4, 5, 60)
				x := m.dequantize(codes, c.from)
				y := m.qdq(f(m, codes, x), c.to)
				p := nearReference(t, m, y, x)
				tables := 0
				for _, st := range p.Steps {
					if taskOf(p, st) == "tableTask" {
						tables++
					}
				}
				require.Equal(t, 1, tables, "%v", kinds(p))
			})
		}
	}
	// A value that something else reads, and one of another value, are no functions of one code.
	m := newMaker()
	c := testParams{1. / 32, 128, tensor.Uint8}
	x, z := m.qdq(m.input(1, 4, 5, 60), c), m.qdq(m.input(1, 4, 5, 60), c)
	s := m.Add(&op.Sigmoid{}, x)
	nearReference(t, m, m.qdq(m.Add(&op.Mul{}, x, s), c), s, m.qdq(m.Add(&op.Mul{}, m.Add(&op.Sigmoid{}, z), x), c))
}
