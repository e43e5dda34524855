package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// attentionCases are chains of products around a softmax whose scores are too many for a cache.
var attentionCases = []testCase{
	{"heads in between, scaled", 1, func(m *maker) []graph.Value {
		head := func(tokens int64, perm ...int64) graph.Value { // [1, tokens, 3, 8]
			return m.Add(&op.Transpose{}, m.input(1, tokens, 3, 8), m.Int64s(perm...))
		}
		values := head(602, 0, 2, 1, 3)
		scores := m.Add(&op.Mul{}, m.Add(&op.MatMul{}, head(600, 0, 2, 1, 3), head(602, 0, 2, 3, 1)), m.Float32(0.35))
		y := m.Add(&op.MatMul{}, m.Add(&op.Softmax{Axis: -1}, scores), values)
		return []graph.Value{m.Add(&op.Transpose{}, y, m.Int64s(0, 2, 1, 3))}
	}},
	{"a mask for all rows", 1, func(m *maker) []graph.Value {
		mask := m.input(2, 1, 1, 1024)
		for i, v := 0, run.Floats(m.in[0].Data); i < len(v); i++ {
			if v[i] = 0; i%3 == 0 {
				v[i] = float32(math.Inf(-1))
			}
		}
		scores := m.Add(&op.Add{}, m.Add(&op.MatMul{TransposeB: true}, m.input(2, 2, 301, 16), m.input(2, 2, 1024, 16)), mask)
		return []graph.Value{m.Add(&op.MatMul{}, m.Add(&op.Softmax{Axis: 3}, scores), m.input(2, 2, 1024, 5))}
	}},
	{"a mask for each row", 1, func(m *maker) []graph.Value {
		scores := m.Add(&op.Add{}, m.Add(&op.MatMul{}, m.input(1024, 9), m.input(9, 1027)), m.input(1024, 1027))
		return []graph.Value{m.Add(&op.Relu{}, m.Add(&op.MatMul{}, m.Add(&op.Softmax{Axis: -1, Beta: 1}, scores),
			m.input(1027, 33)))}
	}},
	{"values that come later", 3, func(m *maker) []graph.Value {
		scores := m.Add(&op.MatMul{}, m.input(1024, 9), m.input(9, 1027))
		weights := m.Add(&op.Softmax{Axis: -1}, scores)
		return []graph.Value{m.Add(&op.MatMul{}, weights, m.Add(&op.Tanh{}, m.input(1027, 33)))}
	}},
	{"scores that others read", 3, func(m *maker) []graph.Value {
		weights := m.Add(&op.Softmax{Axis: -1}, m.Add(&op.MatMul{}, m.input(1024, 9), m.input(9, 1027)))
		return []graph.Value{m.Add(&op.MatMul{}, weights, m.input(1027, 3)), weights}
	}},
}

// A chain of products around a softmax is one step, which never has all scores.
func TestBuild_attentionOfManyScores(t *testing.T) {
	equalsReference(t, attentionCases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		require.Empty(t, byReference(p))
		chains := 0
		for _, st := range p.Steps {
			if taskOf(p, st) == "attentionTask" {
				chains++
			}
		}
		require.Equal(t, c.steps == 1, chains == 1)
		for i := range want {
			near(t, want[i], got[i], 2e-6)
		}
	})
}
