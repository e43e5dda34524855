package plan

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// bool1 is an input of one bool.
func (m *maker) bool1(b bool) graph.Value {
	t := tensor.New(tensor.Bool)
	tensor.PutInt(tensor.Bool, t.Data, 0, map[bool]int64{true: 1}[b])
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// number is an input of one int64.
func (m *maker) number(v int64) graph.Value {
	t := tensor.New(tensor.Int64)
	tensor.PutInt(tensor.Int64, t.Data, 0, v)
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// bodyCases are graphs with graphs in their nodes, all of which kernels compute.
var bodyCases = map[string]func(m *maker) []graph.Value{
	"if":                               func(m *maker) []graph.Value { return m.branches(true) },
	"if not":                           func(m *maker) []graph.Value { return m.branches(false) },
	"if with a branch for other sizes": func(m *maker) []graph.Value { return m.rates(true) },
	"loop": func(m *maker) []graph.Value {
		return m.AddN(m.trips(), 3, m.number(5), m.bool1(true), m.input(2, 6), m.input(2, 6), m.weights(6, 6))
	},
	"loop of no trip": func(m *maker) []graph.Value {
		return m.AddN(m.trips(), 3, m.number(0), m.bool1(true), m.input(2, 6), m.input(2, 6), m.weights(6, 6))[:2]
	},
	"loop that ends by its condition": func(m *maker) []graph.Value {
		return m.AddN(m.trips(), 3, graph.None, m.bool1(true), m.input(2, 6), m.input(2, 6), m.weights(6, 6))
	},
	"scan": func(m *maker) []graph.Value {
		return m.AddN(m.slices(&op.Scan{}), 3, m.input(2, 6), m.input(7, 2, 6), m.weights(6, 6))
	},
	"scan along other axes, backwards": func(m *maker) []graph.Value {
		o := &op.Scan{InAxes: []int64{1}, OutAxes: []int64{-1, 1}, InReverse: []bool{true}, OutReverse: []bool{false, true}}
		return m.AddN(m.slices(o), 3, m.input(2, 6), m.input(2, 7, 6), m.weights(6, 6))
	},
}

// branches is an If whose bodies read a value and a constant from outside.
func (m *maker) branches(cond bool) []graph.Value {
	var ways []*graph.Graph
	for _, act := range []graph.Op{&op.Relu{}, &op.Sigmoid{}} {
		b := newMaker()
		x, w := b.Input("x", tensor.T(tensor.Float32, 1, 8, 6, 6)), b.Input("w", tensor.T(tensor.Float32, 5, 3, 3, 8))
		b.Output(b.Add(act, b.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, w, b.weights(5))))
		g, err := b.Graph()
		if err != nil {
			panic(err)
		}
		ways = append(ways, g)
	}
	c := m.bool1(cond)
	y := m.Add(&op.If{Then: ways[0], Else: ways[1]}, c, m.Add(&op.Abs{}, m.input(1, 8, 6, 6)), m.weights(5, 3, 3, 8))
	return []graph.Value{m.Add(&op.Tanh{}, y)}
}

// rates is an If whose second body stands against the sizes of what it reads.
func (m *maker) rates(cond bool) []graph.Value {
	var ways []*graph.Graph
	for _, size := range []int64{4, 3} {
		b := newMaker()
		x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.D(2), tensor.AnyDim())})
		b.Output(b.Add(&op.Tanh{}, b.Add(&op.MatMul{}, x, b.weights(size, 5))))
		g, err := b.Graph()
		if err != nil {
			panic(err)
		}
		ways = append(ways, g)
	}
	return m.AddN(&op.If{Then: ways[0], Else: ways[1]}, 1, m.bool1(cond), m.input(2, 4))
}

// A branch that does not fit fails the run that takes it.
func TestRun_branchForOtherSizes(t *testing.T) {
	m := newMaker()
	g := m.graph(t, m.rates(false)...)
	var store run.Store
	defer store.Release()
	p, err := Build(context.Background(), g, &store, Options{})
	require.NoError(t, err)
	workers := pool.New(1)
	defer workers.Close()
	turn := workers.NewRun(0, nil)
	require.NoError(t, turn.Begin(context.Background()))
	defer turn.End()
	s, err := p.NewState(turn, 1)
	require.NoError(t, err)
	defer s.Release()
	_, err = s.Run(context.Background(), m.in, nil, false, func(context.Context) error { return nil })
	require.ErrorContains(t, err, "inner dimensions: 4 and 3 differ")
	assert.Equal(t, fault.Shape, fault.KindOf(err))
}

