package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// The number of an output's dimensions may follow from the sizes that the metadata give, or from an open first one of
// 1.
func TestPorts_ranksFollowFromSizes(t *testing.T) {
	open := tensor.OfDims(tensor.AnyDim(), tensor.AnyDim())
	first := tensor.OfDims(tensor.AnyDim(), tensor.D(3))
	three := tensor.OfDims(tensor.D(3))
	for name, c := range map[string]struct {
		info  metadata.Input
		shape tensor.Shape
		want  tensor.Shape // no rank: refused
	}{
		"given":             {metadata.Input{Shape: []int64{1, 3}}, open, three},
		"open first":        {metadata.Input{}, first, three},
		"a list":            {metadata.Input{Shapes: [][]int64{{1, 3}, {1, 5}}}, open, tensor.OfDims(tensor.AnyDim())},
		"a list of one":     {metadata.Input{Shapes: [][]int64{{1, 3}}}, open, three},
		"ranks that differ": {metadata.Input{Shapes: [][]int64{{1, 3}, {2, 5}}}, open, tensor.AnyShape()},
		"no sizes":          {metadata.Input{}, open, tensor.AnyShape()},
	} {
		m := modelOf(t, c.info, func(m maker) []graph.Value {
			return []graph.Value{m.Add(&op.Squeeze{}, m.Input("x", tensor.Type{DType: tensor.Float32, Shape: c.shape}))}
		})
		m.Ops = []string{"Squeeze"}
		m.Graph.Nodes[0].Origin = 0
		_, out, err := m.Ports()
		if !c.want.Ranked {
			assert.ErrorContains(t, err, `"y", made by node 0 (Squeeze), has an open number of dimensions: declare its shape`,
				name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.want, out[0].Shape, name)
	}
}
