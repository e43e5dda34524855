package plan

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/ops"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// manyOrders makes a graph of nodes that take any order between some that do not.
func manyOrders(m *maker, r *rand.Rand) []graph.Value {
	values := []graph.Value{m.input(1, 4, 6, 5), m.input(1, 4, 6, 5)}
	pick := func() graph.Value { return values[r.IntN(len(values))] }
	unread := map[graph.Value]bool{}
	for range 4 + r.IntN(12) {
		var y graph.Value
		a, b := pick(), pick()
		switch r.IntN(6) {
		case 0: // NHWC
			y = m.Add(&op.MaxPool{Kernel: []int64{3, 3}, Pads: []int64{1, 1, 1, 1}}, a)
		case 1: // NCHW
			y = m.Add(&op.Softmax{Axis: -1}, a)
		case 2:
			y = m.Add(&op.Abs{}, a)
		case 3:
			wide := m.Add(&op.Concat{Axis: 1}, a, b, a)
			y = m.AddN(&op.Split{Axis: 1}, 3, wide, m.Int64s(4, 4, 4))[r.IntN(3)]
		default:
			y = m.Add(&op.Add{}, a, b)
			delete(unread, b)
		}
		delete(unread, a)
		unread[y] = true
		values = append(values, y)
	}
	var out []graph.Value
	for _, v := range values[2:] {
		if unread[v] {
			out = append(out, v)
		}
	}
	return out
}

// TestLayout_movesNoMore lays random graphs out: results equal the reference's, and no more bytes are moved than by the
// orders of operands. Some graphs must gain.
func TestLayout_movesNoMore(t *testing.T) {
	gained := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := newMaker()
		g := m.graph(t, manyOrders(m, r)...)
		want, err := ref.Run(context.Background(), g, m.in)
		require.NoError(t, err)
		_, got := compute(t, g, m.in, 2)
		for i := range want {
			near(t, want[i], got[i], 2e-5)
		}
		p := programOf(t, g)
		first, err := ir.LayoutBy(p, nil, ops.LayoutConversions, nil)
		require.NoError(t, err)
		before := first.Moved()
		placed, err := ir.Layout(p, nil, ops.LayoutConversions)
		require.NoError(t, err)
		after := (&ir.Layouter{Placed: placed}).Moved()
		require.LessOrEqual(t, after, before, "seed %d", seed)
		if after < before {
			gained++
		}
	}
	assert.Greater(t, gained, 5)
}

// programOf returns what layout is given for a graph.
func programOf(t *testing.T, g *graph.Graph) *ir.Program {
	c := &compilation{ctx: context.Background(), graph: g, store: &run.Store{}, options: &Options{unfolded: true},
		limit: 1 << 30, build: Build}
	for _, p := range passes() {
		if p.name == "layout" {
			return c.program
		}
		require.NoError(t, p.run(c))
	}
	return nil
}