// trips is a Loop that exchanges two values, one of them changed, gives what it changed, and ends after eight trips.
func (m *maker) trips() *op.Loop {
	b := newMaker()
	i, _ := b.Input("i", tensor.T(tensor.Int64)), b.Input("go", tensor.T(tensor.Bool))
	p, q := b.Input("p", tensor.T(tensor.Float32, 2, 6)), b.Input("q", tensor.T(tensor.Float32, 2, 6))
	w := b.Input("w", tensor.T(tensor.Float32, 6, 6))
	y := b.Add(&op.Tanh{}, b.Add(&op.MatMul{}, p, w))
	seven := tensor.New(tensor.Int64)
	tensor.PutInt(tensor.Int64, seven.Data, 0, 7)
	b.Output(b.Add(&op.Less{}, i, b.Const("", seven.Type(), seven.Data)), q, y, b.Add(&op.Add{}, y, p))
	g, err := b.Graph()
	if err != nil {
		panic(err)
	}
	return &op.Loop{Body: g, Carried: 2}
}

// slices is a Scan that adds slices to its state and gives two values for each.
func (m *maker) slices(o *op.Scan) *op.Scan {
	b := newMaker()
	h, x := b.Input("h", tensor.T(tensor.Float32, 2, 6)), b.Input("x", tensor.T(tensor.Float32, 2, 6))
	next := b.Add(&op.Tanh{}, b.Add(&op.MatMul{}, b.Add(&op.Add{}, h, x), b.Input("w", tensor.T(tensor.Float32, 6, 6))))
	b.Output(next, b.Add(&op.Abs{}, next), next)
	g, err := b.Graph()
	if err != nil {
		panic(err)
	}
	o.Body, o.States, o.Sequences = g, 1, 1
	return o
}

// Graphs within nodes are plans: their results are the reference's, and the node counts as fast when all of theirs are.
func TestBuild_bodiesArePlans(t *testing.T) {
	for name, build := range bodyCases {
		t.Run(name, func(t *testing.T) {
			m := newMaker()
			g := m.graph(t, build(m)...)
			p, got := compute(t, g, m.in, 2)
			bodies := 0
			for _, s := range p.Steps {
				bodies += len(s.Bodies)
			}
			assert.Positive(t, bodies, "%v", p)
			want, err := ref.Run(context.Background(), g, m.in)
			require.NoError(t, err)
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, want[i].Dims, got[i].Dims)
				for k := range want[i].Count() {
					require.InDelta(t, run.Floats(want[i].Data)[k], run.Floats(got[i].Data)[k], 1e-5, "output %d, element %d", i, k)
				}
			}
		})
	}
}

// Runs of bodies allocate nothing, however many trips there are.
func TestRun_bodiesAllocateNothing(t *testing.T) {
	for _, name := range []string{"if", "scan"} {
		m := newMaker()
		g := m.graph(t, bodyCases[name](m)...)
		var store run.Store
		defer store.Release()
		p, err := Build(context.Background(), g, &store, Options{})
		require.NoError(t, err)
		workers := pool.New(1)
		defer workers.Close()
		turn := workers.NewRun(0, nil)
		require.NoError(t, turn.Begin(context.Background()))
		defer turn.End()
		s, err := p.NewState(turn, 1)
		require.NoError(t, err)
		defer s.Release()
		ctx := context.Background()
		per := testing.AllocsPerRun(20, func() {
			_, err := s.Run(ctx, m.in, nil, false, func(context.Context) error { return nil })
			require.NoError(t, err)
		})
		assert.Zero(t, per, name)
	}
}

// What follows from the sizes of the model's inputs is another constant for other sizes, inside bodies as well.
func TestBuild_bodiesOfOtherSizes(t *testing.T) {
	b := newMaker()
	x, n := b.Input("x", tensor.T(tensor.Float32)), b.Input("n", tensor.T(tensor.Int64, 1))
	_ = x
	one := tensor.New(tensor.Float32)
	run.Floats(one.Data)[0] = 1
	ramp := b.Add(&op.Expand{}, b.Const("", one.Type(), one.Data), n)
	b.Output(b.Add(&op.CumSum{}, ramp, b.Int64s(0)))
	body, err := b.Graph()
	require.NoError(t, err)
	m := newMaker()
	open := m.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.AnyDim())})
	cond := m.Input("c", tensor.T(tensor.Bool))
	zero := tensor.New(tensor.Float32)
	size := m.Add(&op.Shape{}, open)
	g := m.graph(t, m.Add(&op.If{Then: body, Else: body}, cond, m.Const("", zero.Type(), zero.Data), size))
	var store run.Store
	defer store.Release()
	for _, n := range []int64{4, 3, 2, 6, 4} {
		in := []tensor.Tensor{tensor.New(tensor.Float32, n), {DType: tensor.Bool, Data: []byte{1}}}
		sized := g.WithInputs(in)
		require.NoError(t, sized.Infer())
		p, err := Build(context.Background(), sized, &store, Options{Open: g, body: true})
		require.NoError(t, err)
		s, err := p.NewState(nil, 1)
		require.NoError(t, err)
		res, err := s.Run(context.Background(), in, nil, false, func(context.Context) error { return nil })
		require.NoError(t, err)
		var want []float32
		for i := range n {
			want = append(want, float32(i+1))
		}
		assert.Equal(t, want, slices.Clone(run.Floats(res[0].Data)))
		s.Release()
	}
}
