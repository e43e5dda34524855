package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestChannelPlanes(t *testing.T) {
	info := metadata.Input{Pixel: "nv12", Planes: 2, Shapes: [][]int64{{1, 3, 4, 6}, {2, 3, 8, 2}}}
	m := network(t, info, tensor.Float32, tensor.OfDims(tensor.AnyDim(), tensor.D(3), tensor.AnyDim(), tensor.AnyDim()))
	require.NoError(t, m.decodeImages(ImageOptions{ChannelPlanes: true}))
	require.NoError(t, m.Graph.Validate())
	in, _, err := m.Ports()
	require.NoError(t, err)
	require.Len(t, in, 2)
	for i, want := range []struct {
		name   string
		shapes [][]int64
	}{{"x_y_channel", [][]int64{{1, 1, 4, 6}, {2, 1, 8, 2}}}, {"x_uv_channel", [][]int64{{1, 1, 2, 6}, {2, 1, 4, 2}}}} {
		assert.Equal(t, want.name, in[i].Name)
		assert.Equal(t, want.shapes, in[i].Info.Shapes)
		assert.Equal(t, tensor.Int8, in[i].Type)
		require.NotNil(t, in[i].Quant)
		assert.Equal(t, []any{float32(1), int64(-128)}, []any{in[i].Quant.Scale, in[i].Quant.Zero})
		assert.Nil(t, in[i].Image)
	}
}

func TestChannelPlanes_refused(t *testing.T) {
	for _, c := range []struct {
		info  metadata.Input
		shape tensor.Shape
		says  string
	}{
		{metadata.Input{Pixel: "nv12", Planes: 2}, tensor.Of(1, 3, 5, 8), "5 rows and 8 columns: want even numbers"},
		{metadata.Input{Pixel: "nv21", Planes: 2}, tensor.Of(1, 3, 4, 7), "4 rows and 7 columns: want even numbers"},
		{metadata.Input{Pixel: "nv12", Planes: 2, Ports: []string{"a"}}, tensor.Of(1, 3, 4, 8), "has 1 names: want 2"},
	} {
		m := network(t, c.info, tensor.Float32, c.shape)
		require.ErrorContains(t, m.decodeImages(ImageOptions{ChannelPlanes: true}), c.says)
	}
}

func TestImages_lumaAndChroma(t *testing.T) {
	port := func(name string, dims ...int64) rknn.Port { return rknn.Port{Name: name, Type: "int8", Dims: dims} }
	luma, chroma := port("a_y_channel", 1, 1, 4, 6), port("a_uv_channel", 1, 1, 2, 6)
	whole, names := rknn.Images([]rknn.Port{port("b", 1, 3), luma, chroma})
	assert.Equal(t, []rknn.Port{port("b", 1, 3), {Name: "a", Dims: []int64{1, -1, 4, 6}}}, whole)
	assert.Equal(t, []string{"a"}, names)
	for _, list := range [][]rknn.Port{
		{luma}, {chroma, luma}, {luma, port("b_uv_channel", 1, 1, 2, 6)}, {luma, port("a_uv_channel", 1, 1, 3, 6)},
		{luma, port("a_uv_channel", 1, 2, 2, 6)}, {port("_y_channel", 1, 1, 4, 6), port("_uv_channel", 1, 1, 2, 6)},
		{port("a_y_channel"), port("a_uv_channel")},
	} {
		whole, names := rknn.Images(list)
		assert.Equal(t, list, whole)
		assert.Empty(t, names)
	}
}
