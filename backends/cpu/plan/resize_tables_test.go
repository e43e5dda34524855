package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A wide picture needs long tables, which may be as large as the largest value of the graph: so that pictures of some
// rows are as fast at any width. For one of a single row they would be larger than the picture.
func TestBuild_tablesGrowWithResults(t *testing.T) {
	const wide = 6 << 20
	for rows, want := range map[int64]bool{24: true, 1: false} {
		m := newMaker()
		x := m.inputOf(tensor.Int8, 1, 1, rows, 8)
		resize := &op.Resize{Mode: op.ResizeNearest, Coord: op.CoordAsymmetric, Nearest: op.NearestFloor, Axes: []int64{3}}
		y := m.Add(resize, x, graph.None, graph.None, m.Int64s(wide))
		var store run.Store
		p, err := Build(context.Background(), m.graph(t, y), &store, Options{})
		if want {
			require.NoError(t, err)
			assert.Equal(t, "tableMoveTask", taskOf(p, p.Steps[0]))
		} else {
			assert.ErrorContains(t, err, "no node has a fast kernel")
		}
		store.Release()
	}
}
