package plan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

type testCase struct {
	name  string
	steps int // 0: not looked at
	build func(m *maker) []graph.Value
}

// compute runs a plan of g, whose inputs marked in nhwc are in NHWC, and returns copies of the outputs.
func compute(t testing.TB, g *graph.Graph, in []tensor.Tensor, threads int, nhwc ...bool) (*run.Plan, []tensor.Tensor) {
	var store run.Store
	defer store.Release()
	p, err := Build(context.Background(), g, &store, Options{NHWC: nhwc})
	require.NoError(t, err)
	workers := pool.New(threads)
	defer workers.Close()
	run := workers.NewRun(0, nil)
	require.NoError(t, run.Begin(context.Background()))
	defer run.End()
	s, err := p.NewState(run, threads)
	require.NoError(t, err)
	defer s.Release()
	var out []tensor.Tensor
	for range 2 { // the second run finds the memory of the first
		out = out[:0]
		res, err := s.Run(context.Background(), in, nil, false, func(context.Context) error { return nil })
		require.NoError(t, err)
		for _, r := range res {
			r.Data = append([]byte(nil), r.Data...)
			out = append(out, r)
		}
	}
	return p, out
}

// taskOf names the type of the process that computes a step.
func taskOf(p *run.Plan, st *run.Step) string {
	name := fmt.Sprintf("%T", st.Start(&run.State{Plan: p, Threads: 1}, st))
	return name[strings.LastIndex(name, ".")+1:]
}

// near compares with the reference: infinities and NaN at the same places, the rest within tol of the largest
// magnitude.
func near(t *testing.T, want, got tensor.Tensor, tol float64) {
	t.Helper()
	require.True(t, slices.Equal(want.Dims, got.Dims), "%v, want %v", got.Dims, want.Dims)
	w, g := run.Floats(want.Data), run.Floats(got.Data)
	require.Len(t, g, len(w))
	largest := 1.0
	for _, x := range w {
		if x-x == 0 {
			largest = max(largest, math.Abs(float64(x)))
		}
	}
	for i := range w {
		a, b := float64(w[i]), float64(g[i])
		if math.IsNaN(a) && math.IsNaN(b) || a == b || math.Abs(a-b) <= tol*largest {
			continue
		}
		require.Failf(t, "differs from the reference", "element %d of %d: want %v, got %v", i, len(w), a, b)
	}
}

// byReference lists the operators of a plan without a fast kernel.
func byReference(p *run.Plan) (ops []string) {
	for _, s := range p.Steps {
		if s.Node != run.None && !s.Fast {
			ops = append(ops, p.Graph.Nodes[s.Node].Label())
		}
	}
	return ops
}

// equalsReference computes each case with every instruction set, in one and in three threads, and has check compare the
// results with the reference's.
func equalsReference(t *testing.T, cases []testCase,
	check func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor),
) {
	t.Helper()
	counts := []int{1, 3}
	if testing.Short() { // as for the race detector, which needs several threads
		counts = counts[1:]
	}
	for _, c := range cases {
		m := newMaker()
		g := m.graph(t, c.build(m)...)
		want, err := ref.Run(context.Background(), g, m.in)
		require.NoError(t, err, c.name)
		for _, isa := range instructionSets() {
			t.Run(isa.String()+"/"+c.name, func(t *testing.T) {
				restore, err := kernel.Select(isa)
				require.NoError(t, err)
				defer restore()
				for _, threads := range counts {
					p, got := compute(t, g, m.in, threads)
					check(t, c, p, want, got)
				}
			})
		}
	}
}

// stateOf builds g and a state of its plan for one thread, and returns what releases both.
func stateOf(t testing.TB, g *graph.Graph) (s *run.State, release func()) {
	t.Helper()
	store := new(run.Store)
	p, err := Build(context.Background(), g, store, Options{})
	require.NoError(t, err)
	s, err = p.NewState(nil, 1)
	require.NoError(t, err)
	return s, func() {
		s.Release()
		store.Release()
	}
}

// runOnce runs a state without an end of its own.
func runOnce(s *run.State, in []tensor.Tensor, profile bool) ([]tensor.Tensor, error) {
	return s.Run(context.Background(), in, nil, profile, func(context.Context) error { return nil })
}

// allocatesNothing runs g, in one thread, and counts what Go allocates.
func (m *maker) allocatesNothing(t *testing.T, name string, g *graph.Graph) {
	t.Helper()
	s, release := stateOf(t, g)
	defer release()
	ctx, between := context.Background(), func(context.Context) error { return nil }
	assert.Zero(t, testing.AllocsPerRun(5, func() {
		if _, err := s.Run(ctx, m.in, nil, false, between); err != nil {
			t.Fatal(err)
		}
	}), name)
}
