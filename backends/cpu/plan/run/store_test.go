package run_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// openProducts multiplies its input [?, 64] by a constant, and by one that follows from the open size.
func openProducts(t *testing.T) *graph.Graph {
	m, random := graph.NewBuilder("products"), rand.New(rand.NewPCG(1, 2))
	weights := func() graph.Value {
		w := tensor.New(tensor.Float32, 64, 64)
		for i := range 64 * 64 {
			tensor.PutFloat(tensor.Float32, w.Data, i, random.Float64()-0.5, false)
		}
		return m.Const("", w.Type(), w.Data)
	}
	x := m.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.AnyDim(), tensor.D(64))})
	n := m.Add(&op.Gather{}, m.Add(&op.Shape{To: tensor.Int64}, x), m.Const("", tensor.T(tensor.Int64), tensor.Int64s(0)))
	w := m.Add(&op.Mul{}, weights(), m.Add(&op.Cast{To: tensor.Float32}, n))
	y := m.Add(&op.Relu{}, m.Add(&op.MatMul{}, x, weights()))
	m.Output(m.Add(&op.MatMul{}, y, w))
	g, err := m.Graph()
	require.NoError(t, err)
	return g
}

// planAt returns a plan of open for n rows.
func planAt(ctx context.Context, t *testing.T, open *graph.Graph, store *run.Store, n int64,
	o plan.Options) (*run.Plan, error) {
	g := open.WithInputs([]tensor.Tensor{tensor.New(tensor.Float32, n, 64)})
	require.NoError(t, g.Infer())
	o.Open = open
	return plan.Build(ctx, g, store, o)
}

// A plan of one size more takes no memory that stays when the plan goes, and shares what is the same for all sizes.
func TestStore_keepsWhatIsTheSameForAllSizes(t *testing.T) {
	open := openProducts(t)
	var store run.Store
	defer store.Release()
	for n := range int64(200) {
		p, err := planAt(context.Background(), t, open, &store, n+1, plan.Options{})
		require.NoError(t, err)
		_, slow := p.Fast()
		assert.Zero(t, slow)
		forms, _ := store.Held()
		assert.Equal(t, 1, forms, "the constant's")
	}
	_, bytes := store.Held()
	assert.EqualValues(t, run.LeastSegment, bytes)
}

// A build that ends early gives back what it took.
func TestStore_canceledBuildsTakeNothing(t *testing.T) {
	open := openProducts(t)
	var store run.Store
	defer store.Release()
	for n := range int64(100) {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := planAt(ctx, t, open, &store, n+1, plan.Options{Trace: func(pass, _ string) {
			if pass == "memory" {
				cancel()
			}
		}})
		cancel()
		assert.Equal(t, fault.Canceled, fault.KindOf(err))
	}
	forms, bytes := store.Held()
	assert.EqualValues(t, run.LeastSegment, bytes)
	assert.Zero(t, forms)
	_, err := planAt(context.Background(), t, open, &store, 3, plan.Options{})
	require.NoError(t, err)
	forms, _ = store.Held()
	assert.Equal(t, 1, forms)
}
