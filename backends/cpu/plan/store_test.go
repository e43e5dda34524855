package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// openProducts multiplies its input [?, 64] by a constant, and by one that follows from the open size.
func openProducts(t *testing.T) *graph.Graph {
	m := newMaker()
	x := m.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.AnyDim(), tensor.D(64))})
	n := m.Add(&op.Gather{}, m.Add(&op.Shape{To: tensor.Int64}, x), m.Const("", tensor.T(tensor.Int64), tensor.Int64s(0)))
	w := m.Add(&op.Mul{}, m.weights(64, 64), m.Add(&op.Cast{To: tensor.Float32}, n))
	y := m.Add(&op.Relu{}, m.Add(&op.MatMul{}, x, m.weights(64, 64)))
	return m.graph(t, m.Add(&op.MatMul{}, y, w))
}

// planAt returns a plan of open for n rows.
func planAt(ctx context.Context, t *testing.T, open *graph.Graph, store *run.Store, n int64, o Options) (*run.Plan, error) {
	g := open.WithInputs([]tensor.Tensor{tensor.New(tensor.Float32, n, 64)})
	require.NoError(t, g.Infer())
	o.Open = open
	return Build(ctx, g, store, o)
}

// A plan of one size more takes no memory that stays when the plan goes, and shares what is the same for all sizes.
func TestStore_keepsWhatIsTheSameForAllSizes(t *testing.T) {
	open := openProducts(t)
	var store run.Store
	defer store.Release()
	for n := range int64(200) {
		p, err := planAt(context.Background(), t, open, &store, n+1, Options{})
		require.NoError(t, err)
		_, slow := p.Fast()
		assert.Zero(t, slow)
		assert.Len(t, store.Forms, 1, "the constant's")
	}
	assert.EqualValues(t, run.LeastSegment, store.Size)
}

// A build that ends early gives back what it took.
func TestStore_canceledBuildsTakeNothing(t *testing.T) {
	open := openProducts(t)
	var store run.Store
	defer store.Release()
	for n := range int64(100) {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := planAt(ctx, t, open, &store, n+1, Options{Trace: func(pass, _ string) {
			if pass == "memory" {
				cancel()
			}
		}})
		cancel()
		assert.Equal(t, fault.Canceled, fault.KindOf(err))
	}
	assert.EqualValues(t, run.LeastSegment, store.Size)
	assert.Empty(t, store.Forms)
	_, err := planAt(context.Background(), t, open, &store, 3, Options{})
	require.NoError(t, err)
	assert.Len(t, store.Forms, 1)
}
