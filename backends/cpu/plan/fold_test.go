package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// built returns the plan of the graph that f makes, and the bytes of its constants that are not the graph's.
func built(t *testing.T, f func(m *maker) graph.Value) (p *run.Plan, folded int64) {
	t.Helper()
	m := newMaker()
	m.Output(f(m))
	g, err := m.Graph()
	require.NoError(t, err)
	var store run.Store
	t.Cleanup(store.Release)
	p, err = Build(context.Background(), g, &store, Options{})
	require.NoError(t, err)
	for _, b := range p.Buffers {
		if b.Place == run.IsConst {
			folded += int64(len(b.Data))
		}
	}
	return p, folded
}

func nodesOf(p *run.Plan) (n int) {
	for _, s := range p.Steps {
		if s.Node != run.None {
			n++
		}
	}
	return n
}

func (m *maker) filled(dims ...int64) graph.Value {
	return m.Add(&op.Fill{}, m.Int64s(dims...), m.Float32(0.5))
}

func TestFold_smallModelsOfLargeMeaning(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	p, folded := built(t, func(m *maker) graph.Value {
		square := m.Add(&op.MatMul{}, m.filled(16384, 16384), m.filled(16384, 16384))
		return m.Add(&op.Relu{}, square)
	})
	assert.Equal(t, 3, nodesOf(p), "computed by the run, the last two in one step")
	assert.Less(t, folded, int64(1<<10))

	p, folded = built(t, func(m *maker) graph.Value { // each fits, all of them do not
		x := m.input(1, 2<<20)
		for range 40 {
			x = m.Add(&op.Add{}, x, m.filled(1, 2<<20))
		}
		return x
	})
	assert.Greater(t, nodesOf(p), 60)
	assert.LessOrEqual(t, folded, int64(4*foldElements+1<<20))

	p, _ = built(t, func(m *maker) graph.Value { // few elements, much work
		a, b := m.filled(1024, 1<<12), m.filled(1<<12, 1024)
		for range 10 {
			b = m.Add(&op.MatMul{}, m.Add(&op.Transpose{}, a), m.Add(&op.MatMul{}, a, b))
		}
		return m.Add(&op.Relu{}, b)
	})
	assert.Greater(t, nodesOf(p), 10)
}

func TestFold_storedConstants(t *testing.T) {
	p, _ := built(t, func(m *maker) graph.Value {
		x, w := m.input(4, 700), m.weights(4000, 700)
		return m.Add(&op.MatMul{}, x, m.Add(&op.Transpose{}, m.Add(&op.Mul{}, w, m.filled(1, 700))))
	})
	assert.Equal(t, 1, nodesOf(p), "what follows from stored weights is made once")
}

func TestFold_byFastKernels(t *testing.T) {
	m := newMaker()
	w := []graph.Value{m.weights(200, 300), m.weights(300, 100), m.weights(8, 3, 40, 40), m.weights(16, 3, 3, 3)}
	for _, c := range []struct {
		op graph.Op
		in []graph.Value
	}{
		{&op.MatMul{}, w[:2]},
		{&op.Transpose{}, w[:1]},
		{&op.Mul{}, []graph.Value{w[0], w[0]}},
		{&op.MaxPool{Kernel: []int64{3, 3}}, w[2:3]},
	} {
		y := m.Add(c.op, c.in...)
		require.NotEqual(t, graph.None, y)
		n := &graph.Node{Op: c.op, In: c.in, Out: []graph.Value{y}}
		in := make([]tensor.Tensor, len(c.in))
		for k, v := range c.in {
			f := m.Fact(v)
			dims, _ := f.Shape.Ints()
			in[k] = tensor.Tensor{DType: f.DType, Dims: dims, Data: f.Const.Data}
		}
		declared := []tensor.Type{m.Fact(y).Type}
		got, err := (&folder{ctx: context.Background(), build: Build, limit: mem.Total()}).foldFast(n, in, declared)
		require.NoError(t, err, graph.NameOf(c.op))
		want, err := ref.Compute(c.op, in, declared)
		require.NoError(t, err)
		assert.Equal(t, want[0].Dims, got[0].Dims)
		assert.InDeltaSlice(t, run.Floats(want[0].Data), run.Floats(got[0].Data), 1e-4, graph.NameOf(c.op))
	}
}

func TestFold_observesCancellation(t *testing.T) {
	m := newMaker()
	x := m.filled(1, 1<<12)
	for range 20 {
		x = m.Add(&op.Relu{}, x)
	}
	m.Output(x)
	g, err := m.Graph()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var store run.Store
	defer store.Release()
	_, err = Build(ctx, g, &store, Options{})
	assert.Equal(t, fault.Canceled, fault.KindOf(err))
}

// A constant of no elements need not have bytes at all: its readers are computed all the same.
func TestFold_constantsWithoutElements(t *testing.T) {
	for name, none := range map[string][]byte{"no bytes": nil, "empty": {}} {
		p, _ := built(t, func(m *maker) graph.Value {
			one := m.Const("", tensor.T(tensor.Float32, 1), tensor.Float32s(7))
			shape := m.Const("", tensor.T(tensor.Int64, 0), none)
			return m.Add(&op.Add{}, m.input(3), m.Add(&op.Reshape{}, one, shape))
		})
		assert.Equal(t, 1, nodesOf(p), name)
	}
}
