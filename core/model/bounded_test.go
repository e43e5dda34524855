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

// nonZero makes the model y = NonZero(x), [2,n], z = x, with largest shapes.
func nonZero(t *testing.T, largest map[string][]int64) *Model {
	m := modelOf(t, metadata.Input{}, func(m maker) []graph.Value {
		x := m.Input("x", tensor.T(tensor.Float32, 2, 3))
		return []graph.Value{m.Add(&op.NonZero{}, x), m.Add(&op.Relu{}, x)}
	})
	m.Meta.Outputs = map[string]metadata.Output{}
	for name, shape := range largest {
		m.Meta.Outputs[name] = metadata.Output{MaxShape: shape}
	}
	return m
}

func TestPorts_bound(t *testing.T) {
	m := nonZero(t, map[string][]int64{"y": {2, 6}})
	_, out, err := m.Ports()
	require.NoError(t, err)
	require.Len(t, out, 2)
	require.Len(t, m.Graph.Out, 3, "the sizes are behind the outputs")
	assert.Equal(t, "[2,6]", out[0].Declared)
	assert.Equal(t, []int64{2, 6}, out[0].Bound)
	assert.Nil(t, out[1].Bound)
	dims, err := m.OutputDims(m.Graph)
	require.NoError(t, err)
	assert.Equal(t, [][]int64{{2, 6}, {2, 3}, {2}}, dims)
	assert.Equal(t, "y", m.Graph.Values[m.Graph.Out[0]].Name)
	assert.Empty(t, m.Meta.Warnings)
}

func TestPorts_boundRefused(t *testing.T) {
	for name, largest := range map[string][]int64{"rank": {12}, "another size": {3, 6}} {
		_, _, err := nonZero(t, map[string][]int64{"y": largest}).Ports()
		assert.ErrorContains(t, err, "anynpu.output.y.max_shape", name)
	}
	m := nonZero(t, map[string][]int64{"z": {2, 3}, "w": {1}})
	_, _, err := m.Ports()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"anynpu.output.z.max_shape: the output has the shape [2,3]",
		"anynpu.output.w.max_shape: no output has that name"}, m.Meta.Warnings)
	_, err = m.OutputDims(m.Graph)
	assert.ErrorContains(t, err, "the largest in anynpu.output.y.max_shape of the model's metadata")
}
