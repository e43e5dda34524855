package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// sums are equations, with the sizes of their operands.
var sums = map[string][][]int64{
	"bhid,bhjd->bhij": {{2, 3, 5, 4}, {2, 3, 6, 4}},
	"bhij,bhjd->bhid": {{2, 3, 5, 4}, {2, 3, 4, 6}},
	"bsd,dhk->bhsk":   {{2, 3, 5}, {5, 4, 2}},
	"bsd,d->bs":       {{2, 3, 5}, {5}},
	"d,bsd->bs":       {{5}, {2, 3, 5}},
	"i,j->ji":         {{4}, {5}},
	"i,i":             {{7}, {7}},
	"ijk,kl":          {{2, 3, 4}, {4, 5}},
	"ijx,jk->ik":      {{2, 3, 4}, {3, 5}},
	"...ij,...jk":     {{2, 3, 4}, {2, 4, 5}},
	"ab,ba->ab":       {{3, 4}, {4, 3}},
	"bchw,bkhw->bckh": {{2, 3, 4, 5}, {2, 6, 4, 5}},
	"ij->ji":          {{3, 4}},
	"ijk->j":          {{3, 4, 5}},
	"ij->ij":          {{3, 4}},
	"nchw,nvw->nchv":  {{2, 3, 4, 5}, {2, 6, 5}},
}

// nearReference computes a graph by the plan that it returns, all of whose steps are kernels, and by reference.
func nearReference(t *testing.T, m *maker, out ...graph.Value) *run.Plan {
	g := m.graph(t, out...)
	p, got := compute(t, g, m.in, 2)
	for _, s := range p.Steps {
		assert.True(t, s.Fast, s.Kind)
	}
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	for i, w := range want {
		require.Equal(t, w.Type(), got[i].Type())
		for k, v := range run.Floats(w.Data) {
			require.InDelta(t, v, run.Floats(got[i].Data)[k], 1e-4, "output %d, element %d", i, k)
		}
	}
	return p
}

// Sums over named dimensions are products of matrices.
func TestBuild_einsumIsAProduct(t *testing.T) {
	for equation, sizes := range sums {
		t.Run(equation, func(t *testing.T) {
			m := newMaker()
			var in []graph.Value
			for _, s := range sizes {
				in = append(in, m.input(s...))
			}
			nearReference(t, m, m.Add(&op.Einsum{Equation: equation}, in...))
		})
	}
}

// What is no product of two matrices stays one operator.
func TestExpand_leavesOtherSums(t *testing.T) {
	for equation, sizes := range map[string][][]int64{"ii->i": {{3, 3}}, "ij,jk,kl->il": {{2, 3}, {3, 4}, {4, 2}},
		"...ij,...jk": {{1, 3, 4}, {2, 4, 5}}} {
		m := newMaker()
		var in []graph.Value
		for _, s := range sizes {
			in = append(in, m.input(s...))
		}
		g := m.graph(t, m.Add(&op.Einsum{Equation: equation}, in...))
		same := expand(g)
		assert.Same(t, g, same, equation)
	}
}

// Plans of other sizes share packed constants by the numbers of nodes: their graphs are not changed.
func TestBuild_openSizesKeepTheirNodes(t *testing.T) {
	m := newMaker()
	x := m.Input("x", tensor.Type{DType: tensor.Float32,
		Shape: tensor.OfDims(tensor.AnyDim(), tensor.AnyDim(), tensor.D(4))})
	y := m.Add(&op.Einsum{Equation: "abd,de->abe"}, x, m.weights(4, 4))
	g := m.graph(t, m.Add(&op.Relu{}, m.Add(&op.Einsum{Equation: "abd,de->aeb"}, y, m.weights(4, 4))))
	var store run.Store
	defer store.Release()
	for _, dims := range [][]int64{{2, 3, 4}, {1, 1, 4}, {3, 1, 4}, {1, 5, 4}, {2, 3, 4}} {
		in := []tensor.Tensor{m.random(dims...)}
		sized := g.WithInputs(in)
		require.NoError(t, sized.Infer())
		p, err := Build(context.Background(), sized, &store, Options{Open: g})
		require.NoError(t, err)
		s, err := p.NewState(nil, 1)
		require.NoError(t, err)
		res, err := s.Run(context.Background(), in, nil, false, func(context.Context) error { return nil })
		require.NoError(t, err)
		want, err := ref.Run(context.Background(), g, in)
		require.NoError(t, err)
		near(t, want[0], res[0], 1e-5)
		s.Release()
	}
}

// Attention is products and a softmax; a mask that may forbid all keys of a row is none of that.
func TestBuild_attentionIsProducts(t *testing.T) {
	t.Run("of rank 4", func(t *testing.T) {
		m := newMaker()
		nearReference(t, m, m.Add(&op.Attention{}, m.input(2, 3, 5, 8), m.input(2, 3, 7, 8), m.input(2, 3, 7, 6)))
	})
	t.Run("of rank 3, with a mask", func(t *testing.T) {
		m := newMaker()
		nearReference(t, m, m.Add(&op.Attention{Heads: 2, KVHeads: 2, Scale: 0.5}, m.input(2, 5, 8), m.input(2, 7, 8),
			m.input(2, 7, 6), m.weights(5, 7)))
	})
	m := newMaker()
	mask := m.Input("mask", tensor.T(tensor.Float32, 5, 7))
	g := m.graph(t, m.Add(&op.Attention{}, m.input(2, 3, 5, 8), m.input(2, 3, 7, 8), m.input(2, 3, 7, 6), mask))
	same := expand(g)
	assert.Same(t, g, same)
}
